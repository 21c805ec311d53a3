package scoring

import (
	"slices"
	"strconv"

	"revarch/fault"
)

// operand is what the parser knows of a piece of an expression. A label is a bare word waiting for the enumeration
// that it is compared with; lit is then the index of the constant to fill in.
type operand struct {
	kind   Kind
	labels []string
	label  string
	lit    int
}

// parser reads or > and > not > comparison > sum > product > sign > primary and emits postfix code.
type parser struct {
	toks  []string
	pos   int
	code  program
	depth int
	value *operand // what "value" means, nil outside thresholds
}

// parseExpr compiles a rule's expression.
func parseExpr(text string) (program, operand, error) { return parse(text, nil) }

// parseCondition compiles a threshold over the rule's value. "< 0.35" is short for "value < 0.35" and "true" for
// "value = true"; further clauses may name features.
func parseCondition(text string, value operand) (program, error) {
	toks, err := lex(text)
	if err != nil {
		return nil, err
	}
	switch {
	case len(toks) == 1 && (toks[0] == "true" || toks[0] == "false"):
		text = "value = " + toks[0]
	case len(toks) > 0 && comparison(toks[0]) != 0:
		text = "value " + text
	}
	code, got, err := parse(text, &value)
	if err == nil && got.kind != Bool {
		err = fault.New(fault.Invalid, "a threshold must be a condition")
	}
	return code, err
}

func parse(text string, value *operand) (program, operand, error) {
	toks, err := lex(text)
	if err != nil {
		return nil, operand{}, err
	}
	p := &parser{toks: toks, value: value}
	got, err := p.logic("or", opOr, func() (operand, error) { return p.logic("and", opAnd, p.not) })
	switch {
	case err != nil:
		return nil, operand{}, err
	case p.pos < len(p.toks):
		return nil, operand{}, fault.New(fault.Invalid, "%q is not expected in %q", p.toks[p.pos], text)
	case got.label != "":
		return nil, operand{}, fault.New(fault.Invalid, "%q is not a feature", got.label)
	case p.code.stack() > maxStack:
		return nil, operand{}, fault.New(fault.Invalid, "an expression is nested too deeply")
	}
	return p.code, got, nil
}

func (p *parser) peek() string {
	if p.pos < len(p.toks) {
		return p.toks[p.pos]
	}
	return ""
}

func (p *parser) accept(tok string) bool {
	if tok != "" && p.peek() == tok {
		p.pos++
		return true
	}
	return false
}

func (p *parser) emit(c opcode) { p.code = append(p.code, op{code: c}) }

func (p *parser) logic(word string, c opcode, next func() (operand, error)) (operand, error) {
	left, err := next()
	for err == nil && p.accept(word) {
		var right operand
		if right, err = next(); err == nil {
			err = wantBoth(word, Bool, left, right)
			p.emit(c)
		}
	}
	return left, err
}

func (p *parser) not() (operand, error) {
	if !p.accept("not") {
		return p.comparison()
	}
	if p.depth++; p.depth > maxStack*2 {
		return operand{}, fault.New(fault.Invalid, "an expression is nested too deeply")
	}
	x, err := p.not()
	if err == nil {
		err = wantBoth("not", Bool, x, x)
		p.emit(opNot)
	}
	p.depth--
	return x, err
}

func (p *parser) comparison() (operand, error) {
	left, err := p.sum()
	if err != nil {
		return left, err
	}
	word := p.peek()
	c := comparison(word)
	if c == 0 {
		return left, nil
	}
	p.pos++
	right, err := p.sum()
	if err != nil {
		return right, err
	}
	if err := p.match(&left, &right, word, c); err != nil {
		return left, err
	}
	p.emit(c)
	return operand{kind: Bool}, nil
}

// match checks that both sides of a comparison are of one kind and gives a bare word its code.
func (p *parser) match(left, right *operand, word string, c opcode) error {
	for _, side := range [2][2]*operand{{left, right}, {right, left}} {
		lit, other := side[0], side[1]
		if lit.label == "" || other.label != "" {
			continue
		}
		i := slices.Index(other.labels, lit.label)
		if i < 0 {
			return fault.New(fault.Invalid, "%q is neither a feature nor a value to compare with", lit.label)
		}
		p.code[lit.lit].num = float64(i)
		*lit = *other
	}
	if left.label != "" {
		return fault.New(fault.Invalid, "%q is not a feature", left.label)
	}
	if left.kind != right.kind || !slices.Equal(left.labels, right.labels) {
		return fault.New(fault.Invalid, "%q cannot compare a %s with a %s", word, left.kind, right.kind)
	}
	if left.kind != Number && c != opEqual && c != opNotEqual {
		return fault.New(fault.Invalid, "%q needs numbers", word)
	}
	return nil
}

func (p *parser) sum() (operand, error) {
	return p.arithmetic("+", opAdd, "-", opSub, func() (operand, error) {
		return p.arithmetic("*", opMul, "/", opDiv, p.sign)
	})
}

func (p *parser) arithmetic(w1 string, c1 opcode, w2 string, c2 opcode, next func() (operand, error)) (operand, error) {
	left, err := next()
	for err == nil {
		word, c := w1, c1
		if p.peek() == w2 {
			word, c = w2, c2
		}
		if !p.accept(word) {
			break
		}
		var right operand
		if right, err = next(); err == nil {
			err = wantBoth(word, Number, left, right)
			p.emit(c)
		}
	}
	return left, err
}

func (p *parser) sign() (operand, error) {
	if p.depth++; p.depth > maxStack*2 {
		return operand{}, fault.New(fault.Invalid, "an expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	if !p.accept("-") {
		return p.primary()
	}
	x, err := p.sign()
	if err == nil {
		err = wantBoth("-", Number, x, x)
		if last := len(p.code) - 1; p.code[last].code == opConst {
			p.code[last].num = -p.code[last].num // keeps "< -0.2" on the fast path
		} else {
			p.emit(opNeg)
		}
	}
	return x, err
}

func (p *parser) primary() (operand, error) {
	tok := p.peek()
	if tok == "" {
		return operand{}, fault.New(fault.Invalid, "an expression ends too early")
	}
	p.pos++
	if tok == "(" {
		return p.group()
	}
	if isDigit(rune(tok[0])) {
		v, err := strconv.ParseFloat(tok, 64)
		if err != nil {
			return operand{}, fault.New(fault.Invalid, "%q is not a number", tok)
		}
		p.code = append(p.code, op{code: opConst, num: v})
		return operand{}, nil
	}
	if !isNameStart(rune(tok[0])) {
		return operand{}, fault.New(fault.Invalid, "%q is not expected in an expression", tok)
	}
	return p.name(tok)
}

func (p *parser) group() (operand, error) {
	x, err := p.logic("or", opOr, func() (operand, error) { return p.logic("and", opAnd, p.not) })
	if err == nil && !p.accept(")") {
		err = fault.New(fault.Invalid, "a parenthesis is not closed")
	}
	return x, err
}

func (p *parser) name(tok string) (operand, error) {
	switch tok {
	case "true", "false":
		p.code = append(p.code, op{code: opConst, num: truth(tok == "true")})
		return operand{kind: Bool}, nil
	case "abs", "log10":
		if !p.accept("(") {
			return operand{}, fault.New(fault.Invalid, "%s needs an argument in parentheses", tok)
		}
		x, err := p.group()
		if err == nil {
			err = wantBoth(tok, Number, x, x)
			p.emit(map[string]opcode{"abs": opAbs, "log10": opLog10}[tok])
		}
		return x, err
	case "and", "or", "not":
		return operand{}, fault.New(fault.Invalid, "%q is not expected in an expression", tok)
	case "value":
		if p.value != nil {
			p.emit(opValue)
			return *p.value, nil
		}
	}
	if f, ok := FeatureByName(tok); ok {
		p.code = append(p.code, op{code: opFeature, feat: f})
		info := f.Info()
		return operand{kind: info.Kind, labels: info.Labels}, nil
	}
	p.code = append(p.code, op{code: opConst})
	return operand{kind: Enum, label: tok, lit: len(p.code) - 1}, nil
}

func wantBoth(word string, k Kind, a, b operand) error {
	for _, x := range [2]operand{a, b} {
		if x.label != "" {
			return fault.New(fault.Invalid, "%q is not a feature", x.label)
		}
		if x.kind != k {
			return fault.New(fault.Invalid, "%q needs a %s, not a %s", word, k, x.kind)
		}
	}
	return nil
}

// comparison returns the code of a comparison operator, 0 (which is no comparison) for any other word.
func comparison(word string) opcode {
	switch word {
	case "<":
		return opLess
	case "<=":
		return opLessEq
	case ">":
		return opGreater
	case ">=":
		return opGreaterEq
	case "=":
		return opEqual
	case "!=":
		return opNotEqual
	}
	return 0
}

// stack returns how many values the program holds at once.
func (p program) stack() int {
	n, most := 0, 0
	for _, o := range p {
		switch o.code {
		case opConst, opFeature, opValue:
			n++
		case opNeg, opAbs, opLog10, opNot:
		default:
			n--
		}
		most = max(most, n)
	}
	return most
}

// features lists the features a program reads, each once, in order of appearance.
func (p program) features() []Feature {
	var out []Feature
	for _, o := range p {
		if o.code == opFeature && !slices.Contains(out, o.feat) {
			out = append(out, o.feat)
		}
	}
	return out
}
