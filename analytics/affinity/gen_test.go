package affinity_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/analytics/affinity"
)

// productID is a product whose place in the order of ids is its number.
func productID(i int) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint32(id[12:], uint32(i)+1)
	return id
}

func products(n int) []uuid.UUID {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = productID(i)
	}
	return ids
}

func compute(t require.TestingT, n int, rows []affinity.Row) *affinity.Result {
	acc, err := affinity.New(products(n))
	require.NoError(t, err)
	for _, r := range rows {
		require.NoError(t, acc.Add(r))
	}
	return acc.Finish()
}

// owns is an Enterprise account that owns these products, bought on unknown days.
func owns(ps ...uint16) affinity.Row {
	r := affinity.Row{Segment: affinity.Enterprise}
	for _, p := range ps {
		r.Owned = append(r.Owned, affinity.Owned{Product: p, Start: affinity.NoDate})
	}
	return r
}

func repeat(n int, r affinity.Row) []affinity.Row { return slices.Repeat([]affinity.Row{r}, n) }

// example is the worked example of the definitions: n 200, n_a 80, n_b 50, n_ab 35.
func example() []affinity.Row {
	return slices.Concat(repeat(35, owns(0, 1)), repeat(45, owns(0)), repeat(15, owns(1)), repeat(105, owns()))
}

// anyRows draws accounts that lean towards owning products together, in some order, with repeated lines.
func anyRows(t *rapid.T, nProducts int) []affinity.Row {
	n := rapid.SampledFrom([]int{0, 1, 2, 5, 29, 30, 60, 99, 100, 180}).Draw(t, "accounts")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	density := rapid.SampledFrom([]float64{0.02, 0.2, 0.5, 0.95, 1}).Draw(t, "density")
	rows := make([]affinity.Row, n)
	for i := range rows {
		rows[i] = randomRow(rng, nProducts, density)
	}
	return rows
}

func randomRow(rng *rand.Rand, nProducts int, density float64) affinity.Row {
	r := affinity.Row{Segment: affinity.Segment(rng.IntN(4))}
	last := false
	for p := range nProducts {
		d := density
		if last {
			d = min(1, d*1.5)
		}
		last = rng.Float64() < d
		for range 1 + rng.IntN(5)/3 {
			if !last {
				break
			}
			o := affinity.Owned{Product: uint16(p), Start: int32(rng.IntN(4)), Bundle: uint64(rng.IntN(2))}
			if rng.IntN(6) == 0 {
				o.Start = affinity.NoDate
			}
			r.Owned = append(r.Owned, o)
		}
	}
	rng.Shuffle(len(r.Owned), func(i, j int) { r.Owned[i], r.Owned[j] = r.Owned[j], r.Owned[i] })
	return r
}

// stream makes the rows of a benchmark one after the other: mean products per account of nProducts, bought in clusters.
func stream(b *testing.B, nAccounts, nProducts, mean int, add func(affinity.Row)) (records int) {
	b.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	owned := make([]affinity.Owned, 0, nProducts)
	for i := range nAccounts {
		owned = owned[:0]
		want, at := rng.IntN(2*mean)+1, 0
		for k := range want {
			at += 1 + rng.IntN(max(1, 2*(nProducts-at)/(want-k+1)-1))
			if at > nProducts {
				break
			}
			owned = append(owned, affinity.Owned{Product: uint16(at - 1), Start: int32(15000 + rng.IntN(3000)), Bundle: uint64(rng.IntN(3))})
		}
		records += len(owned)
		add(affinity.Row{Segment: affinity.Segment(1 + i%3), Owned: owned})
	}
	return records
}
