package affinitytest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"

	"revarch/testkit"
)

// Book makes accounts that own about 12 of n products each as a book of business has them: products come in families of
// five, an account uses three families for most of what they offer and tries a product of another now and then. Members
// of a family are all that speaks for each other, so that an account is left with about ten products to propose.
// A Market is no measure for that: its accounts own 1 to 23 products, so that the large ones own more of everything,
// among 100,000 of them every pair of products is significant, and each of the 48 products an account lacks becomes a
// signal. The same seed gives the same accounts but for their ids.
func Book(seed uint64, accounts, n int) []Account {
	r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // not a secret
	segments := [...]string{"Enterprise", "Mid-Market", "SMB", "SMB", ""}
	families := n / 5
	out := make([]Account, accounts)
	for i := range out {
		a := Account{Segment: segments[r.IntN(len(segments))], Territory: fmt.Sprintf("T%d", r.IntN(20)), Enrollment: 500 + r.Int64N(40_000), Seats: 50 + r.Int64N(4000)}
		own := func(p int) {
			a.Lines = append(a.Lines, Line{Product: p, ARRCents: a.Enrollment * (50 + r.Int64N(500)), Start: Day(2023, 1, 1).AddDate(0, 0, r.IntN(900)), Quantity: float64(a.Seats)})
		}
		for _, f := range r.Perm(families)[:min(5, families)] {
			switch chosen := len(a.Lines); {
			case chosen < 9: // three quarters of a family
				for p := range 5 {
					if r.IntN(4) > 0 {
						own(f*5 + p)
					}
				}
			case r.IntN(4) > 0:
				own(f*5 + r.IntN(5))
			}
		}
		out[i] = a
	}
	return out
}

// SeedBook writes products and the accounts of a Book into an organization, piece by piece, and brings the statistics of
// the tables up to date.
func SeedBook(tb testing.TB, db testkit.DB, org uuid.UUID, accounts, products int) {
	tb.Helper()
	seedPieces(tb, db, org, accounts, products, func(seed uint64, n int) []Account { return Book(seed, n, products) })
}

func seedPieces(tb testing.TB, db testkit.DB, org uuid.UUID, accounts, products int, book func(seed uint64, n int) []Account) {
	tb.Helper()
	made := Products(products)
	for seed := uint64(1); accounts > 0; seed++ {
		n := min(accounts, 10_000)
		Seed(tb, db, org, made, book(seed, n))
		accounts -= n
	}
	db.Exec(tb, "VACUUM ANALYZE accounts, account_products, subscription_lines")
	db.Exec(tb, "CHECKPOINT") // writing these rows is no part of what is measured
}
