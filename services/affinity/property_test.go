package affinity_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"revarch/analytics/arr"
	"revarch/models"
	"revarch/services/affinity"
	"revarch/services/affinity/affinitytest"
	"revarch/services/scoring"
	"revarch/store"
)

// slowRow is what the obvious SQL says of an ordered pair.
type slowRow struct {
	A, B                                                          uuid.UUID
	N, NA, NB, NAB                                                int64
	Support, Confidence, Lift, Leverage, Conviction, Jaccard, Phi *float64
	Lead                                                          *float64
	Bundled                                                       bool
	Cross                                                         *float64
	NAll, NAAll, NBAll, NABAll                                    int64
}

// slow is the definitions word by word: sets of accounts, their sizes, and the formulas over them. $1 org, $2 the day,
// $3 grace days, $4 segment, ” for all.
const slow = `WITH revenue AS (
	SELECT l.*, coalesce(l.start_date, '1970-01-01') AS s, coalesce(l.end_date, '9999-12-31') AS e FROM subscription_lines l WHERE l.org_id = $1
), in_force AS (
	SELECT r.* FROM revenue r WHERE r.s <= $2 AND r.e >= r.s AND (r.e >= $2 OR NOT r.ended AND $2::date - r.e <= $3::int AND NOT EXISTS (
		SELECT 1 FROM revenue n WHERE n.account_id = r.account_id AND n.source = r.source AND n.product_id IS NOT DISTINCT FROM r.product_id
		AND n.s > r.s AND n.e > r.e AND n.s <= $2))
), owning AS (
	SELECT a.id, a.segment FROM accounts a WHERE a.org_id = $1 AND a.deleted_at IS NULL AND (
		SELECT coalesce(sum(f.arr_cents), 0) FROM in_force f WHERE f.account_id = a.id AND (f.source = 'product' OR NOT EXISTS (
			SELECT 1 FROM revenue p WHERE p.account_id = a.id AND p.source = 'product' AND p.s <= $2 AND p.e >= p.s))) > 0
), lines AS (
	SELECT p.*, coalesce(p.start_date, '1970-01-01') AS s FROM account_products p JOIN products q ON q.org_id = p.org_id AND q.id = p.product_id AND q.active
	WHERE p.org_id = $1 AND p.account_id IN (SELECT id FROM owning) AND p.deleted_at IS NULL AND p.status IS DISTINCT FROM 'ended'
	AND coalesce(p.start_date, '1970-01-01') <= $2 AND coalesce(p.end_date, '9999-12-31') >= coalesce(p.start_date, '1970-01-01')
	AND (p.end_date IS NULL OR p.end_date >= $2 OR p.arr_cents IS NOT NULL AND $2::date - p.end_date <= $3::int)
), owned AS (
	SELECT DISTINCT ON (account_id, product_id) account_id, product_id, start_date, bundle FROM lines
	ORDER BY account_id, product_id, start_date NULLS LAST, bundle IS NULL, bundle
), scoped AS (SELECT id FROM owning WHERE $4 = '' OR segment = $4
), pairs AS (
	SELECT a.id AS a, b.id AS b,
		(SELECT count(*) FROM scoped) AS n,
		(SELECT count(*) FROM owned o JOIN scoped s ON s.id = o.account_id WHERE o.product_id = a.id) AS na,
		(SELECT count(*) FROM owned o JOIN scoped s ON s.id = o.account_id WHERE o.product_id = b.id) AS nb,
		c.*,
		(SELECT count(*) FROM owning) AS n_all,
		(SELECT count(*) FROM owned WHERE product_id = a.id) AS na_all,
		(SELECT count(*) FROM owned WHERE product_id = b.id) AS nb_all,
		(SELECT count(*) FROM owned x JOIN owned y USING (account_id) WHERE x.product_id = a.id AND y.product_id = b.id) AS nab_all
	FROM products a JOIN products b ON b.org_id = a.org_id AND b.id <> a.id AND b.active, LATERAL (
		SELECT count(*) AS nab, count(*) FILTER (WHERE x.start_date < y.start_date) AS first_a,
			count(*) FILTER (WHERE x.start_date IS NOT NULL AND y.start_date IS NOT NULL) AS dated,
			count(*) FILTER (WHERE x.start_date = y.start_date AND x.bundle = y.bundle) AS bundled
		FROM owned x JOIN owned y USING (account_id) JOIN scoped s ON s.id = x.account_id WHERE x.product_id = a.id AND y.product_id = b.id) c
	WHERE a.org_id = $1 AND a.active
), p AS (SELECT *, na::float8 / nullif(n, 0) AS p_a, nb::float8 / nullif(n, 0) AS p_b, nab::float8 / nullif(n, 0) AS support, nab::float8 / nullif(na, 0) AS conf,
	CASE WHEN n_all > 0 THEN (nab_all + 20 * nb_all::float8 / n_all) / (na_all + 20) END AS cross_all FROM pairs)
SELECT a, b, n, na, nb, nab, support, conf, conf / nullif(p_b, 0), support - p_a * p_b,
	CASE WHEN conf < 1 THEN (1 - p_b) / (1 - conf) END, nab::float8 / nullif(na + nb - nab, 0),
	(nab * (n - na - nb + nab) - (na - nab) * (nb - nab)) / nullif(sqrt(na::float8 * (n - na) * nb * (n - nb)), 0),
	first_a::float8 / nullif(dated, 0), nab > 0 AND bundled >= 0.9 * nab,
	CASE WHEN $4 = '' THEN cross_all ELSE (nab + 15 * cross_all) / (na + 15) END, n_all, na_all, nb_all, nab_all
FROM p ORDER BY a, b`

func (s *system) slow(tb require.TestingT, org uuid.UUID, segment string) (out []slowRow) {
	conn, err := pgx.Connect(s.tb.Context(), s.db.Superuser)
	require.NoError(tb, err)
	defer func() { _ = conn.Close(s.tb.Context()) }()
	rows, err := conn.Query(s.tb.Context(), slow, org, affinitytest.Day(2026, 5, 2), 90, segment)
	require.NoError(tb, err)
	out, err = pgx.CollectRows(rows, pgx.RowToStructByPos[slowRow])
	require.NoError(tb, err)
	return out
}

// slowP tests a pair the long way, and says by which method; nil when one product has no owner.
func slowP(r slowRow) (p *float64, method string) {
	if r.NA == 0 || r.NB == 0 {
		return nil, ""
	}
	n, a, b, ab := float64(r.N), float64(r.NA), float64(r.NB), float64(r.NAB)
	least := math.Inf(1)
	for _, row := range []float64{a, n - a} {
		for _, column := range []float64{b, n - b} {
			least = min(least, row*column/n)
		}
	}
	var v float64
	if least >= 5 && r.N >= 100 {
		v = distuv.ChiSquared{K: 1}.Survival(n * *r.Phi * *r.Phi)
		return &v, "chi_square"
	}
	choose := func(n, k float64) float64 {
		x, _ := math.Lgamma(n + 1)
		y, _ := math.Lgamma(k + 1)
		z, _ := math.Lgamma(n - k + 1)
		return x - y - z
	}
	for k := ab; k <= min(a, b); k++ {
		if n-a-b+k >= 0 {
			v += math.Exp(choose(a, k) + choose(n-a, b-k) - choose(n, b))
		}
	}
	v = min(1, v)
	return &v, "fisher"
}

// genAccounts draws accounts with lines of every kind there is.
func genAccounts(products int) *rapid.Generator[[]affinitytest.Account] {
	day := rapid.Custom(func(t *rapid.T) time.Time {
		return affinitytest.Day(2026, 5, 2).AddDate(0, 0, rapid.SampledFrom([]int{-900, -400, -200, -100, -91, -90, -30, -1, 0, 1, 50}).Draw(t, "offset"))
	})
	line := rapid.Custom(func(t *rapid.T) affinitytest.Line {
		l := affinitytest.Line{
			Product: rapid.IntRange(0, products-1).Draw(t, "product"), ARRCents: rapid.Int64Range(-20, 200).Draw(t, "arr"),
			Free: rapid.IntRange(0, 9).Draw(t, "free") == 0, Ended: rapid.IntRange(0, 9).Draw(t, "ended") == 0,
			Bundle: rapid.SampledFrom([]string{"", "x", "x", "y"}).Draw(t, "bundle"),
		}
		if rapid.IntRange(0, 4).Draw(t, "has start") > 0 {
			l.Start = day.Draw(t, "start")
		}
		if rapid.IntRange(0, 2).Draw(t, "has end") == 0 {
			l.End = day.Draw(t, "end")
		}
		return l
	})
	account := rapid.Custom(func(t *rapid.T) affinitytest.Account {
		a := affinitytest.Account{
			Segment:    rapid.SampledFrom([]string{"Enterprise", "Mid-Market", "SMB", ""}).Draw(t, "segment"),
			TotalCents: rapid.SampledFrom([]int64{0, 0, 1000, -5}).Draw(t, "total"), Deleted: rapid.IntRange(0, 19).Draw(t, "deleted") == 0,
		}
		a.Lines = rapid.SliceOfN(line, 0, 6).Draw(t, "lines")
		return a
	})
	return rapid.SliceOfN(account, 0, 160)
}

// TestMatricesAreWhatTheObviousSQLSays compares every measure on random data.
func TestMatricesAreWhatTheObviousSQLSays(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(t *rapid.T) {
		products := affinitytest.Products(rapid.IntRange(2, 5).Draw(t, "products"))
		products[0].Retired = rapid.IntRange(0, 4).Draw(t, "retired") == 0
		org := s.org(products, genAccounts(len(products)).Draw(t, "accounts"))
		_, err := s.svc.Compute(s.tb.Context(), org, models.NewID(), nil)
		require.NoError(t, err)
		for _, segment := range []string{"all", "Enterprise", "Mid-Market", "SMB"} {
			m, err := s.svc.List(s.tb.Context(), viewer(org), affinity.ListInput{Filter: affinity.Filter{Segment: segment, IncludeZero: true}})
			require.NoError(t, err)
			arg := segment
			if segment == "all" {
				arg = ""
			}
			same(t, s.slow(t, org, arg), slices.Collect(m.Entries()))
		}
	})
}

func same(t require.TestingT, want []slowRow, got []affinity.Entry) {
	require.Len(t, got, len(want))
	entries := map[[2]uuid.UUID]affinity.Entry{}
	for _, e := range got {
		entries[[2]uuid.UUID{e.ProductA.ID, e.ProductB.ID}] = e
	}
	qs := slowQ(want)
	for i, w := range want {
		e := entries[[2]uuid.UUID{w.A, w.B}]
		require.Equal(t, []int64{w.N, w.NA, w.NB, w.NAB}, []int64{e.N, e.NA, e.NB, e.NAB})
		p, method := slowP(w)
		for _, m := range []struct {
			name      string
			want, got *float64
		}{
			{"support", w.Support, e.Support},
			{"confidence", w.Confidence, e.Confidence},
			{"lift", w.Lift, e.Lift},
			{"leverage", w.Leverage, e.Leverage},
			{"conviction", w.Conviction, e.Conviction},
			{"jaccard", w.Jaccard, e.Jaccard},
			{"phi", w.Phi, e.Phi},
			{"lead_share", w.Lead, e.LeadShare},
			{"cross_sell", w.Cross, e.CrossSell},
			{"p", p, e.PValue},
			{"q", qs[i], e.QValue},
		} {
			what := fmt.Sprintf("%s of %d %d %d %d", m.name, w.N, w.NA, w.NB, w.NAB)
			require.Equal(t, m.want == nil, m.got == nil, what)
			if m.want != nil {
				require.InDelta(t, *m.want, *m.got, 1e-9+1e-7*math.Abs(*m.want), what)
			}
		}
		if method != "" {
			require.Equal(t, method, *e.PMethod)
		}
		require.Equal(t, w.Bundled, e.Bundle)
		significant := w.N >= 30 && w.NA >= 10 && w.NAB >= 3 && w.Phi != nil && *e.QValue <= 0.05
		require.Equal(t, significant, e.Significant)
		require.Equal(t, !significant || e.Conviction == nil, e.Reason != nil)
	}
}

// slowQ is Benjamini-Hochberg by its definition over the unordered pairs that can be tested, for each row.
func slowQ(rows []slowRow) []*float64 {
	var ps []float64
	for _, r := range rows {
		if p, _ := slowP(r); p != nil && r.A.String() < r.B.String() {
			ps = append(ps, *p)
		}
	}
	out := make([]*float64, len(rows))
	for i, r := range rows {
		p, _ := slowP(r)
		if p == nil {
			continue
		}
		q := 1.0
		for _, other := range ps { // the least m p_k / k over all p_k that are not below p
			rank := 0
			for _, x := range ps {
				if x <= other*(1+1e-12) {
					rank++
				}
			}
			if other >= *p*(1-1e-9) {
				q = min(q, other*float64(len(ps))/float64(rank))
			}
		}
		out[i] = &q
	}
	return out
}

// TestOwningAccountsAreThoseWithARR holds the SQL that finds owning accounts to the rules of analytics/arr.
func TestOwningAccountsAreThoseWithARR(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(t *rapid.T) {
		products := affinitytest.Products(2)
		accounts := genAccounts(2).Draw(t, "accounts")
		org := s.org(products, accounts)
		var lines []models.SubscriptionLine
		owning := map[uuid.UUID]bool{}
		err := s.store.InOrg(s.tb.Context(), org, func(tx *store.Tx) error {
			b, err := tx.LoadScoringBatch(uuid.Nil, 1000, affinitytest.Day(2026, 5, 2))
			lines = b.Lines
			if err != nil {
				return err
			}
			return tx.EachOwnedLine(s.tb.Context(), affinitytest.Day(2026, 5, 2), 90, func(l *store.OwnedLine) error {
				owning[l.AccountID] = true
				return nil
			})
		})
		require.NoError(t, err)
		of := map[uuid.UUID][]models.SubscriptionLine{}
		for _, l := range lines {
			of[l.AccountID] = append(of[l.AccountID], l)
		}
		for _, a := range accounts {
			total := scoring.ARROf(of[a.ID], affinitytest.Day(2026, 5, 2), arr.DefaultGraceDays)
			require.Equal(t, total.ARRCents > 0 && !a.Deleted, owning[a.ID], "%+v", a)
		}
	})
}
