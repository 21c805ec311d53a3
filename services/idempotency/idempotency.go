// Package idempotency lets a caller repeat a write: under the same key the first answer comes back for a day and nothing
// is written twice. What belongs here: remembering answers inside the write's own transaction, and nothing about any
// particular write.
package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// Life is how long an answer is remembered.
const Life = 24 * time.Hour

// maxKey is the longest key a caller may send.
const maxKey = 200

// Request says what is being done, under which key; an empty key remembers nothing.
type Request struct {
	Key   string
	Tool  string
	Input any // what was asked, without the key; another input under the same key is a Conflict
}

// Once runs write in the transaction unless the caller's key has been used: then it returns the first answer, with
// replayed true. A write that fails leaves the key free, because the transaction is undone. T must survive JSON. Call
// it first in the transaction: of two at the same time, the second waits here for the first. Faults: Invalid, Conflict.
func Once[T any](tx *store.Tx, p auth.Principal, now time.Time, r Request, write func() (T, error)) (answer T, replayed bool, err error) {
	if r.Key == "" {
		answer, err = write()
		return answer, false, err
	}
	if len(r.Key) > maxKey {
		return answer, false, fault.WithFields("the idempotency key is too long",
			fault.FieldError{Field: "idempotency_key", Message: fmt.Sprintf("use at most %d characters, such as a UUID", maxKey)})
	}
	input, err := json.Marshal([]any{r.Tool, r.Input})
	if err != nil {
		return answer, false, fmt.Errorf("encode request: %w", err)
	}
	hash := sha256.Sum256(input)
	first, err := tx.LockIdempotencyKey(p.Actor(), r.Key, now)
	if err != nil {
		return answer, false, err
	}
	if first != nil {
		if !bytes.Equal(first.RequestHash, hash[:]) {
			return answer, false, fault.New(fault.Conflict, "this idempotency key was used for another request; send a new key with a new request")
		}
		if err := json.Unmarshal(first.Response, &answer); err != nil {
			return answer, false, fmt.Errorf("decode remembered answer: %w", err)
		}
		return answer, true, nil
	}
	if answer, err = write(); err != nil {
		return answer, false, err
	}
	response, err := json.Marshal(answer)
	if err != nil {
		return answer, false, fmt.Errorf("encode answer: %w", err)
	}
	return answer, false, tx.SaveIdempotencyKey(models.IdempotencyKey{
		Principal: p.Actor(), Key: r.Key, Tool: r.Tool, RequestHash: hash[:],
		Response: response, CreatedAt: now, ExpiresAt: now.Add(Life),
	})
}
