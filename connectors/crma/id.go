package crma

// idAlphabet encodes five case bits in each of the three checksum characters of an 18-character id.
const idAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"

// longID returns the 18-character form of a record id: a 15-character one gets its checksum, an 18-character one
// stays. What is not an id becomes "".
func longID(id string) string {
	if (len(id) != 15 && len(id) != 18) || !alphanumeric(id) {
		return ""
	}
	if len(id) == 18 {
		return id
	}
	out := make([]byte, 15, 18)
	copy(out, id)
	for block := 0; block < 15; block += 5 {
		bits := 0
		for i := range 5 {
			if c := id[block+i]; c >= 'A' && c <= 'Z' {
				bits |= 1 << i
			}
		}
		out = append(out, idAlphabet[bits])
	}
	return string(out)
}

func alphanumeric(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
