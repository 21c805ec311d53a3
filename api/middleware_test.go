package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
)

func TestAnAnswerMayTakeLongerThanItsBody(t *testing.T) {
	t.Parallel()
	const reading = 20 * time.Millisecond
	engine := gin.New()
	engine.Use(patient)
	h := humagin.New(engine, huma.DefaultConfig("test", "1"))
	type input struct {
		Body *struct {
			Mode string `json:"mode,omitempty"`
		} `required:"false"`
	}
	huma.Register(h, huma.Operation{OperationID: "slow", Method: http.MethodPost, Path: "/slow", BodyReadTimeout: reading},
		func(ctx context.Context, _ *input) (*struct{}, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * reading):
				return nil, nil
			}
		})
	server := httptest.NewServer(engine)
	t.Cleanup(server.Close)
	for name, body := range map[string]string{"no body": "", "a body": `{"mode":"full"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/slow", strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			res, err := server.Client().Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusNoContent, res.StatusCode)
		})
	}
}
