package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"

	"golang.org/x/crypto/argon2"
)

// KeyPrefix starts every API key; DisplayPrefixLen characters of a key tell it apart to people.
const (
	KeyPrefix        = "rk_"
	DisplayPrefixLen = 8
)

// keyBytes is the entropy of every secret we make.
const keyBytes = 32

// NewKey returns a new API key: "rk_" and 32 random bytes in base62.
func NewKey() string { return KeyPrefix + randomBase62() }

// NewToken returns a new random token for cookies, links and OAuth state, 256 bits in base62.
func NewToken() string { return randomBase62() }

func randomBase62() string {
	b := make([]byte, keyBytes)
	_, _ = rand.Read(b) // never fails
	s := new(big.Int).SetBytes(b).Text(62)
	return strings.Repeat("0", 43-len(s)) + s // 62^43 > 2^256: a fixed length says nothing about the value
}

// HashSecret is how keys and tokens are stored: SHA-256 is enough for 256 random bits.
func HashSecret(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

// argon2id parameters, as RFC 9106 recommends for memory-constrained use.
const (
	argonTime, argonMemory, argonThreads = 3, 64 * 1024, 2
	argonSalt, argonLen                  = 16, 32
)

// HashPassword returns the argon2id PHC string of a password.
func HashPassword(password string) string {
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt)
	sum := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonLen)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

// CheckPassword reports whether the password belongs to the PHC string. An empty or malformed string costs the same
// time as a real one, so that a missing user cannot be told by the clock.
func CheckPassword(phc, password string) bool {
	var version, memory, time, threads int
	parts := strings.Split(phc, "$")
	ok := len(parts) == 6 && parts[1] == "argon2id"
	if ok {
		_, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &time, &threads)
		ok = err == nil && version == argon2.Version && memory > 0 && memory <= 1<<20 && time > 0 && time <= 16 && threads > 0 && threads <= 16
	}
	if !ok {
		argon2.IDKey([]byte(password), make([]byte, argonSalt), argonTime, argonMemory, argonThreads, argonLen)
		return false
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(want) == 0 {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, uint32(time), uint32(memory), uint8(threads), uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1
}
