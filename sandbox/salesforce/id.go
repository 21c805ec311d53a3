package salesforce

import "strings"

const (
	base62   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	suffixes = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
)

// makeID builds the 18-character id of the n-th record of an object: key prefix, pod, number, checksum.
func makeID(prefix string, n uint64) string {
	id := [15]byte{}
	copy(id[:], prefix)
	copy(id[3:], "5g0")
	for i := 14; i >= 6; i-- {
		id[i] = base62[n%62]
		n /= 62
	}
	return withChecksum(string(id[:]))
}

// withChecksum appends the three characters that make a 15-character id safe to compare without case: each encodes
// which of five characters are upper case.
func withChecksum(id15 string) string {
	out := []byte(id15)
	for block := range 3 {
		bits := 0
		for i := range 5 {
			if c := id15[block*5+i]; c >= 'A' && c <= 'Z' {
				bits |= 1 << i
			}
		}
		out = append(out, suffixes[bits])
	}
	return string(out)
}

// normalID returns the 18-character form of an id, and whether s is an id at all.
func normalID(s string) (string, bool) {
	if len(s) != 15 && len(s) != 18 {
		return "", false
	}
	for _, c := range s {
		if !strings.ContainsRune(base62, c) {
			return "", false
		}
	}
	full := withChecksum(s[:15])
	return full, len(s) == 15 || strings.EqualFold(s[15:], full[15:])
}
