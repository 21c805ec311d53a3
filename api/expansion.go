package api

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/affinity"
	"revarch/services/expansion"
)

// Expansion is which products are owned together and what accounts could buy next.
type Expansion struct {
	Affinity  *affinity.Service
	Expansion *expansion.Service
	Runs      *Runs
}

// AffinityMatrix is the product affinity matrix, or a page of it: one entry per ordered pair of products and segment.
type AffinityMatrix struct {
	Matrix     []affinity.Entry `json:"matrix"`
	ComputedAt *time.Time       `json:"computed_at" doc:"Null: never"`
	RunID      *uuid.UUID       `json:"run_id" format:"uuid"`
	AsOf       *string          `json:"as_of" format:"date" doc:"The organization's day it was computed for"`
	Accounts   int64            `json:"accounts" doc:"Owning accounts"`
	Products   int64            `json:"products" doc:"Active products"`
	Reason     *string          `json:"reason" doc:"Why the matrix is empty: not_computed, fewer_than_two_products, no_owning_accounts or no_match"`
	NextCursor *string          `json:"next_cursor"`
}

// ExpansionSignals is a page of expansion signals with the figures over all of them.
type ExpansionSignals expansion.Page

// MovedSignal is a moved signal and its entry in the governance log.
type MovedSignal expansion.Moved

// ExpansionWhitespace is what accounts do not own.
type ExpansionWhitespace expansion.Whitespace

type affinityInput struct {
	Segment     string  `query:"segment" enum:"all,Enterprise,Mid-Market,SMB"`
	ProductID   string  `query:"product_id" format:"uuid" doc:"Only pairs with this product, on either side"`
	MinLift     float64 `query:"min_lift" minimum:"0"`
	Significant string  `query:"significant" enum:"true,false"`
	IncludeZero bool    `query:"include_zero" doc:"Pairs that nobody owns together, too"`
	Limit       int     `query:"limit" minimum:"1" maximum:"1000" doc:"Rows of a page; without it everything comes at once"`
	Cursor      string  `query:"cursor" maxLength:"2000"`
}

func (in affinityInput) list() affinity.ListInput {
	f := affinity.Filter{Segment: in.Segment, ProductID: optionalID(in.ProductID), MinLift: in.MinLift, IncludeZero: in.IncludeZero}
	if in.Significant != "" {
		is := in.Significant == "true"
		f.Significant = &is
	}
	return affinity.ListInput{Filter: f, Limit: in.Limit, Cursor: in.Cursor}
}

type signalsInput struct {
	Status      string  `query:"status" enum:"pending,pitched,won,dismissed"`
	Segment     string  `query:"segment" enum:"Enterprise,Mid-Market,SMB"`
	ProductID   string  `query:"product_id" format:"uuid"`
	AccountID   string  `query:"account_id" format:"uuid"`
	MinPriority float64 `query:"min_priority" minimum:"0" maximum:"100"`
	Limit       int     `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor      string  `query:"cursor" maxLength:"2000"`
}

type moveSignalInput struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Repeating a request under the same key within 24 hours gives the first answer"`
	Body struct {
		ID      uuid.UUID `json:"id" format:"uuid"`
		Status  string    `json:"status" enum:"pending,pitched,won,dismissed"`
		Reason  *string   `json:"reason,omitempty" maxLength:"1000"`
		Version *int64    `json:"version,omitempty" doc:"The version that was read; another one is refused. Without it the last mover wins"`
	}
}

type whitespaceInput struct {
	Segment   string `query:"segment" enum:"Enterprise,Mid-Market,SMB"`
	Territory string `query:"territory" maxLength:"200" doc:"Whole name"`
	ProductID string `query:"product_id" format:"uuid" doc:"Only accounts that do not own this product"`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor    string `query:"cursor" maxLength:"2000"`
}

type startInput struct {
	Prefer string `header:"Prefer" doc:"wait=N waits up to N seconds, at most 60, for the end"`
}

// Register adds the operations.
func (a *Expansion) Register(h huma.API, _ *gin.RouterGroup) {
	matrix := operation("list-affinity", http.MethodGet, "/expansion/affinity", "Get which products are owned together", "Expansion", auth.PermRead)
	matrix.Errors = []int{409, 422}
	matrix.Responses = map[string]*huma.Response{"200": {Description: "By segment, lift falling, ids", Content: map[string]*huma.MediaType{
		"application/json": {Schema: h.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[AffinityMatrix](), true, "")},
	}}}
	huma.Register(h, matrix, a.matrix)
	compute := operation("recompute-affinity", http.MethodPost, "/expansion/affinity", "Start computing affinity anew", "Expansion", auth.PermOperate)
	compute.DefaultStatus = http.StatusAccepted
	huma.Register(h, compute, func(ctx context.Context, in *startInput) (*startedRun, error) {
		r, already, err := a.Affinity.Start(ctx, auth.From(ctx))
		if err != nil {
			return nil, problem(err)
		}
		return a.Runs.started(ctx, r, already, in.Prefer)
	})

	list := operation("list-expansion-signals", http.MethodGet, "/expansion/signals", "List what accounts could buy next, best first", "Expansion", auth.PermRead)
	list.Errors = []int{422}
	huma.Register(h, list, func(ctx context.Context, in *signalsInput) (*struct{ Body ExpansionSignals }, error) {
		page, err := a.Expansion.List(ctx, auth.From(ctx), expansion.ListInput{Filter: expansion.Filter{
			Status: in.Status, Segment: in.Segment,
			ProductID: optionalID(in.ProductID), AccountID: optionalID(in.AccountID), MinPriority: in.MinPriority,
		}, Cursor: in.Cursor, Limit: in.Limit})
		return &struct{ Body ExpansionSignals }{ExpansionSignals(page)}, problem(err)
	})
	generate := operation("regenerate-expansion", http.MethodPost, "/expansion/signals", "Start finding expansion signals anew", "Expansion", auth.PermOperate)
	generate.DefaultStatus = http.StatusAccepted
	huma.Register(h, generate, func(ctx context.Context, in *startInput) (*startedRun, error) {
		r, already, err := a.Expansion.Start(ctx, auth.From(ctx))
		if err != nil {
			return nil, problem(err)
		}
		return a.Runs.started(ctx, r, already, in.Prefer)
	})
	move := operation("move-expansion-signal", http.MethodPatch, "/expansion/signals", "Move an expansion signal to a status", "Expansion", auth.PermWrite)
	move.Errors = []int{404, 409, 412, 422}
	huma.Register(h, move, func(ctx context.Context, in *moveSignalInput) (*struct{ Body MovedSignal }, error) {
		b := in.Body
		got, err := a.Expansion.Move(ctx, auth.From(ctx), expansion.MoveInput{ID: b.ID, Status: b.Status, Reason: b.Reason, Version: b.Version, IdempotencyKey: in.Key})
		return &struct{ Body MovedSignal }{MovedSignal(got)}, problem(err)
	})

	whitespace := operation("list-whitespace", http.MethodGet, "/expansion/whitespace", "List which products accounts do not own", "Expansion", auth.PermRead)
	whitespace.Errors = []int{422}
	huma.Register(h, whitespace, func(ctx context.Context, in *whitespaceInput) (*struct{ Body ExpansionWhitespace }, error) {
		got, err := a.Expansion.Whitespace(ctx, auth.From(ctx), expansion.WhitespaceInput{
			Segment: in.Segment, Territory: in.Territory,
			ProductID: optionalID(in.ProductID), Cursor: in.Cursor, Limit: in.Limit,
		})
		return &struct{ Body ExpansionWhitespace }{ExpansionWhitespace(got)}, problem(err)
	})
}

// matrix answers entry by entry: they are rendered as they are sent.
func (a *Expansion) matrix(ctx context.Context, in *affinityInput) (*huma.StreamResponse, error) {
	m, err := a.Affinity.List(ctx, auth.From(ctx), in.list())
	if err != nil {
		return nil, problem(err)
	}
	rest := AffinityMatrix{Reason: m.Reason, NextCursor: m.NextCursor}
	if m.Info != nil {
		day := m.Info.AsOf.Format(time.DateOnly)
		rest.ComputedAt, rest.RunID, rest.AsOf, rest.Accounts, rest.Products = &m.Info.ComputedAt, &m.Info.RunID, &day, m.Info.Accounts, m.Info.Products
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "application/json")
		hc.SetHeader("Cache-Control", "no-store")
		hc.SetStatus(http.StatusOK)
		if err := writeMatrix(bufio.NewWriterSize(hc.BodyWriter(), 64<<10), m, rest); err != nil {
			slog.WarnContext(hc.Context(), "matrix cut short", "error", err)
			panic(http.ErrAbortHandler) // nobody takes a part for the whole
		}
	}}, nil
}

func writeMatrix(w *bufio.Writer, m *affinity.Matrix, rest AffinityMatrix) error {
	tail, err := json.Marshal(rest) // {"matrix":null,"computed_at":…}
	if err != nil {
		return err
	}
	if _, err := w.WriteString(`{"matrix":[`); err != nil {
		return err
	}
	first := true
	for e := range m.Entries() {
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !first {
			b = append([]byte{','}, b...)
		}
		first = false
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if _, err := w.WriteString("]" + string(tail[len(`{"matrix":null`):]) + "\n"); err != nil {
		return err
	}
	return w.Flush()
}
