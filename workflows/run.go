package workflows

import (
	"errors"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/fault"
	"revarch/models"
)

// ProgressQuery asks any workflow how far it is.
const ProgressQuery = "progress"

// Task queues by kind of work. A deployment, or a test, may put a prefix before them that ends in a dash.
const (
	QueueSync    = "sync"    // network-bound, many slots
	QueueCompute = "compute" // CPU-bound, as many slots as cores
	QueueIngest  = "ingest"
)

// queueBeside returns the queue of another kind with the prefix of the workflow's own.
func queueBeside(ctx workflow.Context, kind string) string {
	own := workflow.GetInfo(ctx).TaskQueueName
	return own[:strings.LastIndex(own, "-")+1] + kind
}

// heartbeat is how long an activity may be silent before it counts as lost and is given to another worker. Activities
// beat every second.
const heartbeat = 15 * time.Second

var retries = temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute, MaximumAttempts: 20}

// batchOptions are for batches that end within half a minute and heartbeat all the time. A cancelled one is waited
// for: its run is closed only once nothing more is written.
func batchOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout:    heartbeat, RetryPolicy: &retries, WaitForCancellation: true, Summary: summary,
	})
}

// stepOptions are for single steps that may take a while.
func stepOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 15 * time.Minute,
		HeartbeatTimeout:    heartbeat, RetryPolicy: &retries, WaitForCancellation: true, Summary: summary,
	})
}

// computeOptions are for computations over a whole organization.
func computeOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           queueBeside(ctx, QueueCompute),
		StartToCloseTimeout: 2 * time.Hour, HeartbeatTimeout: heartbeat, WaitForCancellation: true, Summary: summary,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 5},
	})
}

// finish closes the run of a workflow that ends with err, also when it was cancelled, and returns err as it is.
func finish(ctx workflow.Context, in activities.FinishInput, err error) error {
	in.Status, in.Code, in.Message = Outcome(err)
	if in.Status == models.RunFailed {
		in.Message += kept(in)
	}
	closing, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	closing = workflow.WithActivityOptions(closing, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, Summary: "Close the run as " + string(in.Status),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
	})
	if closeErr := workflow.ExecuteActivity(closing, (*activities.Runs)(nil).FinishRun, in).Get(closing, nil); err == nil {
		return closeErr
	}
	return err
}

// kept says what of a failed run stays and what to do.
func kept(in activities.FinishInput) string {
	switch {
	case in.Code == string(fault.BadFile): // the text says what to do
		return ""
	case in.Synced:
		return " The records were synced and stored; start scoring again."
	case in.Provider != "" && in.Code == string(fault.ReauthRequired):
		return " What was stored is kept; after connecting again the next sync goes on from there."
	case in.Provider != "":
		return " What was stored is kept; the next sync goes on from there."
	}
	return " What was stored is kept; start it again to go on."
}

// Outcome says how a run ends whose workflow ended with err: status and, for failures, code and public text.
func Outcome(err error) (status models.RunStatus, code, message string) {
	if err == nil {
		return models.RunSucceeded, "", ""
	}
	if temporal.IsCanceledError(err) {
		return models.RunCancelled, "", ""
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && knownCode(app.Type()) {
		return models.RunFailed, app.Type(), sentence(app.Message())
	}
	if _, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return models.RunFailed, string(fault.Unavailable), "A step of the job did not end in time."
	}
	if _, ok := errors.AsType[*temporal.TerminatedError](err); ok {
		return models.RunFailed, string(fault.Canceled), "An operator ended the job."
	}
	return models.RunFailed, string(fault.Internal), "The job failed for an internal reason; the log of the worker has the cause."
}

var codes = []fault.Code{
	fault.Invalid, fault.Unauthenticated, fault.Denied, fault.NotFound, fault.Conflict, fault.Stale, fault.TooLarge,
	fault.Throttled, fault.ReauthRequired, fault.ClientMisconfig, fault.NotConfigured, fault.ScopeMissing, fault.QuotaDay, fault.CursorDead,
	fault.SchemaDrift, fault.Unavailable, fault.BadFile, fault.PreconditionNeeded,
}

func knownCode(t string) bool {
	for _, c := range codes {
		if string(c) == t {
			return true
		}
	}
	return false
}

// sentence makes a public text end like one.
func sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}
