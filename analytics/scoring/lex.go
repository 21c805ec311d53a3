package scoring

import (
	"strings"
	"unicode"

	"revarch/fault"
)

// maxExpr bounds the length of an expression, so that a hostile definition cannot cost more than it is worth.
const maxExpr = 400

// lex splits an expression into numbers, names and operators. Any other character is a fault.Invalid.
func lex(text string) ([]string, error) {
	if len(text) > maxExpr {
		return nil, fault.New(fault.Invalid, "an expression may have at most %d characters", maxExpr)
	}
	var out []string
	rs := []rune(text)
	for i := 0; i < len(rs); {
		r := rs[i]
		j := i + 1
		switch {
		case unicode.IsSpace(r):
			i++
			continue
		case isNameStart(r):
			for j < len(rs) && (isNameStart(rs[j]) || isDigit(rs[j])) {
				j++
			}
		case isDigit(r):
			for j < len(rs) && (isDigit(rs[j]) || rs[j] == '.') {
				j++
			}
		case r == '<' || r == '>' || r == '!':
			if j < len(rs) && rs[j] == '=' {
				j++
			} else if r == '!' {
				return nil, fault.New(fault.Invalid, "%q is not an operator", "!")
			}
		case !strings.ContainsRune("=+-*/()", r):
			return nil, fault.New(fault.Invalid, "%q has no meaning in an expression", string(r))
		}
		out = append(out, string(rs[i:j]))
		i = j
	}
	return out, nil
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isNameStart(r rune) bool {
	return r == '_' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
}
