package connections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// Validation is the result of checking a connection, one check after the other.
type Validation struct {
	OK           bool    `json:"ok"`
	AccountLabel string  `json:"account_label"`
	Checks       []Check `json:"checks"`
}

// Check is one thing that was looked at.
type Check struct {
	Name    string `json:"name" enum:"credentials,account,objects,mappings"`
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Validate checks credentials, account, readable objects and mappings against the provider as it is now. A refusal is
// a failed check, not an error. Faults: Denied, NotFound, Conflict when not connected.
func (s *Service) Validate(ctx context.Context, p auth.Principal, provider models.Provider) (Validation, error) {
	if err := p.Require(auth.PermOperate); err != nil {
		return Validation{}, err
	}
	impl, err := s.provider(provider)
	if err != nil {
		return Validation{}, err
	}
	c, err := s.load(ctx, p.OrgID, provider)
	if err != nil {
		return Validation{}, err
	}
	if c.Status == models.ConnDisconnected {
		return Validation{}, notConnected(provider)
	}
	v := Validation{AccountLabel: c.AccountLabel, Checks: []Check{}}
	account, err := impl.Open(&tokens{s: s, org: p.OrgID, provider: provider}).Validate(ctx)
	if !v.add("credentials", err, "The provider accepts the connection.") {
		return v, ctx.Err()
	}
	if account.ID != c.AccountID {
		err = fault.New(fault.Conflict, "The provider answers for another account than the connected one.")
	}
	if !v.add("account", err, "Connected to "+c.AccountLabel+".") {
		return v, nil
	}
	_, drift, err := s.discover(ctx, p.OrgID, impl)
	if !v.add("objects", err, "Objects and fields can be read.") {
		return v, ctx.Err()
	}
	if len(drift.Unmapped) > 0 {
		shown := drift.Unmapped[:min(len(drift.Unmapped), 10)]
		err = fault.New(fault.SchemaDrift, "Mapped fields that can no longer be read: %s.", strings.Join(shown, ", "))
	}
	v.add("mappings", err, "Every mapped field can be read.")
	v.OK = !slices.ContainsFunc(v.Checks, func(c Check) bool { return !c.OK })
	if v.OK && c.Status == models.ConnError {
		err := s.store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
			now, _, err := tx.LockConnection(provider)
			if err != nil || now.Status != models.ConnError {
				return err
			}
			return tx.SetConnectionStatus(provider, models.ConnConnected, "", "", s.now())
		})
		if err != nil {
			return v, fmt.Errorf("clear error: %w", err)
		}
	}
	return v, nil
}

func (v *Validation) add(name string, err error, fine string) bool {
	c := Check{Name: name, OK: err == nil, Message: fine}
	if err != nil {
		c.Code, c.Message = string(fault.CodeOf(err)), fault.Public(err)
	}
	v.Checks = append(v.Checks, c)
	return c.OK
}
