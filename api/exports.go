package api

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/accounts"
	"revarch/services/tasks"
)

// Exports are lists as CSV files, whole, for spreadsheets.
type Exports struct {
	Accounts *accounts.Service
	Tasks    *tasks.Service
}

type exportAccountsInput struct{ AccountFilter }

type exportTasksInput struct{ TaskFilter }

type exportContactsInput struct {
	AccountID string `query:"account_id" format:"uuid" doc:"Only contacts of this account"`
}

type exportOpportunitiesInput struct {
	AccountID string `query:"account_id" format:"uuid" doc:"Only deals of this account"`
	Open      string `query:"open" enum:"true,false" doc:"Only open or only closed deals"`
	Owner     string `query:"owner" maxLength:"100" doc:"The owner's id in the CRM"`
}

// Register adds the operations.
func (a *Exports) Register(h huma.API, _ *gin.RouterGroup) {
	op := func(resource string) huma.Operation {
		o := operation("export-"+resource, http.MethodGet, "/exports/"+resource, "Export "+resource+" as CSV", "Exports", auth.PermExport)
		o.Errors = []int{404, 422}
		o.Responses = map[string]*huma.Response{"200": {Description: "All rows, UTF-8 with a header", Content: map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
		return o
	}
	huma.Register(h, op("accounts"), func(ctx context.Context, in *exportAccountsInput) (*huma.StreamResponse, error) {
		return export("accounts", accountColumns, func(ctx context.Context, put func(...any) error) error {
			return a.Accounts.Each(ctx, auth.From(ctx), in.filter(), func(rows []accounts.AccountRow, currency string) error {
				return putAll(rows, func(r accounts.AccountRow) error {
					return put(r.AccountID, r.Name, r.Segment, r.Territory, r.State, r.Status, r.NCESID, r.UNITID, r.Domain, money(r.ARRCents), currency, r.Health, r.Risk, r.Priority, r.Coverage)
				})
			})
		})
	})
	huma.Register(h, op("contacts"), func(ctx context.Context, in *exportContactsInput) (*huma.StreamResponse, error) {
		return export("contacts", contactColumns, func(ctx context.Context, put func(...any) error) error {
			return a.Accounts.EachContact(ctx, auth.From(ctx), optionalID(in.AccountID), func(rows []accounts.Contact) error {
				return putAll(rows, func(r accounts.Contact) error {
					return put(r.ContactID, r.AccountID, r.AccountName, r.Name, r.Title, r.Email, r.Phone, r.Champion, r.LeftAt, r.LastActivityAt)
				})
			})
		})
	})
	huma.Register(h, op("opportunities"), func(ctx context.Context, in *exportOpportunitiesInput) (*huma.StreamResponse, error) {
		f := accounts.OpportunityFilter{AccountID: optionalID(in.AccountID), Owner: in.Owner}
		if open := in.Open == "true"; in.Open != "" {
			f.Open = &open
		}
		return export("opportunities", opportunityColumns, func(ctx context.Context, put func(...any) error) error {
			return a.Accounts.EachOpportunity(ctx, auth.From(ctx), f, func(rows []accounts.Opportunity, currency string) error {
				return putAll(rows, func(r accounts.Opportunity) error {
					return put(r.OpportunityID, r.AccountID, r.AccountName, r.Name, r.Stage, money(r.AmountCents), currency, r.CloseDate, r.ForecastCategory, r.Probability, r.IsClosed, r.IsWon, r.Type, r.OwnerExternalID)
				})
			})
		})
	})
	huma.Register(h, op("tasks"), func(ctx context.Context, in *exportTasksInput) (*huma.StreamResponse, error) {
		return export("tasks", taskColumns, func(ctx context.Context, put func(...any) error) error {
			return a.Tasks.Each(ctx, auth.From(ctx), in.filter(), func(rows []tasks.Task) error {
				return putAll(rows, func(r tasks.Task) error {
					return put(r.TaskID, r.Title, r.Status, r.Assignee, r.Priority, r.DueDate, r.Overdue, r.SourceType, r.SourceID, r.AccountID, r.AccountName, r.CreatedBy, r.CreatedAt, r.CompletedAt)
				})
			})
		})
	})
}

const (
	accountColumns     = "account_id,name,segment,territory,state,status,nces_id,unitid,domain,arr,currency,health,risk,priority,coverage"
	contactColumns     = "contact_id,account_id,account_name,name,title,email,phone,champion,left_at,last_activity_at"
	opportunityColumns = "opportunity_id,account_id,account_name,name,stage,amount,currency,close_date,forecast_category,probability,is_closed,is_won,type,owner_external_id"
	taskColumns        = "task_id,title,status,assignee,priority,due_date,overdue,source_type,source_id,account_id,account_name,created_by,created_at,completed_at"
)

// export streams rows as they are read. What goes wrong before the first byte is a problem document; after it the
// connection is cut, so that nobody takes a part for the whole.
func export(name, columns string, rows func(context.Context, func(...any) error) error) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		w := &lateWriter{hc: hc, name: name}
		out := csv.NewWriter(w)
		out.UseCRLF = true
		header := strings.Split(columns, ",")
		started := false
		record := make([]string, 0, len(header))
		err := rows(hc.Context(), func(values ...any) error {
			if !started {
				started = true
				if err := out.Write(header); err != nil {
					return err
				}
			}
			record = record[:0]
			for _, v := range values {
				record = append(record, cell(v))
			}
			return out.Write(record)
		})
		if err == nil && !started {
			err = out.Write(header)
		}
		if err == nil {
			out.Flush()
			err = out.Error()
		}
		switch {
		case err == nil:
		case w.begun:
			slog.WarnContext(hc.Context(), "export cut short", "export", name, "error", err)
			panic(http.ErrAbortHandler)
		default:
			writeProblemTo(hc, err)
		}
	}}, nil
}

// lateWriter sends the headers with the first byte.
type lateWriter struct {
	hc    huma.Context
	name  string
	begun bool
	body  io.Writer
}

// Write sends a piece of the file.
func (w *lateWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.begun = true
		w.hc.SetHeader("Content-Type", "text/csv; charset=utf-8")
		w.hc.SetHeader("Content-Disposition", `attachment; filename="`+w.name+`.csv"`)
		w.hc.SetHeader("Cache-Control", "no-store")
		w.hc.SetStatus(http.StatusOK)
		w.body = w.hc.BodyWriter()
	}
	return w.body.Write(b)
}

func writeProblemTo(hc huma.Context, err error) {
	p, ok := errors.AsType[*Problem](problem(err))
	if !ok {
		return
	}
	for k, v := range p.GetHeaders() {
		hc.SetHeader(k, v[0])
	}
	hc.SetHeader("Content-Type", p.ContentType(""))
	hc.SetStatus(p.Status)
	if err := huma.DefaultJSONFormat.Marshal(hc.BodyWriter(), p); err != nil {
		slog.WarnContext(hc.Context(), "problem not written", "error", err)
	}
}

func putAll[T any](rows []T, put func(T) error) error {
	for _, r := range rows {
		if err := put(r); err != nil {
			return err
		}
	}
	return nil
}

// amount is money in cents as a decimal number of units.
type amount int64

func money(cents *int64) any {
	if cents == nil {
		return nil
	}
	return amount(*cents)
}

// cell writes a value as text; null is empty.
func cell(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return harmless(x)
	case *string:
		if x == nil {
			return ""
		}
		return harmless(*x)
	case *float64:
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	case uuid.UUID:
		return x.String()
	case *uuid.UUID:
		if x == nil {
			return ""
		}
		return x.String()
	case time.Time:
		return x.UTC().Format(time.RFC3339)
	case *time.Time:
		if x == nil {
			return ""
		}
		return x.UTC().Format(time.RFC3339)
	case amount:
		sign, abs := "", uint64(x)
		if x < 0 {
			sign, abs = "-", -uint64(x)
		}
		return sign + strconv.FormatUint(abs/100, 10) + "." + strconv.FormatUint(abs%100/10, 10) + strconv.FormatUint(abs%10, 10)
	}
	return ""
}

// harmless keeps a spreadsheet from running a text as a formula: what begins like one and is no number gets an
// apostrophe in front.
func harmless(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
