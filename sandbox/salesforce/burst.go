package salesforce

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"revarch/sandbox/control"
	"revarch/sandbox/data"
)

// burst makes n random changes as a busy hour would: usage figures, people, deals, tasks, a few deletions.
func (s *store) burst(n int, seed uint64) (control.BurstResult, *apiError) {
	rnd := rand.New(rand.NewPCG(seed, uint64(n))) //nolint:gosec // G404: reproducible changes, no secrets
	var out control.BurstResult
	for range n {
		var failure *apiError
		switch x := rnd.Float64(); {
		case x < 0.55:
			failure = s.touch(rnd, "account", &out, map[string]any{
				"Active_Users_28d__c": rnd.IntN(9000), "Open_P1__c": rnd.IntN(3),
				"CSAT_90d__c": float64(10+rnd.IntN(41)) / 10, "Overdue_Days__c": rnd.IntN(90),
			})
		case x < 0.70:
			failure = s.touch(rnd, "contact", &out, map[string]any{"Title": fmt.Sprintf("Coordinator, Region %d", 1+rnd.IntN(40))})
		case x < 0.82:
			failure = s.touch(rnd, "opportunity", &out, map[string]any{"StageName": data.Stages[rnd.IntN(len(data.Stages))].Name})
		case x < 0.92:
			failure = s.attach(rnd, "task", &out, map[string]any{
				"Subject": "Follow-up call", "Status": "Completed", "TaskSubtype": "Call",
				"ActivityDate": s.now().Format(dateLayout),
			}, "WhatId")
		case x < 0.97:
			failure = s.attach(rnd, "contact", &out, map[string]any{"FirstName": "Jordan", "LastName": fmt.Sprintf("Reyes %d", rnd.IntN(10_000))}, "AccountId")
		default:
			if id, ok := s.any(rnd, "contact"); ok {
				failure = s.remove("contact", id, false)
				out.Deleted++
			}
		}
		if failure != nil {
			return out, failure
		}
	}
	return out, nil
}

// any picks a live record.
func (s *store) any(rnd *rand.Rand, object string) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows := s.byName[object].rows
	for range 50 {
		if len(rows) == 0 {
			break
		}
		if r := rows[rnd.IntN(len(rows))]; !r.deleted {
			return r.id, true
		}
	}
	return "", false
}

func (s *store) touch(rnd *rand.Rand, object string, out *control.BurstResult, fields map[string]any) *apiError {
	id, ok := s.any(rnd, object)
	if !ok {
		return nil
	}
	out.Updated++
	_, failure := s.update(object, id, marshal(fields), false)
	return failure
}

func (s *store) attach(rnd *rand.Rand, object string, out *control.BurstResult, fields map[string]any, parent string) *apiError {
	id, ok := s.any(rnd, "account")
	if !ok {
		return nil
	}
	fields[parent] = id
	out.Created++
	_, failure := s.create(object, marshal(fields), false)
	return failure
}

func marshal(fields map[string]any) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(fields))
	for k, v := range fields {
		out[k], _ = json.Marshal(v) // plain values always marshal
	}
	return out
}
