package workflows

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/models"
)

// ConnectorSyncName is the wire name of ConnectorSync.
const ConnectorSyncName = "ConnectorSync"

// batchesPerRun bounds the history of one execution; the next one goes on with the state.
const batchesPerRun = 200

// SyncInput holds ids only: rows live in PostgreSQL and secrets never enter history.
type SyncInput struct {
	OrgID    uuid.UUID       `json:"org_id"`
	RunID    uuid.UUID       `json:"run_id"`
	Provider models.Provider `json:"provider"`
	Full     bool            `json:"full,omitempty"`
	// ConfirmDeletions lets a full sync delete however many records it does not find.
	ConfirmDeletions bool         `json:"confirm_deletions,omitempty"`
	State            SyncProgress `json:"state,omitzero"` // carried across continue-as-new
}

// The stages of an object.
const (
	stagePull      = "pull"
	stageTombstone = "tombstone"
	stageDeletions = "deletions"
	stageDone      = "done"
	stageSkipped   = "skipped"
)

// SyncProgress is how far a sync is: the answer of the progress query, and its whole state.
type SyncProgress struct {
	Phase     string           `json:"phase"`
	Objects   []SyncObject     `json:"objects,omitempty"`
	Counts    map[string]int64 `json:"counts,omitempty"`
	Batches   int              `json:"batches"`
	WaitUntil time.Time        `json:"wait_until,omitzero"` // the provider asked to wait
	WaitFor   string           `json:"wait_for,omitempty"`  // the code of why
	Synced    bool             `json:"synced,omitempty"`    // all records are stored and linked
}

// SyncObject is how far one object is.
type SyncObject struct {
	Name      string   `json:"name"`
	After     []string `json:"after,omitempty"`
	Full      bool     `json:"full,omitempty"`
	Stage     string   `json:"stage"`
	Pages     int      `json:"pages"`
	Read      int64    `json:"read"`
	Deletions string   `json:"deletions,omitempty"` // where the pass over deletions goes on
}

func (o *SyncObject) ended() bool { return o.Stage == stageDone || o.Stage == stageSkipped }

// ConnectorSync copies a provider's records batch by batch until there are no more, resolves their links, and scores
// the accounts. Cancelling it is safe at any step; its run is closed truthfully whatever happens.
func ConnectorSync(ctx workflow.Context, in SyncInput) (SyncProgress, error) {
	s := &syncer{in: in, state: in.State, ref: activities.SyncRef{
		RunRef: activities.RunRef{OrgID: in.OrgID, RunID: in.RunID}, Provider: in.Provider,
	}}
	if s.state.Counts == nil {
		s.state.Counts = map[string]int64{}
	}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (SyncProgress, error) { return s.state, nil }); err != nil {
		return s.state, err
	}
	// Syncs that began before asked for deletions last, and so counted them among the records that left no trace.
	s.deletionsFirst = workflow.GetVersion(ctx, "deletions-first", workflow.DefaultVersion, 1) == 1
	err := s.run(ctx)
	if workflow.IsContinueAsNewError(err) {
		return s.state, err
	}
	return s.state, finish(ctx, activities.FinishInput{RunRef: s.ref.RunRef, Provider: in.Provider, Synced: s.state.Synced}, err)
}

// syncer carries out one execution.
type syncer struct {
	in      SyncInput
	ref     activities.SyncRef
	state   SyncProgress
	batches int // of this execution

	deletionsFirst bool // what the provider says was deleted goes before what was not found any more
}

func (s *syncer) run(ctx workflow.Context) error {
	if len(s.state.Objects) == 0 {
		if err := s.plan(ctx); err != nil {
			return err
		}
	}
	if !s.state.Synced {
		s.phase(ctx, "syncing")
		if err := s.objects(ctx); err != nil {
			return err
		}
		if slices.ContainsFunc(s.state.Objects, func(o SyncObject) bool { return !o.ended() }) {
			next := s.in
			next.State = s.state
			return workflow.NewContinueAsNewError(ctx, ConnectorSync, next)
		}
		s.phase(ctx, "linking")
		if err := s.step(ctx, stepOptions(ctx, "Resolve links between records"), (*activities.Sync)(nil).ResolveLinks); err != nil {
			return err
		}
		s.state.Synced = true
	}
	s.phase(ctx, "matching")
	if err := s.step(ctx, computeOptions(ctx, "Match accounts to official records"), (*activities.Compute)(nil).MatchOrg); err != nil {
		return err
	}
	s.phase(ctx, "scoring")
	return s.step(ctx, computeOptions(ctx, "Score accounts"), (*activities.Compute)(nil).ScoreOrg)
}

// plan asks what there is to do; it waits when the provider wants it.
func (s *syncer) plan(ctx workflow.Context) error {
	for {
		s.phase(ctx, "discovering")
		var plan activities.Plan
		err := workflow.ExecuteActivity(stepOptions(ctx, "Discover objects and fields"), (*activities.Sync)(nil).PlanSync,
			activities.PlanInput{SyncRef: s.ref, Full: s.in.Full}).Get(ctx, &plan)
		if err != nil {
			return err
		}
		if plan.ResumeAt.IsZero() {
			for _, o := range plan.Objects {
				s.state.Objects = append(s.state.Objects, SyncObject{Name: o.Name, After: o.After, Full: o.Full, Stage: stagePull})
			}
			return nil
		}
		if err := s.wait(ctx, plan.ResumeAt, plan.Reason); err != nil {
			return err
		}
	}
}

// objects reads all objects, each in a coroutine of its own, until they are done or this execution has made its share.
func (s *syncer) objects(parent workflow.Context) error {
	ctx, cancel := workflow.WithCancel(parent)
	defer cancel()
	var failed error
	wg := workflow.NewWaitGroup(ctx)
	for i := range s.state.Objects {
		o := &s.state.Objects[i]
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			if err := s.object(ctx, o); err != nil && failed == nil {
				failed = err // what the others then report is only that they were stopped
				cancel()
			}
		})
	}
	wg.Wait(ctx)
	return failed
}

func (s *syncer) object(ctx workflow.Context, o *SyncObject) error {
	err := workflow.Await(ctx, func() bool { return s.enough(ctx) || s.complete(o.After) })
	if err != nil {
		return err
	}
	for !o.ended() && !s.enough(ctx) {
		s.batches++
		s.state.Batches++
		got, err := s.batch(ctx, o)
		if err != nil {
			return err
		}
		o.advance(got, s.deletionsFirst)
		s.add(got.Counts)
		s.details(ctx)
		if !got.ResumeAt.IsZero() {
			if err := s.wait(ctx, got.ResumeAt, got.Reason); err != nil {
				return err
			}
		}
	}
	return nil
}

// batch does the next piece of work on an object.
func (s *syncer) batch(ctx workflow.Context, o *SyncObject) (got activities.BatchResult, err error) {
	in := activities.ObjectInput{SyncRef: s.ref, Object: o.Name, Full: o.Full, After: o.Deletions, ConfirmDeletions: s.in.ConfirmDeletions}
	var a *activities.Sync
	switch o.Stage {
	case stagePull:
		err = workflow.ExecuteActivity(batchOptions(ctx, "Read "+o.Name), a.PullPages, in).Get(ctx, &got)
	case stageTombstone:
		err = workflow.ExecuteActivity(batchOptions(ctx, "Find deleted "+o.Name), a.TombstoneUnseen, in).Get(ctx, &got)
	default:
		err = workflow.ExecuteActivity(batchOptions(ctx, "Read deletions of "+o.Name), a.PullDeletions, in).Get(ctx, &got)
	}
	return got, err
}

// advance moves an object on after a batch: its pages, its deletions, and after a full enumeration what was not met.
func (o *SyncObject) advance(got activities.BatchResult, deletionsFirst bool) {
	o.Pages += got.Pages
	o.Read += got.Counts["read"]
	o.Full = o.Full || got.Full
	switch {
	case got.Skipped != "":
		o.Stage = stageSkipped
	case o.Stage == stageDeletions:
		o.Deletions = got.Next
		if got.Done {
			o.Stage, o.Deletions = stageDone, ""
			if deletionsFirst && o.Full {
				o.Stage = stageTombstone
			}
		}
	case !got.Done:
	case o.Stage == stageTombstone && deletionsFirst:
		o.Stage = stageDone
	case o.Stage == stagePull && o.Full && !deletionsFirst:
		o.Stage = stageTombstone
	default:
		o.Stage = stageDeletions
	}
}

// complete reports whether the named objects have ended.
func (s *syncer) complete(names []string) bool {
	for _, o := range s.state.Objects {
		if slices.Contains(names, o.Name) && !o.ended() {
			return false
		}
	}
	return true
}

// enough reports whether this execution has made its share of batches.
func (s *syncer) enough(ctx workflow.Context) bool {
	return s.batches >= batchesPerRun || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// step runs an activity that counts something for the whole run.
func (s *syncer) step(ctx, options workflow.Context, fn any) error {
	var got activities.CountResult
	if err := workflow.ExecuteActivity(options, fn, s.ref).Get(ctx, &got); err != nil {
		return err
	}
	s.add(got.Counts)
	return nil
}

func (s *syncer) add(counts map[string]int64) {
	for _, k := range workflow.DeterministicKeys(counts) {
		s.state.Counts[k] += counts[k]
	}
}
