package salesforce

import "strings"

// maxQuery is the longest statement that the provider reads.
const maxQuery = 100_000

// lex cuts a statement into tokens; the last one has kind 0.
func lex(text string) ([]token, *apiError) {
	if len(text) > maxQuery {
		return nil, located("", 0, "MALFORMED_QUERY", "SOQL statements cannot be longer than %d characters.", maxQuery)
	}
	var out []token
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case letter(c):
			for i < len(text) && (letter(text[i]) || digit(text[i]) || text[i] == '.') {
				i++
			}
			out = append(out, token{'i', text[start:i], start})
		case digit(c) || (c == '-' || c == '+' || c == '.') && i+1 < len(text) && (digit(text[i+1]) || text[i+1] == '.'):
			for i++; i < len(text) && (digit(text[i]) || letter(text[i]) || strings.IndexByte("+-:.", text[i]) >= 0); i++ {
				continue
			}
			out = append(out, token{'n', text[start:i], start})
		case c == '\'':
			s, end, failure := quoted(text, i)
			if failure != nil {
				return nil, failure
			}
			i = end
			out = append(out, token{'s', s, start})
		default:
			size := 1
			if two := text[i:min(len(text), i+2)]; two == "!=" || two == "<=" || two == ">=" || two == "<>" {
				size = 2
			} else if strings.IndexByte("(),=<>", c) < 0 {
				return nil, located(text, i, "MALFORMED_QUERY", "line 1:%d no viable alternative at character '%c'", i, c)
			}
			out = append(out, token{'p', text[i : i+size], start})
			i += size
		}
	}
	return append(out, token{pos: len(text)}), nil
}

// quoted reads the string literal that begins at i and returns where it ends.
func quoted(text string, i int) (string, int, *apiError) {
	var b strings.Builder
	for k := i + 1; k < len(text); k++ {
		switch text[k] {
		case '\'':
			return b.String(), k + 1, nil
		case '\\':
			k++
			if k >= len(text) {
				break
			}
			at := strings.IndexByte(`nNrRtTbBfF"'\_%`, text[k])
			if at < 0 {
				return "", 0, located(text, k, "MALFORMED_QUERY", "Illegal escape sequence '\\%c'", text[k])
			}
			b.WriteByte("\n\n\r\r\t\t\b\b\f\f\"'\\_%"[at])
		default:
			b.WriteByte(text[k])
		}
	}
	return "", 0, located(text, i, "MALFORMED_QUERY", "unexpected token: '<EOF>' in a string")
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func digit(c byte) bool { return c >= '0' && c <= '9' }
