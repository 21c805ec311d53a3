package salesforce

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// query is a parsed SOQL statement of the subset that sync clients use.
type query struct {
	text   string
	fields []name
	count  bool
	object name
	where  *condition
	order  []order
	limit  int // -1 for none
}

// name is an identifier and where it stands in the text.
type name struct {
	text string
	pos  int
}

type order struct {
	field     name
	desc      bool
	nullsLast bool
}

// condition is a comparison, or kids joined by op "AND", "OR" or "NOT".
type condition struct {
	op     string
	kids   []*condition
	field  name
	values []literal
}

type literalKind int

const (
	litNull literalKind = iota
	litBool
	litString
	litNumber
	litDate
	litDateTime
)

// literal is a value in a condition; text is unescaped, and for instants in the spelling of rows.
type literal struct {
	kind literalKind
	text string
	num  float64
}

// maxDepth bounds nesting, so that no query can exhaust the stack.
const maxDepth = 50

type token struct {
	kind byte // 'i' identifier, 's' string, 'n' number or instant, 'p' punctuation, 0 end
	text string
	pos  int
}

type parser struct {
	text   string
	tokens []token
	at     int
	depth  int
}

// located words an error as the provider does: the text, a caret, the position.
func located(text string, pos int, code, format string, args ...any) *apiError {
	from := max(0, pos-40)
	return fail(http.StatusBadRequest, code, "\n%s\n%s^\nERROR at Row:1:Column:%d\n%s",
		text[from:min(len(text), pos+20)], strings.Repeat(" ", pos-from), pos+1, fmt.Sprintf(format, args...))
}

func (p *parser) unexpected() *apiError {
	t := p.tokens[p.at]
	if t.kind == 0 {
		return located(p.text, t.pos, "MALFORMED_QUERY", "unexpected token: '<EOF>'")
	}
	return located(p.text, t.pos, "MALFORMED_QUERY", "unexpected token: '%s'", t.text)
}

// parse reads a statement.
func parse(text string) (*query, *apiError) {
	tokens, failure := lex(text)
	if failure != nil {
		return nil, failure
	}
	p := &parser{text: text, tokens: tokens}
	q := &query{text: text, limit: -1}
	if !p.word("SELECT") {
		return nil, p.unexpected()
	}
	if failure := p.selection(q); failure != nil {
		return nil, failure
	}
	if !p.word("FROM") {
		return nil, p.unexpected()
	}
	if q.object, failure = p.name(); failure != nil {
		return nil, failure
	}
	if p.word("WHERE") {
		if q.where, failure = p.conditions(); failure != nil {
			return nil, failure
		}
	}
	if failure := p.tail(q); failure != nil {
		return nil, failure
	}
	if p.tokens[p.at].kind != 0 {
		return nil, p.unexpected()
	}
	return q, nil
}

func (p *parser) selection(q *query) *apiError {
	for {
		n, failure := p.name()
		if failure != nil {
			return failure
		}
		if strings.EqualFold(n.text, "COUNT") && p.sign("(") {
			if !p.sign(")") || len(q.fields) > 0 {
				return p.unexpected()
			}
			q.count = true
			return nil
		}
		for _, f := range q.fields {
			if strings.EqualFold(f.text, n.text) {
				return located(p.text, n.pos, "MALFORMED_QUERY", "duplicate field selected: %s", n.text)
			}
		}
		q.fields = append(q.fields, n)
		if !p.sign(",") {
			return nil
		}
	}
}

// tail reads ORDER BY and LIMIT.
func (p *parser) tail(q *query) *apiError {
	if p.word("ORDER") {
		if !p.word("BY") {
			return p.unexpected()
		}
		for more := true; more; more = p.sign(",") {
			n, failure := p.name()
			if failure != nil {
				return failure
			}
			o := order{field: n}
			if !p.word("ASC") {
				o.desc = p.word("DESC")
			}
			if p.word("NULLS") {
				if o.nullsLast = p.word("LAST"); !o.nullsLast && !p.word("FIRST") {
					return p.unexpected()
				}
			}
			q.order = append(q.order, o)
		}
	}
	if p.word("LIMIT") {
		t := p.tokens[p.at]
		n, err := strconv.Atoi(t.text)
		if t.kind != 'n' || err != nil || n < 0 {
			return p.unexpected()
		}
		p.at++
		q.limit = n
	}
	return nil
}

// conditions reads comparisons joined by AND or by OR; mixing the two needs parentheses, as at the provider.
func (p *parser) conditions() (*condition, *apiError) {
	if p.depth++; p.depth > maxDepth {
		return nil, located(p.text, p.tokens[p.at].pos, "MALFORMED_QUERY", "the condition is nested too deeply")
	}
	defer func() { p.depth-- }()
	first, failure := p.single()
	if failure != nil {
		return nil, failure
	}
	c := &condition{kids: []*condition{first}}
	for {
		var op string
		switch {
		case p.word("AND"):
			op = "AND"
		case p.word("OR"):
			op = "OR"
		default:
			if c.op == "" {
				return first, nil
			}
			return c, nil
		}
		if c.op != "" && c.op != op {
			p.at--
			return nil, p.unexpected()
		}
		c.op = op
		next, failure := p.single()
		if failure != nil {
			return nil, failure
		}
		c.kids = append(c.kids, next)
	}
}

func (p *parser) single() (*condition, *apiError) {
	if p.word("NOT") {
		if p.depth++; p.depth > maxDepth {
			return nil, p.unexpected()
		}
		defer func() { p.depth-- }()
		kid, failure := p.single()
		return &condition{op: "NOT", kids: []*condition{kid}}, failure
	}
	if p.sign("(") {
		c, failure := p.conditions()
		if failure != nil {
			return nil, failure
		}
		if !p.sign(")") {
			return nil, p.unexpected()
		}
		return c, nil
	}
	n, failure := p.name()
	if failure != nil {
		return nil, failure
	}
	c := &condition{field: n}
	not := p.word("NOT")
	if p.word("IN") {
		if c.op = "IN"; not {
			c.op = "NOT IN"
		}
		return c, p.list(c)
	}
	t := p.tokens[p.at]
	switch t.text {
	case "=", "!=", "<>", "<", "<=", ">", ">=":
	default:
		return nil, p.unexpected()
	}
	if t.kind != 'p' || not {
		return nil, p.unexpected()
	}
	p.at++
	if c.op = t.text; c.op == "<>" {
		c.op = "!="
	}
	v, failure := p.literal()
	c.values = []literal{v}
	return c, failure
}

func (p *parser) list(c *condition) *apiError {
	if !p.sign("(") {
		return p.unexpected()
	}
	for {
		v, failure := p.literal()
		if failure != nil {
			return failure
		}
		c.values = append(c.values, v)
		if p.sign(")") {
			return nil
		}
		if !p.sign(",") {
			return p.unexpected()
		}
	}
}

var (
	instant = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:?\d{2})$`)
	day     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
)

func (p *parser) literal() (literal, *apiError) {
	t := p.tokens[p.at]
	switch t.kind {
	case 's':
		p.at++
		return literal{kind: litString, text: t.text}, nil
	case 'i':
		for _, w := range []string{"true", "false", "null"} {
			if strings.EqualFold(t.text, w) {
				p.at++
				if w == "null" {
					return literal{kind: litNull, text: w}, nil
				}
				return literal{kind: litBool, text: w}, nil
			}
		}
	case 'n':
		p.at++
		if day.MatchString(t.text) {
			if _, err := time.Parse(dateLayout, t.text); err == nil {
				return literal{kind: litDate, text: t.text}, nil
			}
		}
		if instant.MatchString(t.text) {
			if at, ok := parseTime(t.text); ok {
				return literal{kind: litDateTime, text: at.Format(timeLayout), num: float64(at.UnixMilli())}, nil
			}
		}
		if n, err := strconv.ParseFloat(t.text, 64); err == nil {
			return literal{kind: litNumber, text: t.text, num: n}, nil
		}
		p.at--
	}
	return literal{}, p.unexpected()
}

// word consumes a keyword, whatever its case.
func (p *parser) word(w string) bool {
	if t := p.tokens[p.at]; t.kind == 'i' && strings.EqualFold(t.text, w) {
		p.at++
		return true
	}
	return false
}

func (p *parser) sign(s string) bool {
	if t := p.tokens[p.at]; t.kind == 'p' && t.text == s {
		p.at++
		return true
	}
	return false
}

var reserved = map[string]bool{"SELECT": true, "FROM": true, "WHERE": true, "ORDER": true, "LIMIT": true, "AND": true, "OR": true, "NOT": true, "IN": true}

func (p *parser) name() (name, *apiError) {
	t := p.tokens[p.at]
	if t.kind != 'i' || reserved[strings.ToUpper(t.text)] {
		return name{}, p.unexpected()
	}
	p.at++
	return name{t.text, t.pos}, nil
}
