package devstack_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/devstack"
)

func TestPorts(t *testing.T) {
	t.Parallel()

	t.Run("free ports are different and can be listened on", func(t *testing.T) {
		t.Parallel()
		ports, err := devstack.FreePorts(20)
		require.NoError(t, err)
		seen := map[int]bool{}
		for _, p := range ports {
			require.False(t, seen[p])
			seen[p] = true
			hold(t, p)
		}
		require.Len(t, seen, 20)
	})

	t.Run("a later start gets the same ports unless one is taken", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		sup, _ := open(t, data)
		before, err := sup.Ports("api", "sandbox")
		require.NoError(t, err)
		require.NoError(t, sup.Stop(t.Context()))

		sup, _ = open(t, data)
		hold(t, before["api"])
		after, err := sup.Ports("api", "sandbox")
		require.NoError(t, err)
		require.Equal(t, before["sandbox"], after["sandbox"])
		require.NotEqual(t, before["api"], after["api"])
		again, err := sup.Port("api")
		require.NoError(t, err)
		require.Equal(t, after["api"], again)
	})
}

func hold(t *testing.T, port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
}
