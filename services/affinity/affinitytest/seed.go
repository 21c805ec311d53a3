// Package affinitytest makes organizations whose accounts own products, for the tests and benchmarks of affinity and
// expansion. What belongs here: rows as a sync or an import would leave them, written by COPY.
package affinitytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/models"
	"revarch/testkit"
)

// Line is a line of what an account bought; zero fields are unknown.
type Line struct {
	Product    int // position in Org.Products
	ARRCents   int64
	Free       bool // no recurring revenue is known of it
	Start, End time.Time
	Ended      bool
	Bundle     string
	Quantity   float64
}

// Account is an account with its lines. TotalCents is what the CRM says of the whole account, 0 for nothing.
type Account struct {
	ID                 uuid.UUID // made when it is Nil
	Name               string
	Segment, Territory string
	Lines              []Line
	TotalCents         int64
	Enrollment, Seats  int64
	P1Open             *int64
	OverdueDays        *int64
	Active28d          *int64
	RenewalDate        time.Time
	Deleted            bool
}

// Product is a product; a zero list price is unknown.
type Product struct {
	ID             uuid.UUID // made when it is Nil
	SKU, Name      string
	ListPriceCents int64
	Retired        bool
}

// Products makes n products.
func Products(n int) []Product {
	out := make([]Product, n)
	for i := range out {
		out[i] = Product{ID: models.NewID(), SKU: fmt.Sprintf("SKU-%03d", i), Name: fmt.Sprintf("Product %d", i)}
	}
	return out
}

// Owning returns an account that owns products, 1,000.00 a year each since 2024.
func Owning(segment string, products ...int) Account {
	a := Account{Segment: segment}
	for _, p := range products {
		a.Lines = append(a.Lines, Line{Product: p, ARRCents: 100_000, Start: Day(2024, 1, 1)})
	}
	return a
}

// Day is midnight UTC of a day.
func Day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

// Seed writes products and accounts into an organization, past every policy, and fills in their ids. It may be called
// again for more accounts of the same products.
func Seed(tb testing.TB, db testkit.DB, org uuid.UUID, products []Product, accounts []Account) {
	tb.Helper()
	ctx := tb.Context()
	conn, err := pgx.Connect(ctx, db.Superuser)
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if len(accounts) >= manyAccounts { // they refer to each other by construction, and checking it would take minutes
		if _, err := conn.Exec(ctx, "SET session_replication_role = replica"); err != nil {
			tb.Fatalf("set role of session: %v", err)
		}
	}
	s := &seeder{tb: tb, conn: conn, org: org}
	for i := range products {
		s.product(&products[i])
	}
	for i := range accounts {
		s.account(&accounts[i], products)
	}
	s.copy("accounts", []string{
		"org_id", "id", "provider", "external_id", "name", "normalized_name", "segment", "territory", "enrollment", "seats", "p1_open",
		"overdue_days", "active_28d", "renewal_date", "deleted_at", "mapping_id",
	}, s.accounts)
	s.copy("account_products", []string{
		"org_id", "id", "provider", "external_id", "account_id", "product_id", "arr_cents", "quantity", "start_date", "end_date",
		"status", "bundle", "mapping_id",
	}, s.lines)
	s.copy("subscription_lines", []string{
		"org_id", "id", "account_id", "product_id", "source", "provider", "external_id", "arr_cents", "start_date", "end_date",
		"ended",
	}, s.revenue)
}

const manyAccounts = 5000

// SeedMarket writes products and the accounts of a Market into an organization, piece by piece, and brings the
// statistics of the tables up to date.
func SeedMarket(tb testing.TB, db testkit.DB, org uuid.UUID, accounts, products, perAccount int) {
	tb.Helper()
	seedPieces(tb, db, org, accounts, products, func(seed uint64, n int) []Account { return Market(seed, n, products, perAccount) })
}

type seeder struct {
	tb                       testing.TB
	conn                     *pgx.Conn
	org                      uuid.UUID
	accounts, lines, revenue [][]any
}

func (s *seeder) copy(table string, columns []string, rows [][]any) {
	s.tb.Helper()
	if _, err := s.conn.CopyFrom(s.tb.Context(), pgx.Identifier{table}, columns, pgx.CopyFromRows(rows)); err != nil {
		s.tb.Fatalf("copy into %s: %v", table, err)
	}
}

func id(v uuid.UUID) [16]byte { return v }

func (s *seeder) product(p *Product) {
	s.tb.Helper()
	if p.ID == uuid.Nil {
		p.ID = models.NewID()
	}
	_, err := s.conn.Exec(s.tb.Context(), `INSERT INTO products (org_id, id, provider, external_id, sku, name, list_price_cents, active, mapping_id)
		VALUES ($1, $2, 'csv', $3, nullif($3, ''), $4, nullif($5::bigint, 0), $6, 0) ON CONFLICT (org_id, id) DO UPDATE SET active = excluded.active`,
		id(s.org), id(p.ID), p.SKU, p.Name, p.ListPriceCents, !p.Retired)
	if err != nil {
		s.tb.Fatalf("insert product: %v", err)
	}
}

func (s *seeder) account(a *Account, products []Product) {
	if a.ID == uuid.Nil {
		a.ID = models.NewID()
	}
	if a.Name == "" {
		a.Name = "Account " + a.ID.String()
	}
	var deleted any
	if a.Deleted {
		deleted = time.Now()
	}
	s.accounts = append(s.accounts, []any{
		id(s.org), id(a.ID), "csv", a.ID.String(), a.Name, a.Name, known(a.Segment), known(a.Territory), known(a.Enrollment),
		known(a.Seats), a.P1Open, a.OverdueDays, a.Active28d, date(a.RenewalDate), deleted, 0,
	})
	if a.TotalCents != 0 {
		s.revenue = append(s.revenue, []any{id(s.org), id(a.ID), id(a.ID), nil, "account_total", "csv", a.ID.String(), a.TotalCents, nil, nil, false})
	}
	for _, l := range a.Lines {
		lineID, product := models.NewID(), id(products[l.Product].ID)
		var cents, status any
		if !l.Free {
			cents = l.ARRCents
			s.revenue = append(s.revenue, []any{id(s.org), id(lineID), id(a.ID), product, "product", "csv", lineID.String(), l.ARRCents, date(l.Start), date(l.End), l.Ended})
		}
		if l.Ended {
			status = "ended"
		}
		s.lines = append(s.lines, []any{
			id(s.org), id(lineID), "csv", lineID.String(), id(a.ID), product, cents, known(l.Quantity), date(l.Start), date(l.End),
			status, known(l.Bundle), 0,
		})
	}
}

// known is nil for a zero value.
func known[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func date(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// Market makes accounts that own about perAccount of n products each: some products are popular, and owning one of a
// group of five makes the others of the group likelier. The same seed gives the same accounts but for their ids.
func Market(seed uint64, accounts, n, perAccount int) []Account {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // not a secret
	segments := [...]string{"Enterprise", "Mid-Market", "SMB", "SMB", ""}
	out := make([]Account, accounts)
	for i := range out {
		a := Account{Segment: segments[r.IntN(len(segments))], Territory: fmt.Sprintf("T%d", r.IntN(20)), Enrollment: 500 + r.Int64N(40_000), Seats: 50 + r.Int64N(4000)}
		owned := map[int]bool{}
		group := r.IntN(max(1, n/5))
		for size := min(1+r.IntN(2*perAccount-1), n); len(owned) < size; {
			p := r.IntN(n)
			switch r.IntN(4) {
			case 0, 1:
				p = min(n-1, group*5+r.IntN(5))
			case 2:
				p = p * p / n // popular ones come first
			}
			if owned[p] {
				p = r.IntN(n)
			}
			if owned[p] {
				continue
			}
			owned[p] = true
			l := Line{Product: p, ARRCents: a.Enrollment * (50 + r.Int64N(500)), Start: Day(2023, 1, 1).AddDate(0, 0, r.IntN(900)), Quantity: float64(a.Seats)}
			a.Lines = append(a.Lines, l)
		}
		out[i] = a
	}
	return out
}
