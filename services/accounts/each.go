package accounts

import (
	"context"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/store"
)

// EachContact calls fn with the live contacts of an account, or of all with nil, batch by batch. Faults: Denied,
// NotFound.
func (s *Service) EachContact(ctx context.Context, p auth.Principal, account *uuid.UUID, fn func([]Contact) error) error {
	return each(ctx, s, p, account, fn, func(tx *store.Tx, after uuid.UUID) ([]Contact, error) {
		rows, err := tx.Contacts(account, after, eachBatch)
		return toContacts(rows), err
	}, func(c Contact) uuid.UUID { return c.ContactID })
}

// OpportunityFilter selects deals; zero fields select everything.
type OpportunityFilter = store.OpportunityFilter

// EachOpportunity calls fn with the selected live deals, batch by batch, and the currency of their money. Faults:
// Denied, NotFound.
func (s *Service) EachOpportunity(ctx context.Context, p auth.Principal, f OpportunityFilter, fn func(rows []Opportunity, currency string) error) error {
	var currency string
	return each(ctx, s, p, f.AccountID, func(rows []Opportunity) error { return fn(rows, currency) }, func(tx *store.Tx, after uuid.UUID) ([]Opportunity, error) {
		o, err := tx.Organization()
		if err != nil {
			return nil, err
		}
		currency = o.ReportingCurrency
		rows, err := tx.Opportunities(f, after, eachBatch)
		return toOpportunities(rows), err
	}, func(o Opportunity) uuid.UUID { return o.OpportunityID })
}

func each[T any](ctx context.Context, s *Service, p auth.Principal, account *uuid.UUID, fn func([]T) error,
	load func(*store.Tx, uuid.UUID) ([]T, error), id func(T) uuid.UUID,
) error {
	if err := p.Require(auth.PermRead); err != nil {
		return err
	}
	for after := uuid.Nil; ; {
		var rows []T
		err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
			if account != nil && after == uuid.Nil {
				if _, err := live(tx, *account); err != nil {
					return err
				}
			}
			var err error
			rows, err = load(tx, after)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		after = id(rows[len(rows)-1])
		if err := fn(rows); err != nil {
			return err
		}
	}
}
