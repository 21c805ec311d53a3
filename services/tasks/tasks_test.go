package tasks_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/paging"
	"revarch/services/tasks"
	"revarch/testkit"
)

type system struct {
	tb  testing.TB
	db  testkit.DB
	svc *tasks.Service
	now time.Time
	rep auth.Principal // of the first organization
}

func setup(tb testing.TB) *system {
	tb.Helper()
	db := testkit.Database(tb, testkit.Product(tb))
	st := testkit.OpenStore(tb, db.App, 10)
	s := &system{tb: tb, db: db, now: time.Date(2026, 5, 2, 5, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return s.now }
	s.svc = &tasks.Service{Store: st, Log: &governance.Service{Store: st, Clock: clock}, Clock: clock, Cursors: paging.New([]byte("secret"))}
	s.rep = repOf(db.NewOrg(tb, "First"))
	return s
}

func repOf(org uuid.UUID) auth.Principal {
	return auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Label: "rep@example.org", Role: auth.Rep, Surface: "rest"}
}

func (s *system) account(org uuid.UUID, name string) uuid.UUID {
	id := models.NewID()
	s.db.Exec(s.tb, `INSERT INTO accounts (org_id, id, provider, external_id, name, mapping_id) VALUES ($1, $2, 'crm_a', $3, $4, 0)`, org, id, id.String(), name)
	return id
}

func (s *system) create(in tasks.CreateInput) tasks.Task {
	s.tb.Helper()
	got, err := s.svc.Create(s.tb.Context(), s.rep, in)
	require.NoError(s.tb, err)
	return got.Task
}

func (s *system) count() int64 { return s.db.Count(s.tb, "SELECT count(*) FROM tasks") }

func TestCreate(t *testing.T) {
	t.Parallel()
	s := setup(t)
	account := s.account(s.rep.OrgID, "Austin")

	t.Run("fills defaults and writes one entry in the log", func(t *testing.T) {
		got, err := s.svc.Create(t.Context(), s.rep, tasks.CreateInput{Title: " Call them ", AccountID: &account, Assignee: "Ann@Example.org", DueDate: "2026-06-01"})
		require.NoError(t, err)
		require.Equal(t, "Call them", got.Task.Title)
		require.Equal(t, "OPEN", got.Task.Status)
		require.Equal(t, "MEDIUM", got.Task.Priority)
		require.Equal(t, "manual", got.Task.SourceType)
		require.Equal(t, "ann@example.org", *got.Task.Assignee)
		require.Equal(t, "2026-06-01", *got.Task.DueDate)
		require.Equal(t, "Austin", *got.Task.AccountName)
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM governance_log WHERE id = $1 AND tool = 'create_task' AND subject_id = $2 AND before = 'null'",
			got.GovernanceEntryID, got.Task.TaskID.String()))
		v, err := s.svc.Log.Verify(t.Context(), s.rep.OrgID)
		require.NoError(t, err)
		require.True(t, v.OK)
	})
	t.Run("refuses bad fields one by one and writes nothing", func(t *testing.T) {
		before := s.count()
		_, err := s.svc.Create(t.Context(), s.rep, tasks.CreateInput{Title: " ", Priority: "SOON", SourceType: "dream", DueDate: "2026-02-30", Assignee: "a\x00"})
		var names []string
		for _, f := range fault.FieldsOf(err) {
			names = append(names, f.Field)
		}
		require.ElementsMatch(t, []string{"title", "priority", "source_type", "due_date", "assignee"}, names)
		require.Equal(t, before, s.count())
	})
	t.Run("does not find accounts of others or deleted ones", func(t *testing.T) {
		other := s.account(s.db.NewOrg(t, "Second"), "Foreign")
		_, err := s.svc.Create(t.Context(), s.rep, tasks.CreateInput{Title: "x", AccountID: &other})
		_, unknown := s.svc.Create(t.Context(), s.rep, tasks.CreateInput{Title: "x", AccountID: new(models.NewID())})
		require.True(t, fault.Is(err, fault.NotFound))
		require.Equal(t, fault.CodeOf(unknown), fault.CodeOf(err))
	})
	t.Run("is refused to viewers", func(t *testing.T) {
		viewer := s.rep
		viewer.Role = auth.Viewer
		_, err := s.svc.Create(t.Context(), viewer, tasks.CreateInput{Title: "x"})
		require.True(t, fault.Is(err, fault.Denied))
	})
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	s := setup(t)
	in := tasks.CreateInput{Title: "Once", IdempotencyKey: "k1"}

	t.Run("gives the first answer to the same request", func(t *testing.T) {
		first, err := s.svc.Create(t.Context(), s.rep, in)
		require.NoError(t, err)
		again, err := s.svc.Create(t.Context(), s.rep, in)
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.EqualValues(t, 1, s.count())
	})
	t.Run("refuses another request under the key", func(t *testing.T) {
		_, err := s.svc.Create(t.Context(), s.rep, tasks.CreateInput{Title: "Other", IdempotencyKey: "k1"})
		require.True(t, fault.Is(err, fault.Conflict))
		_, err = s.svc.Update(t.Context(), s.rep, tasks.UpdateInput{ID: models.NewID(), Status: new("DONE"), IdempotencyKey: "k1"})
		require.True(t, fault.Is(err, fault.Conflict))
	})
	t.Run("belongs to one caller", func(t *testing.T) {
		_, err := s.svc.Create(t.Context(), repOf(s.rep.OrgID), in)
		require.NoError(t, err)
		require.EqualValues(t, 2, s.count())
	})
	t.Run("writes once when asked at the same time", func(t *testing.T) {
		for round := range 20 { // the first rounds also open the connections, one after the other
			before := s.count()
			var wg sync.WaitGroup
			ids, errs := make([]uuid.UUID, 8), make([]error, 8)
			for i := range ids {
				wg.Go(func() {
					got, err := s.svc.Create(t.Context(), s.rep, tasks.CreateInput{Title: "Race", IdempotencyKey: fmt.Sprint("race ", round)})
					ids[i], errs[i] = got.Task.TaskID, err
				})
			}
			wg.Wait()
			for i := range ids {
				require.NoError(t, errs[i])
				require.Equal(t, ids[0], ids[i])
			}
			require.Equal(t, before+1, s.count())
		}
	})
	t.Run("leaves the key free when the write failed", func(t *testing.T) {
		_, err := s.svc.Create(t.Context(), s.rep, tasks.CreateInput{Title: "Late", AccountID: new(models.NewID()), IdempotencyKey: "k3"})
		require.True(t, fault.Is(err, fault.NotFound))
		_, err = s.svc.Create(t.Context(), s.rep, tasks.CreateInput{Title: "Late", IdempotencyKey: "k3"})
		require.NoError(t, err)
	})
	t.Run("forgets after a day", func(t *testing.T) {
		before := s.count()
		s.now = s.now.Add(24 * time.Hour)
		_, err := s.svc.Create(t.Context(), s.rep, in)
		require.NoError(t, err)
		require.Equal(t, before+1, s.count())
	})
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	s := setup(t)
	task := s.create(tasks.CreateInput{Title: "Call", Assignee: "ann@example.org", DueDate: "2026-06-01"})
	update := func(in tasks.UpdateInput) (tasks.Updated, error) {
		in.ID = task.TaskID
		return s.svc.Update(t.Context(), s.rep, in)
	}

	t.Run("changes only what is given", func(t *testing.T) {
		got, err := update(tasks.UpdateInput{Priority: new("URGENT")})
		require.NoError(t, err)
		require.Equal(t, "URGENT", got.Task.Priority)
		require.Equal(t, "MEDIUM", got.Before.Priority)
		require.Equal(t, "ann@example.org", *got.Task.Assignee)
		require.Equal(t, "2026-06-01", *got.Task.DueDate)
		require.EqualValues(t, 2, got.Task.Version)
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM governance_log WHERE id = $1 AND before->>'priority' = 'MEDIUM' AND after->>'priority' = 'URGENT'", got.GovernanceEntryID))
	})
	t.Run("clears with an empty text", func(t *testing.T) {
		got, err := update(tasks.UpdateInput{Assignee: new(""), DueDate: new("")})
		require.NoError(t, err)
		require.Nil(t, got.Task.Assignee)
		require.Nil(t, got.Task.DueDate)
	})
	t.Run("refuses a stale version", func(t *testing.T) {
		_, err := update(tasks.UpdateInput{Status: new("DONE"), Version: new(int64(1))})
		require.True(t, fault.Is(err, fault.Stale))
	})
	t.Run("notes when it was done and reopens only to OPEN", func(t *testing.T) {
		got, err := update(tasks.UpdateInput{Status: new("DONE"), Version: new(int64(3))})
		require.NoError(t, err)
		require.Equal(t, s.now, *got.Task.CompletedAt)
		_, err = update(tasks.UpdateInput{Status: new("BLOCKED")})
		require.True(t, fault.Is(err, fault.Conflict))
		got, err = update(tasks.UpdateInput{Status: new("OPEN")})
		require.NoError(t, err)
		require.Nil(t, got.Task.CompletedAt)
	})
	t.Run("succeeds and changes nothing when it is so already", func(t *testing.T) {
		before, err := update(tasks.UpdateInput{Status: new("OPEN")})
		require.NoError(t, err)
		s.now = s.now.Add(time.Hour)
		got, err := update(tasks.UpdateInput{Status: new("OPEN")})
		require.NoError(t, err)
		require.Equal(t, before.Task, got.Task)
	})
	t.Run("does not find tasks of others", func(t *testing.T) {
		_, err := s.svc.Update(t.Context(), repOf(s.db.NewOrg(t, "Second")), tasks.UpdateInput{ID: task.TaskID, Status: new("DONE")})
		require.True(t, fault.Is(err, fault.NotFound))
	})
}

func TestOverdue(t *testing.T) {
	t.Parallel()
	s := setup(t) // it is 2 May 05:00 UTC: still 1 May in Los Angeles
	s.db.Exec(t, "UPDATE orgs SET time_zone = 'America/Los_Angeles' WHERE id = $1", s.rep.OrgID)
	s.create(tasks.CreateInput{Title: "Today", DueDate: "2026-05-01"})
	s.create(tasks.CreateInput{Title: "Yesterday", DueDate: "2026-04-30"})
	done := s.create(tasks.CreateInput{Title: "Done", DueDate: "2026-04-01"})
	_, err := s.svc.Update(t.Context(), s.rep, tasks.UpdateInput{ID: done.TaskID, Status: new("DONE")})
	require.NoError(t, err)
	overdue := func() []string {
		page, err := s.svc.List(t.Context(), s.rep, tasks.ListInput{Filter: tasks.Filter{Overdue: true}})
		require.NoError(t, err)
		var out []string
		for _, x := range page.Tasks {
			require.True(t, x.Overdue)
			out = append(out, x.Title)
		}
		require.EqualValues(t, len(out), page.Summary.Overdue)
		return out
	}
	require.Equal(t, []string{"Yesterday"}, overdue())
	s.db.Exec(t, "UPDATE orgs SET time_zone = 'UTC' WHERE id = $1", s.rep.OrgID)
	require.Equal(t, []string{"Yesterday", "Today"}, overdue())
}

func TestList(t *testing.T) {
	t.Parallel()
	s := setup(t)
	account := s.account(s.rep.OrgID, "Austin")
	s.create(tasks.CreateInput{Title: "A", Assignee: "ann@example.org", AccountID: &account, Priority: "HIGH"})
	s.create(tasks.CreateInput{Title: "B", DueDate: "2026-07-01", SourceType: "MQL handoff"})
	s.create(tasks.CreateInput{Title: "C", DueDate: "2026-06-01"})
	titles := func(f tasks.Filter) []string {
		page, err := s.svc.List(t.Context(), s.rep, tasks.ListInput{Filter: f})
		require.NoError(t, err)
		out := []string{}
		for _, x := range page.Tasks {
			out = append(out, x.Title)
		}
		return out
	}

	t.Run("orders by due date, those without one last", func(t *testing.T) {
		require.Equal(t, []string{"C", "B", "A"}, titles(tasks.Filter{}))
	})
	t.Run("filters", func(t *testing.T) {
		require.Equal(t, []string{"A"}, titles(tasks.Filter{Assignee: "ANN@example.org"}))
		require.Equal(t, []string{"A"}, titles(tasks.Filter{AccountID: &account}))
		require.Equal(t, []string{"A"}, titles(tasks.Filter{Priority: "HIGH"}))
		require.Equal(t, []string{"B"}, titles(tasks.Filter{SourceType: "MQL handoff"}))
		require.Equal(t, []string{}, titles(tasks.Filter{Status: "DONE"}))
	})
	t.Run("counts over all statuses", func(t *testing.T) {
		page, err := s.svc.List(t.Context(), s.rep, tasks.ListInput{Filter: tasks.Filter{Status: "DONE"}})
		require.NoError(t, err)
		require.Equal(t, tasks.TaskSummary{Open: 3}, page.Summary)
	})
	t.Run("shows another organization nothing and refuses its cursors", func(t *testing.T) {
		page, err := s.svc.List(t.Context(), s.rep, tasks.ListInput{Limit: 1})
		require.NoError(t, err)
		other := repOf(s.db.NewOrg(t, "Second"))
		empty, err := s.svc.List(t.Context(), other, tasks.ListInput{})
		require.NoError(t, err)
		require.Equal(t, tasks.Page{Tasks: []tasks.Task{}}, empty)
		_, err = s.svc.List(t.Context(), other, tasks.ListInput{Cursor: *page.NextCursor})
		require.True(t, fault.Is(err, fault.Invalid))
		_, err = s.svc.List(t.Context(), s.rep, tasks.ListInput{Cursor: *page.NextCursor, Filter: tasks.Filter{Status: "OPEN"}})
		require.True(t, fault.Is(err, fault.Invalid), "other filters")
	})
	t.Run("hands the same rows to exports", func(t *testing.T) {
		var out []string
		require.NoError(t, s.svc.Each(t.Context(), s.rep, tasks.Filter{}, func(rows []tasks.Task) error {
			for _, x := range rows {
				out = append(out, x.Title)
			}
			return nil
		}))
		require.Equal(t, []string{"C", "B", "A"}, out)
	})
}

// Paging visits each row that was there once, whatever is inserted meanwhile.
func TestPagingWhileRowsAreInserted(t *testing.T) {
	t.Parallel()
	s := setup(t)
	day := rapid.SampledFrom([]string{"", "2026-05-01", "2026-05-02", "2026-05-03"})
	rapid.Check(t, func(rt *rapid.T) {
		p := repOf(s.db.NewOrg(t, "Paged"))
		add := func(title string) uuid.UUID {
			got, err := s.svc.Create(t.Context(), p, tasks.CreateInput{Title: title, DueDate: day.Draw(rt, "due")})
			require.NoError(rt, err)
			return got.Task.TaskID
		}
		var want []uuid.UUID
		for i := range rapid.IntRange(0, 6).Draw(rt, "rows") {
			want = append(want, add(fmt.Sprint(i)))
		}
		in := tasks.ListInput{Limit: rapid.IntRange(1, 3).Draw(rt, "limit")}
		var seen []uuid.UUID
		for {
			page, err := s.svc.List(t.Context(), p, in)
			require.NoError(rt, err)
			require.LessOrEqual(rt, len(page.Tasks), in.Limit)
			for _, x := range page.Tasks {
				require.NotContains(rt, seen, x.TaskID)
				seen = append(seen, x.TaskID)
			}
			if page.NextCursor == nil {
				break
			}
			in.Cursor = *page.NextCursor
			if len(seen) < 12 {
				add("meanwhile")
			}
		}
		for _, id := range want {
			require.True(rt, slices.Contains(seen, id))
		}
	})
}
