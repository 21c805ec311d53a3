package data

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// rng is a random source of its own for one concern of one record, so that adding a draw somewhere leaves all other
// records as they were.
type rng struct{ *rand.Rand }

func newRand(seed uint64, concern string, i int) rng {
	h := fnv.New64a()
	_, _ = h.Write([]byte(concern))                                                           // a hash never fails
	return rng{rand.New(rand.NewPCG(seed^h.Sum64(), uint64(i)*0x9E3779B97F4A7C15+h.Sum64()))} //nolint:gosec // G404: reproducible data, no secrets
}

func (r rng) chance(p float64) bool { return r.Float64() < p }

// between returns a whole number from lo to hi, both included.
func (r rng) between(lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// normal draws around mean and clamps to [lo, hi].
func (r rng) normal(mean, sd, lo, hi float64) float64 {
	return math.Min(hi, math.Max(lo, mean+sd*r.NormFloat64()))
}

// count draws a whole number with the given mean.
func (r rng) count(mean float64) int {
	if mean <= 0 {
		return 0
	}
	limit, n, p := math.Exp(-mean), 0, r.Float64()
	for p > limit {
		n++
		p *= r.Float64()
	}
	return n
}

func pick[T any](r rng, from []T) T { return from[r.IntN(len(from))] }

// Null is a value that may be unknown.
type Null[T any] struct {
	V  T
	OK bool
}

// Some returns a known value.
func Some[T any](v T) Null[T] { return Null[T]{V: v, OK: true} }

// blank drops a known value with the share of nulls that a custom field has.
func blank[T any](r rng, v T) Null[T] {
	if r.chance(nullShare) {
		return Null[T]{}
	}
	return Some(v)
}

const nullShare = 0.05
