package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"revarch/fault"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/store"
)

// settle is how old a run must be before the reconciler looks at it: starting a workflow takes a moment.
const settle = 15 * time.Second

// Reconciled counts what a reconciliation did.
type Reconciled struct {
	Looked  int `json:"looked"`
	Started int `json:"started"`
	Closed  int `json:"closed"`
}

// Reconcile compares live runs with their workflows, in every organization: it starts queued runs whose workflow never
// started and truthfully closes runs whose workflow has ended. Faults: Unavailable when the engine does not answer.
func (s *Service) Reconcile(ctx context.Context) (Reconciled, error) {
	var sum Reconciled
	var failed []error // one run in the way must not keep the others
	orgs, err := s.store.Orgs(ctx)
	if err != nil {
		return sum, err
	}
	for _, org := range orgs {
		var live []models.Run
		err := s.store.InOrg(ctx, org.OrgID, func(tx *store.Tx) error {
			live, err = tx.LiveRuns(s.clock().UTC().Add(-settle))
			return err
		})
		if err != nil {
			return sum, err
		}
		for _, run := range live {
			sum.Looked++
			if err := s.reconcile(ctx, run, &sum); err != nil {
				failed = append(failed, fmt.Errorf("reconcile run %s: %w", run.ID, err))
			}
		}
	}
	return sum, errors.Join(failed...)
}

func (s *Service) reconcile(ctx context.Context, run models.Run, sum *Reconciled) error {
	state, code, message, err := s.starter.State(ctx, run)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the workflow engine does not answer")
	}
	var end End
	switch state {
	case jobs.Running:
		if run.CancelRequestedAt != nil { // the request may have come before the workflow, or while the engine was down
			return s.starter.Cancel(ctx, run)
		}
		return nil
	case jobs.NotStarted:
		if run.Status == models.RunQueued && run.CancelRequestedAt == nil {
			err := s.starter.Start(ctx, run)
			if !fault.Is(err, fault.Invalid) {
				sum.Started++
				return err
			}
			end = End{Status: models.RunFailed, Code: string(fault.Invalid), Message: fault.Public(err)}
			break
		}
		end = End{
			Status: models.RunFailed, Code: string(fault.Unavailable),
			Message: "The job was interrupted and its workflow is gone. What was stored before stays; start it again to go on.",
		}
		if run.CancelRequestedAt != nil {
			end = End{Status: models.RunCancelled}
		}
	case jobs.Completed:
		end = End{Status: models.RunSucceeded}
	case jobs.Canceled:
		end = End{Status: models.RunCancelled}
	default:
		end = End{Status: models.RunFailed, Code: code, Message: message}
	}
	// The workflow may have closed its run between the two looks; closing again then changes nothing.
	if err := s.Finish(ctx, run.OrgID, run.ID, end); err != nil {
		return err
	}
	sum.Closed++
	slog.InfoContext(ctx, "run closed for a workflow that had ended", "org_id", run.OrgID, "run_id", run.ID, "state", state)
	return nil
}
