package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/identity"
)

// organizationAPI is Settings > Organization.
type organizationAPI struct{ id *identity.Service }

// OrganizationSettings are the settings an admin may change.
type OrganizationSettings struct {
	Name                 string           `json:"name" minLength:"1" maxLength:"200"`
	TimeZone             string           `json:"time_zone" doc:"IANA name, such as America/Chicago"`
	FiscalYearStartMonth int              `json:"fiscal_year_start_month" minimum:"1" maximum:"12"`
	ReportingCurrency    string           `json:"reporting_currency" minLength:"3" maxLength:"3" doc:"ISO 4217"`
	DeriveSegment        bool             `json:"derive_segment" doc:"Derive a missing segment from enrollment, labelled as derived"`
	RenewalGraceDays     int              `json:"renewal_grace_days" minimum:"0" maximum:"730" doc:"How long an expired line without a disposition stays in ARR"`
	WorkHours            models.WorkHours `json:"work_hours"`
}

// Organization is the settings with the organization's id.
type Organization struct {
	ID uuid.UUID `json:"id" format:"uuid"`
	OrganizationSettings
}

type organizationOutput struct {
	ETag string `header:"ETag"`
	Body Organization
}

type updateOrganizationInput struct {
	IfMatch string `header:"If-Match" doc:"The ETag that was read"`
	Body    OrganizationSettings
}

// Register adds the operations.
func (a *organizationAPI) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("get-organization", http.MethodGet, "/settings/organization", "Get the organization's settings", "Organization", auth.PermRead),
		func(ctx context.Context, _ *struct{}) (*organizationOutput, error) {
			o, err := a.id.Organization(ctx, auth.From(ctx))
			return toOrganization(o), problem(err)
		})
	put := operation("update-organization", http.MethodPut, "/settings/organization", "Replace the organization's settings", "Organization", auth.PermAdmin)
	put.Errors = []int{412, 422, 428}
	huma.Register(h, put, func(ctx context.Context, in *updateOrganizationInput) (*organizationOutput, error) {
		version, err := ifMatch(in.IfMatch)
		if err != nil {
			return nil, problem(err)
		}
		b := in.Body
		o, err := a.id.UpdateOrganization(ctx, auth.From(ctx), models.Org{
			Name: strings.TrimSpace(b.Name), TimeZone: b.TimeZone,
			FiscalYearStartMonth: b.FiscalYearStartMonth, ReportingCurrency: b.ReportingCurrency, DeriveSegment: b.DeriveSegment,
			RenewalGraceDays: b.RenewalGraceDays, WorkHours: b.WorkHours,
		}, version)
		return toOrganization(o), problem(err)
	})
}

func toOrganization(o models.Org) *organizationOutput {
	days := append([]int{}, o.WorkHours.Days...)
	o.WorkHours.Days = days
	return &organizationOutput{etag(o.Version), Organization{o.ID, OrganizationSettings{
		o.Name, o.TimeZone, o.FiscalYearStartMonth,
		o.ReportingCurrency, o.DeriveSegment, o.RenewalGraceDays, o.WorkHours,
	}}}
}

// etag is a version as HTTP quotes it.
func etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// ifMatch reads the version a caller last saw.
func ifMatch(header string) (int64, error) {
	if header == "" {
		return 0, errPrecondition
	}
	v, err := strconv.ParseInt(strings.Trim(strings.TrimPrefix(strings.TrimSpace(header), "W/"), `"`), 10, 64)
	if err != nil {
		return 0, fault.New(fault.Stale, "If-Match is no version this server gave out; reload and try again")
	}
	return v, nil
}
