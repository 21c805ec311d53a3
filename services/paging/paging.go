// Package paging makes the cursors of lists: opaque, signed, and bound to the organization, the list and its filters,
// so that a cursor from elsewhere is refused instead of answering nonsense.
package paging

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/google/uuid"

	"revarch/fault"
)

// Codec signs cursors with a key that all API processes share.
type Codec struct{ key []byte }

// New derives the codec's key from a secret.
func New(secret []byte) Codec {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("revarch cursor v1"))
	return Codec{m.Sum(nil)}
}

const macLen = 16

// Encode makes the cursor of a position in a list. list names it, filters are what the page was asked with.
func (c Codec) Encode(org uuid.UUID, list string, filters, position any) (string, error) {
	body, err := json.Marshal(position)
	if err != nil {
		return "", err
	}
	mac, err := c.mac(org, list, filters, body)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(mac, body...)), nil
}

// Decode reads a cursor made with the same organization, list and filters into position; "" leaves it as it is.
func (c Codec) Decode(cursor string, org uuid.UUID, list string, filters, position any) error {
	if cursor == "" {
		return nil
	}
	refused := fault.WithFields("the cursor is not one of this list with these filters; start again without it",
		fault.FieldError{Field: "cursor", Message: "use next_cursor of the page before, with the same filters"})
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) <= macLen {
		return refused
	}
	mac, err := c.mac(org, list, filters, raw[macLen:])
	if err != nil {
		return err
	}
	if !hmac.Equal(mac, raw[:macLen]) {
		return refused
	}
	if json.Unmarshal(raw[macLen:], position) != nil {
		return refused
	}
	return nil
}

func (c Codec) mac(org uuid.UUID, list string, filters any, body []byte) ([]byte, error) {
	f, err := json.Marshal(filters)
	if err != nil {
		return nil, err
	}
	m := hmac.New(sha256.New, c.key)
	for _, part := range [][]byte{org[:], []byte(list), f, body} {
		h := sha256.Sum256(part)
		m.Write(h[:])
	}
	return m.Sum(nil)[:macLen], nil
}
