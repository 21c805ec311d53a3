// Package jobs is the port to durable execution: services start, cancel and look at workflows through Starter and know
// nothing of Temporal. workflows/starter.go implements it.
package jobs

import (
	"context"

	"revarch/models"
)

// State is how a workflow stands, as the engine tells it.
type State string

// The states of a workflow.
const (
	Running    State = "running"
	Completed  State = "completed"
	Failed     State = "failed" // failed, timed out or terminated
	Canceled   State = "canceled"
	NotStarted State = "not_started" // no workflow with this id carries this run
)

// Starter starts and watches the workflows that carry out runs.
type Starter interface {
	// Start starts the workflow of the run's kind under run.WorkflowID; starting one that runs already is no error.
	Start(ctx context.Context, run models.Run) error
	// Cancel asks the run's workflow to stop; asking one that has ended is no error.
	Cancel(ctx context.Context, run models.Run) error
	// State tells how the run's workflow stands and, when it failed, the fault code and public message.
	State(ctx context.Context, run models.Run) (state State, code, message string, err error)
}
