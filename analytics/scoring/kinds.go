package scoring

import (
	"strings"

	"revarch/fault"
)

// Model is one of the four scores. Its text form is used in JSON, rule definitions and storage.
type Model uint8

// The models, in storage order. They are computed in the order of ComputeOrder.
const (
	Health Model = iota
	Risk
	Priority
	Expansion
	NumModels = 4
)

var modelNames = [NumModels]string{"health", "risk", "priority", "expansion"}

// ComputeOrder returns the order in which models must be scored: priority reads the risk composite.
func ComputeOrder() [NumModels]Model { return [NumModels]Model{Health, Risk, Expansion, Priority} }

// String returns the model's wire name.
func (m Model) String() string { return nameAt(modelNames[:], int(m)) }

// MarshalText writes the wire name.
func (m Model) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a wire name; an unknown one is a fault.Invalid.
func (m *Model) UnmarshalText(b []byte) error { return parseName(m, "model", modelNames[:], string(b)) }

// ParseModel reads a wire name; an unknown one is a fault.Invalid.
func ParseModel(s string) (m Model, err error) { return m, m.UnmarshalText([]byte(s)) }

// Category is one of the eight groups of rules inside each model.
type Category uint8

// The categories, in the order in which decompositions list them.
const (
	Adoption Category = iota
	Relationship
	Engagement
	Support
	Commercial
	Outcomes
	Funding
	Fit
	NumCategories = 8
)

var categoryNames = [NumCategories]string{
	"adoption", "relationship", "engagement", "support", "commercial", "outcomes", "funding", "fit",
}

// String returns the category's wire name.
func (c Category) String() string { return nameAt(categoryNames[:], int(c)) }

// MarshalText writes the wire name.
func (c Category) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a wire name; an unknown one is a fault.Invalid.
func (c *Category) UnmarshalText(b []byte) error {
	return parseName(c, "category", categoryNames[:], string(b))
}

// Segment is the size class of an account; NoSegment is an account whose segment is not known.
type Segment uint8

// The segments.
const (
	NoSegment Segment = iota
	Enterprise
	MidMarket
	SMB
	NumSegments = 4
)

var segmentNames = [NumSegments]string{"", "Enterprise", "Mid-Market", "SMB"}

// String returns the segment's wire name, "" for NoSegment.
func (s Segment) String() string { return nameAt(segmentNames[:], int(s)) }

// MarshalText writes the wire name.
func (s Segment) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a wire name; an unknown one is a fault.Invalid.
func (s *Segment) UnmarshalText(b []byte) error {
	return parseName(s, "segment", segmentNames[:], string(b))
}

// ParseSegment returns the segment of a wire name. Anything else is NoSegment, which scores without multipliers.
func ParseSegment(s string) Segment {
	for i, n := range segmentNames {
		if n == s {
			return Segment(i)
		}
	}
	return NoSegment
}

// Confidence says how far a composite can be trusted: high, medium, low or none.
type Confidence string

// The confidences, by coverage: from 0.8, from 0.5, from 0.3, below.
const (
	HighConfidence   Confidence = "high"
	MediumConfidence Confidence = "medium"
	LowConfidence    Confidence = "low"
	NoConfidence     Confidence = "none"
)

// coverageSlack absorbs rounding of the weights, so that a coverage of exactly 0.3 is not read as just below.
const coverageSlack = 1e-9

// ConfidenceOf returns the confidence of a coverage between 0 and 1.
func ConfidenceOf(coverage float64) Confidence {
	switch coverage += coverageSlack; {
	case coverage >= 0.8:
		return HighConfidence
	case coverage >= 0.5:
		return MediumConfidence
	case coverage >= 0.3:
		return LowConfidence
	}
	return NoConfidence
}

// Status says whether a composite exists.
type Status string

// The statuses.
const (
	StatusOK               Status = "ok"
	StatusInsufficientData Status = "insufficient_data" // coverage below 0.3: the composite is null
)

func nameAt(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

func parseName[T ~uint8](dst *T, what string, names []string, s string) error {
	for i, n := range names {
		if n == s {
			*dst = T(i)
			return nil
		}
	}
	return fault.New(fault.Invalid, "%q is not a %s; expected one of %s", s, what, strings.Join(names, ", "))
}
