package workflows_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"revarch/activities"
	"revarch/fault"
	"revarch/models"
	"revarch/services/datasets"
	"revarch/workflows"
)

// ingestWorld is a world with an ingestion in it and what its end was told.
type ingestWorld struct {
	*world
	closed []activities.CloseInput
}

func newIngestWorld(t *testing.T, reg activities.RegisterResult) *ingestWorld {
	t.Helper()
	w := &ingestWorld{world: newWorld(t)}
	w.OnActivity("RegisterRelease", mock.Anything, mock.Anything).Return(reg, nil)
	w.OnActivity("CloseIngest", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.CloseInput) error {
		w.closed = append(w.closed, in)
		return nil
	})
	return w
}

// ingest runs the workflow; upload, closing and the run's end are asked for exactly once, whatever happened.
func (w *ingestWorld) ingest(t *testing.T) (workflows.IngestProgress, error) {
	t.Helper()
	w.ExecuteWorkflow(workflows.IngestDatasetName, workflows.IngestInput{IngestRef: activities.IngestRef{
		RunRef: activities.RunRef{OrgID: org, RunID: run}, File: datasets.RunInput{UploadID: run, Dataset: "ipeds_hd", Vintage: "HD2023"},
	}})
	require.True(t, w.IsWorkflowCompleted())
	value, err := w.QueryWorkflow(workflows.ProgressQuery)
	require.NoError(t, err)
	var s workflows.IngestProgress
	require.NoError(t, value.Get(&s))
	require.Len(t, w.closed, 1)
	require.Len(t, w.finished, 1)
	return s, w.GetWorkflowError()
}

func TestIngestDataset(t *testing.T) {
	t.Parallel()
	release := uuid.MustParse("0197b000-0000-7000-8000-000000000001")

	t.Run("a release that became current is followed by matching every organization", func(t *testing.T) {
		t.Parallel()
		w := newIngestWorld(t, activities.RegisterResult{ReleaseID: release})
		w.OnActivity("LoadRelease", mock.Anything, mock.Anything).Return(activities.LoadResult{Rows: 7, Bad: 1}, nil).Once()
		w.OnActivity("PublishRelease", mock.Anything, mock.Anything).Return(activities.PublishResult{Current: true}, nil).Once()
		w.OnActivity("MatchEveryOrg", mock.Anything, activities.MatchEveryInput{RunRef: activities.RunRef{OrgID: org, RunID: run}}).
			Return(activities.MatchEveryResult{Next: release, Orgs: 3}, nil).Once()
		w.OnActivity("MatchEveryOrg", mock.Anything, activities.MatchEveryInput{RunRef: activities.RunRef{OrgID: org, RunID: run}, After: release}).
			Return(activities.MatchEveryResult{Orgs: 2, Done: true}, nil).Once()
		s, err := w.ingest(t)
		require.NoError(t, err)
		require.Equal(t, workflows.IngestProgress{Phase: "done", ReleaseID: release, Rows: 7, Bad: 1, Current: true, Orgs: 5}, s)
		require.Equal(t, models.RunSucceeded, w.finished[0].Status)
		require.Empty(t, w.closed[0].Failure)
	})

	t.Run("a release that did not become current changes no match", func(t *testing.T) {
		t.Parallel()
		w := newIngestWorld(t, activities.RegisterResult{ReleaseID: release})
		w.OnActivity("LoadRelease", mock.Anything, mock.Anything).Return(activities.LoadResult{Rows: 7}, nil).Once()
		w.OnActivity("PublishRelease", mock.Anything, mock.Anything).Return(activities.PublishResult{}, nil).Once()
		s, err := w.ingest(t)
		require.NoError(t, err)
		require.False(t, s.Current)
	})

	t.Run("bytes that were loaded before are not loaded again", func(t *testing.T) {
		t.Parallel()
		w := newIngestWorld(t, activities.RegisterResult{ReleaseID: release, AlreadyLoaded: true})
		s, err := w.ingest(t)
		require.NoError(t, err)
		require.True(t, s.AlreadyLoaded)
		require.Equal(t, models.RunSucceeded, w.finished[0].Status)
	})

	t.Run("a bad file is not tried again, and its sentence is the run's", func(t *testing.T) {
		t.Parallel()
		w := newIngestWorld(t, activities.RegisterResult{ReleaseID: release})
		w.OnActivity("LoadRelease", mock.Anything, mock.Anything).Return(activities.LoadResult{},
			temporal.NewNonRetryableApplicationError("It is cut off. Download it again.", string(fault.BadFile), nil)).Once()
		_, err := w.ingest(t)
		require.Error(t, err)
		require.Equal(t, "It is cut off. Download it again.", w.closed[0].Failure)
		require.Equal(t, models.RunFailed, w.finished[0].Status)
		require.Equal(t, string(fault.BadFile), w.finished[0].Code)
		require.Equal(t, "It is cut off. Download it again.", w.finished[0].Message)
	})

	t.Run("a cancelled one is cleaned up and ends as cancelled", func(t *testing.T) {
		t.Parallel()
		w := newIngestWorld(t, activities.RegisterResult{ReleaseID: release})
		w.OnActivity("LoadRelease", mock.Anything, mock.Anything).Return(func(context.Context, activities.ReleaseInput) (activities.LoadResult, error) {
			w.CancelWorkflow()
			return activities.LoadResult{}, temporal.NewCanceledError()
		})
		_, err := w.ingest(t)
		require.Error(t, err)
		require.Equal(t, "The job was stopped.", w.closed[0].Failure)
		require.Equal(t, models.RunCancelled, w.finished[0].Status)
	})
}
