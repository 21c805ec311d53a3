package devstack_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"revarch/devstack"
)

func dial(t *testing.T, srv devstack.TemporalServer) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: srv.Address, Namespace: srv.Namespace})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestTemporal(t *testing.T) {
	t.Parallel()
	data := newData(t)
	// What a server that was killed while it made its tables leaves.
	require.NoError(t, os.MkdirAll(filepath.Join(data, "temporal"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(data, "temporal", "temporal.db"), nil, 0o600))
	sup, rec := open(t, data)
	bin := devstack.Temporal{Path: filepath.Join("..", "bin", "temporal")}
	srv, err := bin.Start(t.Context(), sup)
	require.NoError(t, err, "make build makes bin/temporal")
	require.NoError(t, devstack.ReadyHTTP(srv.UIURL)(t.Context()))

	t.Run("the namespace has its retention and its search attributes", func(t *testing.T) {
		c, err := client.NewNamespaceClient(client.Options{HostPort: srv.Address})
		require.NoError(t, err)
		defer c.Close()
		ns, err := c.Describe(t.Context(), "revarch")
		require.NoError(t, err)
		require.Equal(t, devstack.Retention, ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration())
		attrs, err := dial(t, srv).OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "revarch"})
		require.NoError(t, err)
		for _, name := range []string{"OrgId", "Provider", "Dataset"} {
			require.Equal(t, enums.INDEXED_VALUE_TYPE_KEYWORD, attrs.GetCustomAttributes()[name], name)
		}
	})

	t.Run("kill -9 and a new start lose no workflow", func(t *testing.T) {
		run, err := dial(t, srv).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "kept", TaskQueue: "nobody"}, "Anything")
		require.NoError(t, err)
		killAndWait(t, sup, rec, "temporal")
		kept, err := dial(t, srv).DescribeWorkflowExecution(t.Context(), "kept", "")
		require.NoError(t, err)
		require.Equal(t, run.GetRunID(), kept.GetWorkflowExecutionInfo().GetExecution().GetRunId())
		require.NoError(t, sup.Stop(t.Context()))

		sup, _ := open(t, data)
		again, err := bin.Start(t.Context(), sup)
		require.NoError(t, err)
		require.Equal(t, srv, again)
		kept, err = dial(t, again).DescribeWorkflowExecution(t.Context(), "kept", "")
		require.NoError(t, err)
		require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, kept.GetWorkflowExecutionInfo().GetStatus())
		require.NoError(t, sup.Stop(t.Context()))
	})
}
