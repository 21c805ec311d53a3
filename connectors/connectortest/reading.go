package connectortest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
)

func checkFullRun(t *testing.T, h *Harness) {
	c := connect(t, h)
	ids, cursors := c.run(t, "")
	c.requireAll(t, ids)
	require.Greater(t, len(cursors), 2, "the run has several pages")
	count, err := c.session.Count(t.Context(), h.Object)
	require.NoError(t, err)
	if count >= 0 {
		require.EqualValues(t, len(ids), count)
	}
}

func checkResume(t *testing.T, h *Harness) {
	c := connect(t, h)
	var before []string
	var cursor connectors.Cursor
	for {
		page, err := c.session.Pull(t.Context(), connectors.PullRequest{Object: h.Object, After: cursor, Limit: h.PageSize})
		require.NoError(t, err)
		for _, r := range page.Records {
			before = append(before, r.ExternalID)
		}
		if page.Done {
			break
		}
		after, _ := c.run(t, page.Next)
		c.requireAll(t, slices.Concat(before, after))
		cursor = page.Next
	}
	c.requireAll(t, before)
}

func checkIncremental(t *testing.T, h *Harness) {
	c := connect(t, h)
	live := h.Remote.Live(t, h.Object)
	recent := h.Remote.Create(t, h.Object)
	_, cursors := c.run(t, "")
	done := cursors[len(cursors)-1]

	changed := live[len(live)/2]
	h.Remote.Update(t, h.Object, changed)
	created := h.Remote.Create(t, h.Object)
	ids, cursors := c.run(t, done)
	require.Contains(t, ids, changed)
	require.Contains(t, ids, created)
	require.Contains(t, ids, recent, "the overlap before the last run is read again")
	require.Less(t, len(ids), len(live)/2, "what did not change is not read again")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(ids))), len(ids), "a run reads nothing twice")

	later := h.Remote.Create(t, h.Object)
	ids, _ = c.run(t, cursors[len(cursors)-1])
	require.Contains(t, ids, later)
}

func checkDeletions(t *testing.T, h *Harness) {
	c := connect(t, h)
	since := time.Now().Add(-time.Minute)
	gone := h.Remote.Live(t, h.Object)[0]
	h.Remote.Delete(t, h.Object, gone)
	found, ok := c.deletions(t, h.Object, since)[gone]
	require.True(t, ok, "the deleted record is listed")
	require.Empty(t, found.MergedInto)
	ids, _ := c.run(t, "")
	require.NotContains(t, ids, gone)
	if h.Merges == "" {
		return
	}
	live := h.Remote.Live(t, h.Merges)
	winner, loser := live[0], live[1]
	h.Remote.Merge(t, h.Merges, winner, loser)
	found, ok = c.deletions(t, h.Merges, since)[loser]
	require.True(t, ok, "the merged record is listed")
	require.Equal(t, winner, found.MergedInto)
}

// deletions reads the whole listing by id.
func (c *connection) deletions(t *testing.T, object string, since time.Time) map[string]connectors.Record {
	t.Helper()
	out := map[string]connectors.Record{}
	var after connectors.Cursor
	for range 10_000 {
		page, err := c.session.Deletions(t.Context(), connectors.DeletionsRequest{Object: object, Since: since, After: after})
		require.NoError(t, err)
		require.NotEqual(t, after, page.Next)
		for _, r := range page.Records {
			require.True(t, r.Deleted)
			out[r.ExternalID] = r
		}
		if after = page.Next; page.Done {
			return out
		}
	}
	require.Fail(t, "the listing does not end")
	return nil
}

func checkThrottle(t *testing.T, h *Harness) {
	c := connect(t, h)
	page := c.first(t)
	h.Remote.Inject(t, Throttle)
	err := c.fail(t, page.Next, fault.Throttled)
	require.Positive(t, fault.RetryAfter(err))
	h.Remote.Inject(t, Quota)
	err = c.fail(t, page.Next, fault.QuotaDay)
	require.GreaterOrEqual(t, fault.RetryAfter(err), time.Minute)
	c.requireComplete(t, page)
}

// requireComplete goes on behind a page and checks that the whole run lost and doubled nothing.
func (c *connection) requireComplete(t *testing.T, page connectors.Page) {
	t.Helper()
	var ids []string
	for _, r := range page.Records {
		ids = append(ids, r.ExternalID)
	}
	rest, _ := c.run(t, page.Next)
	c.requireAll(t, append(ids, rest...))
}

func checkRenewOnce(t *testing.T, h *Harness) {
	c := connect(t, h)
	page := c.first(t)
	h.Remote.Inject(t, ExpireAccess)
	c.requireComplete(t, page)
	require.Equal(t, 1, c.keeper.Renewals())
}

func checkRenewParallel(t *testing.T, h *Harness) {
	c := connect(t, h)
	h.Remote.Inject(t, ExpireAccess)
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() {
			_, errs[i] = h.Provider.Open(c.keeper).Pull(t.Context(), connectors.PullRequest{Object: h.Object, Limit: h.PageSize})
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, 1, c.keeper.Renewals())
}

func checkBrokenAnswers(t *testing.T, h *Harness) {
	c := connect(t, h)
	page := c.first(t)
	for _, d := range []Disturbance{MaintenancePage, CutShort, ServerError} {
		h.Remote.Inject(t, d)
		require.Error(t, c.fail(t, page.Next, fault.Unavailable))
	}
	c.requireComplete(t, page)
}

func checkForeignLink(t *testing.T, h *Harness) {
	c := connect(t, h)
	page := c.first(t)
	h.Remote.Inject(t, ForeignLink)
	require.Error(t, c.fail(t, page.Next, fault.Denied))
	c.requireComplete(t, page)
}

func checkSameLink(t *testing.T, h *Harness) {
	c := connect(t, h)
	page := c.first(t)
	h.Remote.Inject(t, SameLink)
	next, err := c.session.Pull(t.Context(), connectors.PullRequest{Object: h.Object, After: page.Next, Limit: h.PageSize})
	if err != nil { // a provider without a position of its own to fall back to stops
		c.requireFault(t, err, fault.Unavailable)
		require.Empty(t, next.Next, "a failed page does not advance")
	} else {
		require.NotEmpty(t, next.Records)
		require.NotEqual(t, page.Next, next.Next)
	}
	c.requireComplete(t, page)
}

func checkForgottenCursor(t *testing.T, h *Harness) {
	c := connect(t, h)
	page := c.first(t)
	h.Remote.Inject(t, ForgetCursors)
	_, err := c.session.Pull(t.Context(), connectors.PullRequest{Object: h.Object, After: page.Next, Limit: h.PageSize})
	if err != nil { // a provider without a position of its own to fall back to says so, and a new run is complete
		c.requireFault(t, err, fault.CursorDead)
		ids, _ := c.run(t, "")
		c.requireAll(t, ids)
		return
	}
	c.requireComplete(t, page)
}

func checkBadCursor(t *testing.T, h *Harness) {
	c := connect(t, h)
	require.Error(t, c.fail(t, "not a cursor", fault.CursorDead))
	require.Error(t, c.fail(t, "bm90IGEgY3Vyc29y", fault.CursorDead))
	page := c.first(t)
	for _, spec := range h.Provider.Objects() {
		if spec.Name != h.Object {
			_, err := c.session.Pull(t.Context(), connectors.PullRequest{Object: spec.Name, After: page.Next})
			c.requireFault(t, err, fault.CursorDead)
		}
	}
}

func checkCancel(t *testing.T, h *Harness) {
	c := connect(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.session.Pull(ctx, connectors.PullRequest{Object: h.Object, Limit: h.PageSize})
	require.ErrorIs(t, err, context.Canceled)
}
