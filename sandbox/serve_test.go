package sandbox_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/sandbox"
)

func TestServeAnswersUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	server, err := sandbox.New(sandbox.Config{Accounts: 5, StateDir: t.TempDir()})
	require.NoError(t, err)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l) }()
	res, err := http.Get("http://" + l.Addr().String() + "/healthz")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	stop()
	require.NoError(t, <-ended)
	require.Error(t, server.Run(t.Context(), "no such address"))
}
