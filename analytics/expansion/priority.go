package expansion

import "math"

// Basis is a set of the parts a priority was computed from.
type Basis uint8

// The parts.
const (
	BasisExpectedARR Basis = 1 << iota
	BasisExpansion
	BasisReadiness
	BasisWindow
	BasisICPFit
)

// Names lists the parts in the set as they are called on the wire; never nil.
func (b Basis) Names() []string {
	names := make([]string, 0, 5)
	for i, name := range [...]string{"expected_arr", "expansion", "readiness", "window", "icp_fit"} {
		if b&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// The weights of the parts.
const (
	weightExpectedARR = 0.40
	weightExpansion   = 0.20
	weightReadiness   = 0.15
	weightWindow      = 0.15
	weightICPFit      = 0.10
)

// merit is what an account brings to the priority of each of its signals: the weighted sum of the parts that are
// known, their weight and which they are.
type merit struct {
	sum, weight float64
	basis       Basis
}

func meritOf(a *Account) merit {
	var m merit
	m.add(BasisExpansion, weightExpansion, a.Expansion, 100)
	m.add(BasisReadiness, weightReadiness, a.Readiness, 100)
	if a.WindowDays != nil {
		open := 1 - max(0, *a.WindowDays)/180
		m.add(BasisWindow, weightWindow, &open, 1)
	}
	m.add(BasisICPFit, weightICPFit, a.ICPFit, 100)
	return m
}

func (m *merit) add(part Basis, weight float64, v *float64, top float64) {
	if v == nil || math.IsNaN(*v) {
		return
	}
	m.sum += weight * max(0, min(1, *v/top))
	m.weight += weight
	m.basis |= part
}

// priority returns the priority of a signal whose expected ARR has that percentile rank, nil when it has none; false
// when no part is known.
func (m merit) priority(rank *float64, g Gate) (float64, Basis, bool) {
	m.add(BasisExpectedARR, weightExpectedARR, rank, 1)
	if m.weight == 0 {
		return 0, 0, false
	}
	p := 100 * m.sum / m.weight
	if g.Failed != 0 {
		p /= 2
	}
	return p, m.basis, true
}
