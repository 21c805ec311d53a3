package affinity

// Segment is the segment of an account.
type Segment uint8

// The segments. An account without one counts in the overall matrix only.
const (
	NoSegment Segment = iota
	Enterprise
	MidMarket
	SMB
	numSegments
)

// ParseSegment reads a segment as accounts carry it; anything else, the empty text included, is NoSegment.
func ParseSegment(s string) Segment {
	switch s {
	case string(ScopeEnterprise):
		return Enterprise
	case string(ScopeMidMarket):
		return MidMarket
	case string(ScopeSMB):
		return SMB
	}
	return NoSegment
}

// Scope names the accounts a matrix is about.
type Scope string

// The scopes, one matrix each.
const (
	ScopeAll        Scope = "all"
	ScopeEnterprise Scope = "Enterprise"
	ScopeMidMarket  Scope = "Mid-Market"
	ScopeSMB        Scope = "SMB"
)

// NumScopes is the number of matrices.
const NumScopes = int(numSegments)

// Scopes lists the scopes in the order of Result.Matrices, which is also that of Segment with NoSegment for all.
func Scopes() [NumScopes]Scope {
	return [NumScopes]Scope{ScopeAll, ScopeEnterprise, ScopeMidMarket, ScopeSMB}
}
