// Package auth says who is asking and what they may do: principals, roles, scopes, and the one table that ties them
// together. It also makes and hashes secrets. It does no I/O; sessions and keys are loaded by services/identity.
package auth

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"revarch/fault"
)

// Role is a member's role in an organization.
type Role string

// The roles, weakest first. Operator exists in the system organization only.
const (
	Viewer   Role = "viewer"
	Rep      Role = "rep"
	Manager  Role = "manager"
	Admin    Role = "admin"
	Operator Role = "operator"
)

// Scope is what an API key may do.
type Scope string

// The scopes of API keys.
const (
	ScopeRead             Scope = "read"
	ScopeWriteSafe        Scope = "write_safe"
	ScopeWriteDestructive Scope = "write_destructive"
	ScopeAdmin            Scope = "admin"
)

// Scopes lists every scope, weakest first.
var Scopes = []Scope{ScopeRead, ScopeWriteSafe, ScopeWriteDestructive, ScopeAdmin}

// Permission is one thing that may be done; surfaces ask for permissions, never for roles.
type Permission string

// The permissions.
const (
	PermRead             Permission = "read"              // read anything of the organization
	PermWrite            Permission = "write"             // tasks, signals, plays, expansion status
	PermWriteDestructive Permission = "write_destructive" // writes that overwrite
	PermOperate          Permission = "operate"           // overrides, syncs, imports
	PermExport           Permission = "export"            // whole lists as files
	PermAdmin            Permission = "admin"             // settings, keys, members, calibration, connections
	PermPlatform         Permission = "platform"          // datasets of the platform
)

// rule is one row of the table that every surface enforces.
type rule struct {
	roles  []Role
	scopes []Scope
}

// An export changes nothing and gives a key no row that it cannot read page by page, so a key needs read for it and no
// more; no other scope includes reading. Among people it is for managers, who carry data out of the product.
var table = map[Permission]rule{
	PermRead:             {roles: []Role{Viewer, Rep, Manager, Admin, Operator}, scopes: []Scope{ScopeRead}},
	PermWrite:            {roles: []Role{Rep, Manager, Admin, Operator}, scopes: []Scope{ScopeWriteSafe}},
	PermWriteDestructive: {roles: []Role{Rep, Manager, Admin, Operator}, scopes: []Scope{ScopeWriteDestructive}},
	PermOperate:          {roles: []Role{Manager, Admin, Operator}, scopes: []Scope{ScopeWriteDestructive, ScopeAdmin}},
	PermExport:           {roles: []Role{Manager, Admin, Operator}, scopes: []Scope{ScopeRead}},
	PermAdmin:            {roles: []Role{Admin, Operator}, scopes: []Scope{ScopeAdmin}},
	PermPlatform:         {roles: []Role{Operator}, scopes: []Scope{ScopeAdmin}},
}

// Principal is an authenticated caller, bound to one organization.
type Principal struct {
	OrgID     uuid.UUID
	Kind      string // user, key or engine
	ID        uuid.UUID
	Label     string // e-mail of a user, name of a key
	Role      Role   // of a user; of the creator's organization role for a key of the system organization
	Scopes    []Scope
	KeyPrefix string
	System    bool   // belongs to the system organization
	Surface   string // rest, mcp or engine
	RequestID string
	Session   []byte // hash of the browser session, nil for keys
}

// Engine is the principal of work that no person asked for, in one organization.
func Engine(org uuid.UUID) Principal {
	return Principal{OrgID: org, Kind: "engine", Label: "engine", Surface: "engine"}
}

// Can reports whether p has a permission.
func (p Principal) Can(perm Permission) bool {
	r, ok := table[perm]
	if !ok || p.OrgID == uuid.Nil {
		return false
	}
	if perm == PermPlatform && !p.System {
		return false
	}
	switch p.Kind {
	case "engine":
		return true
	case "key":
		return slices.ContainsFunc(r.scopes, func(s Scope) bool { return slices.Contains(p.Scopes, s) })
	case "user":
		return slices.Contains(r.roles, p.Role)
	}
	return false
}

// Require returns a Denied fault unless p has the permission.
func (p Principal) Require(perm Permission) error {
	if p.Can(perm) {
		return nil
	}
	if perm == PermPlatform && !p.System {
		return fault.New(fault.Denied, "this is for operators only: sign in to the system organization, or use a key of it")
	}
	if p.Kind == "key" {
		return fault.New(fault.Denied, "this API key lacks the scope for this; create one with scope %s", table[perm].scopes[0])
	}
	return fault.New(fault.Denied, "your role %s does not allow this; ask an admin of your organization", p.Role)
}

// Actor identifies p in idempotency keys and logs, such as "user:0197…".
func (p Principal) Actor() string { return p.Kind + ":" + p.ID.String() }

type principalKey struct{}

// With returns a context that carries p.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From returns the principal of the request; the zero Principal, which may do nothing, when there is none.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}
