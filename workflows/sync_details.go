package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"revarch/activities"
)

// phase notes what the sync is at and shows it to operators.
func (s *syncer) phase(ctx workflow.Context, name string) {
	s.state.Phase = name
	s.details(ctx)
}

// wait sleeps durably until the provider wants to be asked again; the run's row says so meanwhile.
func (s *syncer) wait(ctx workflow.Context, until time.Time, reason string) error {
	d := until.Sub(workflow.Now(ctx))
	if d <= 0 {
		return nil
	}
	s.state.WaitUntil, s.state.WaitFor = until, reason
	s.details(ctx)
	err := workflow.ExecuteActivity(stepOptions(ctx, "Note that the provider asks to wait"), (*activities.Runs)(nil).NoteWait,
		activities.WaitInput{RunRef: s.ref.RunRef, Until: until, Reason: reason}).Get(ctx, nil)
	if err != nil {
		return err
	}
	timer := workflow.NewTimerWithOptions(ctx, d, workflow.TimerOptions{Summary: "The provider asks to wait: " + reason})
	if err := timer.Get(ctx, nil); err != nil {
		return err
	}
	s.state.WaitUntil, s.state.WaitFor = time.Time{}, ""
	s.details(ctx)
	return nil
}

// details shows operators how far the sync is: numbers and codes only, never text of a provider.
func (s *syncer) details(ctx workflow.Context) {
	var b strings.Builder
	say(&b, "Sync of **%s**, phase **%s**, %d batches\n\n", s.in.Provider, s.state.Phase, s.state.Batches)
	if !s.state.WaitUntil.IsZero() {
		say(&b, "Waiting until %s (%s)\n\n", s.state.WaitUntil.UTC().Format(time.RFC3339), s.state.WaitFor)
	}
	if len(s.state.Objects) > 0 {
		b.WriteString("| object | stage | pages | read |\n|---|---|---|---|\n")
		for _, o := range s.state.Objects {
			say(&b, "| %s | %s | %d | %d |\n", o.Name, o.Stage, o.Pages, o.Read)
		}
		b.WriteString("\n")
	}
	countLines(&b, s.state.Counts)
	workflow.SetCurrentDetails(ctx, b.String())
}

func countLines(b *strings.Builder, counts map[string]int64) {
	for _, k := range workflow.DeterministicKeys(counts) {
		say(b, "- %s: %d\n", k, counts[k])
	}
}

// say adds formatted text; fmt.Fprintf counts as nondeterministic, since its writer might be anything.
func say(b *strings.Builder, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.WriteString(text)
}
