package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"revarch/activities"
	"revarch/fault"
	"revarch/models"
	"revarch/services/jobs"
)

// Search attributes that operators find workflows by.
var (
	OrgIDAttribute    = temporal.NewSearchAttributeKeyKeyword("OrgId")
	ProviderAttribute = temporal.NewSearchAttributeKeyKeyword("Provider")
	DatasetAttribute  = temporal.NewSearchAttributeKeyKeyword("Dataset")
)

// memoRun is the memo that says which run a workflow carries out.
const memoRun = "run_id"

// Launch is how the workflow of a run is started.
type Launch struct {
	Workflow   string // wire name
	Queue      string
	Input      any
	Summary    string // one line for operators: kinds and codes only
	Attributes []temporal.SearchAttributeUpdate
}

// LaunchFunc turns a run into the launch of its workflow. Faults: Invalid.
type LaunchFunc func(run models.Run) (Launch, error)

// Launches are the kinds of runs and how their workflows are started; a kind that is not listed cannot run.
func Launches() map[string]LaunchFunc {
	return map[string]LaunchFunc{
		models.KindConnectorSync: launchSync,
		models.KindRemap: func(run models.Run) (Launch, error) {
			p := models.Provider(run.Subject)
			return Launch{
				Workflow: RemapRecordsName, Queue: QueueSync, Summary: "Map the records of " + run.Subject + " again",
				Input:      RemapRecordsInput{OrgID: run.OrgID, RunID: run.ID, Provider: p},
				Attributes: []temporal.SearchAttributeUpdate{ProviderAttribute.ValueSet(run.Subject)},
			}, nil
		},
		models.KindIngest:    launchIngest,
		models.KindMatch:     launchMatch,
		models.KindImport:    launchImport,
		models.KindAffinity:  launchAffinity,
		models.KindExpansion: launchExpansion,
		models.KindScore: func(run models.Run) (Launch, error) {
			return Launch{
				Workflow: ScoreAccountsName, Queue: QueueCompute, Summary: "Score accounts",
				Input: ScoreAccountsInput{OrgID: run.OrgID, RunID: run.ID},
			}, nil
		},
	}
}

func launchSync(run models.Run) (Launch, error) {
	var o struct {
		Full             bool `json:"full"`
		ConfirmDeletions bool `json:"confirm_deletions"`
	}
	if err := json.Unmarshal(run.Input, &o); err != nil {
		return Launch{}, fault.Wrap(err, fault.Invalid, "the input of the run cannot be read")
	}
	summary := "Sync of " + run.Subject // the first one reads everything, too, which is not known yet
	if o.Full {
		summary = "Full sync of " + run.Subject
	}
	return Launch{
		Workflow: ConnectorSyncName, Queue: QueueSync, Summary: summary,
		Input: SyncInput{
			OrgID: run.OrgID, RunID: run.ID, Provider: models.Provider(run.Subject), Full: o.Full, ConfirmDeletions: o.ConfirmDeletions,
		},
		Attributes: []temporal.SearchAttributeUpdate{ProviderAttribute.ValueSet(run.Subject)},
	}, nil
}

// Starter starts and watches workflows through a Temporal client; it implements jobs.Starter.
type Starter struct {
	client   client.Client
	prefix   string // of task queues and workflow ids
	launches map[string]LaunchFunc
}

var _ jobs.Starter = (*Starter)(nil)

// NewStarter returns a starter. prefix is put before task queues and workflow ids, so that several installations may
// share a namespace: "" or ending in a dash, as that of the workers.
func NewStarter(c client.Client, prefix string) *Starter {
	return &Starter{client: c, prefix: prefix, launches: Launches()}
}

func (s *Starter) id(run models.Run) string { return s.prefix + run.WorkflowID }

// Start starts the workflow of a run; one that carries out this run already is no error. The workflow of the run
// before may be about to end under the same id: it is waited for shortly. Faults: Invalid, Unavailable.
func (s *Starter) Start(ctx context.Context, run models.Run) error {
	launch, ok := s.launches[run.Kind]
	if !ok {
		return fault.New(fault.Invalid, "this program cannot run jobs of kind %s", run.Kind)
	}
	l, err := launch(run)
	if err != nil {
		return err
	}
	attributes := append([]temporal.SearchAttributeUpdate{OrgIDAttribute.ValueSet(run.OrgID.String())}, l.Attributes...)
	options := client.StartWorkflowOptions{
		ID: s.id(run), TaskQueue: s.prefix + l.Queue,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		Memo:                     map[string]any{memoRun: run.ID.String()},
		TypedSearchAttributes:    temporal.NewSearchAttributes(attributes...), StaticSummary: l.Summary,
	}
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		if _, err := s.client.ExecuteWorkflow(ctx, options, l.Workflow, l.Input); err != nil {
			return unavailable(err)
		}
		d, err := s.describe(ctx, s.id(run))
		if err != nil {
			return err
		}
		if d.run == run.ID {
			return nil
		}
		if wait > 2*time.Second {
			return fault.New(fault.Unavailable, "The job before is still ending; this one starts by itself in a moment.")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// Cancel asks the run's workflow to stop. One that has ended, or that carries out another run, is left alone.
func (s *Starter) Cancel(ctx context.Context, run models.Run) error {
	d, err := s.describe(ctx, s.id(run))
	if err != nil {
		return err
	}
	if d.run != run.ID || d.status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	err = s.client.CancelWorkflow(ctx, s.id(run), "")
	if _, missing := errors.AsType[*serviceerror.NotFound](err); missing {
		return nil
	}
	return unavailable(err)
}

// State tells how the run's workflow stands: the newest one under its id, if it carries out this run.
func (s *Starter) State(ctx context.Context, run models.Run) (jobs.State, string, string, error) {
	d, err := s.describe(ctx, s.id(run))
	if err != nil {
		return "", "", "", err
	}
	if d.run != run.ID {
		return jobs.NotStarted, "", "", nil
	}
	switch d.status {
	case enums.WORKFLOW_EXECUTION_STATUS_RUNNING, enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, enums.WORKFLOW_EXECUTION_STATUS_PAUSED:
		return jobs.Running, "", "", nil
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return jobs.Completed, "", "", nil
	case enums.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return jobs.Canceled, "", "", nil
	}
	_, code, message := Outcome(s.client.GetWorkflow(ctx, s.id(run), d.execution).Get(ctx, nil))
	return jobs.Failed, code, message + kept(activities.FinishInput{}), nil
}

// described is the newest workflow under an id; run is Nil when there is none.
type described struct {
	run       uuid.UUID
	execution string
	status    enums.WorkflowExecutionStatus
}

func (s *Starter) describe(ctx context.Context, id string) (described, error) {
	resp, err := s.client.DescribeWorkflowExecution(ctx, id, "")
	if _, missing := errors.AsType[*serviceerror.NotFound](err); missing {
		return described{}, nil
	}
	if err != nil {
		return described{}, unavailable(err)
	}
	return read(resp)
}

func read(resp *workflowservice.DescribeWorkflowExecutionResponse) (described, error) {
	info := resp.GetWorkflowExecutionInfo()
	d := described{execution: info.GetExecution().GetRunId(), status: info.GetStatus()}
	payload, ok := info.GetMemo().GetFields()[memoRun]
	if !ok {
		return d, nil
	}
	var raw string
	if err := converter.GetDefaultDataConverter().FromPayload(payload, &raw); err != nil {
		return d, fmt.Errorf("read memo: %w", err)
	}
	d.run, _ = uuid.Parse(raw) // anything else is not a workflow of ours
	return d, nil
}

func unavailable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fault.Wrap(err, fault.Unavailable, "The workflow engine does not answer.")
}
