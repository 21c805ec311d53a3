package salesforce

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// schemaClock says when the schema last changed: fields that lose or regain their permission change it.
type schemaClock struct {
	mu    sync.Mutex
	at    time.Time
	state string
}

// moment returns when the hidden fields last changed, strictly later at each change, in whole seconds.
func (c *schemaClock) moment(state string, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state != c.state {
		c.state = state
		now = now.UTC().Truncate(time.Second)
		if !now.After(c.at) {
			now = c.at.Add(time.Second)
		}
		c.at = now
	}
	return c.at
}

// modified sets Last-Modified and reports whether the client knows this schema already.
func (s *Server) modified(w http.ResponseWriter, r *http.Request) bool {
	var state strings.Builder
	for _, f := range s.chaos.List() {
		if f.Object != "" {
			state.WriteString(f.Object + "." + f.Field + " ")
		}
	}
	at := s.schema.moment(state.String(), s.cfg.Clock())
	w.Header().Set("Last-Modified", at.Format(http.TimeFormat))
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	if err == nil && !at.After(since) {
		w.WriteHeader(http.StatusNotModified)
		return false
	}
	return true
}

func (s *Server) versions(w http.ResponseWriter, _ *http.Request) {
	type v struct {
		Label   string `json:"label"`
		URL     string `json:"url"`
		Version string `json:"version"`
	}
	var out []v
	for n := 58; n <= 66; n++ {
		season := [...]string{"Spring", "Summer", "Winter"}[(n-57)%3] // 57.0 was Spring '23
		year := 23 + (n-57)/3
		if season == "Winter" {
			year++
		}
		out = append(out, v{season + " '" + itoa(year), "/services/data/v" + itoa(n) + ".0", itoa(n) + ".0"})
	}
	writeJSON(w, http.StatusOK, out)
}

// hidden names the fields of an object that a client does not see, in lower case: those that lost their permission, and
// the mark of deletion of users, who can only be made inactive.
func (s *Server) hidden(object string) map[string]bool {
	out := s.chaos.Hidden(object)
	if object == "User" {
		if out == nil {
			out = map[string]bool{}
		}
		out["isdeleted"] = true
	}
	return out
}

// objectInfo is what a listing and a describe say of an object.
func objectInfo(o *object, v string) map[string]any {
	root := "/services/data/" + v + "/sobjects/" + o.Name
	writable := o.Name != "User"
	return map[string]any{
		"name": o.Name, "label": o.Label, "labelPlural": o.Plural, "keyPrefix": o.Prefix, "custom": false, "customSetting": false,
		"activateable": false, "createable": writable, "updateable": writable, "deletable": writable, "undeletable": writable, "deprecatedAndHidden": false,
		"feedEnabled": true, "layoutable": true, "mergeable": o.Mergeable, "mruEnabled": true, "queryable": true, "replicateable": true,
		"retrieveable": true, "searchable": true, "triggerable": true,
		"urls": map[string]string{"sobject": root, "describe": root + "/describe", "rowTemplate": root + "/{ID}"},
	}
}

func (s *Server) listObjects(w http.ResponseWriter, r *http.Request) *apiError {
	if !s.modified(w, r) {
		return nil
	}
	var list []map[string]any
	for _, t := range s.store.list {
		list = append(list, objectInfo(t.object, r.PathValue("v")))
	}
	writeJSON(w, http.StatusOK, map[string]any{"encoding": "UTF-8", "maxBatchSize": 200, "sobjects": list})
	return nil
}

func (s *Server) describe(w http.ResponseWriter, r *http.Request) *apiError {
	t, failure := s.store.table(r.PathValue("object"))
	if failure != nil {
		return failure
	}
	hidden := s.hidden(t.Name)
	if !s.modified(w, r) {
		return nil
	}
	out := objectInfo(t.object, r.PathValue("v"))
	fields := []map[string]any{}
	for i := range t.Fields {
		if f := &t.Fields[i]; !hidden[strings.ToLower(f.Name)] {
			fields = append(fields, fieldInfo(f))
		}
	}
	out["fields"] = fields
	out["childRelationships"], out["recordTypeInfos"] = []any{}, []any{}
	writeJSON(w, http.StatusOK, out)
	return nil
}

var soapTypes = map[string]string{
	"boolean": "xsd:boolean", "date": "xsd:date", "datetime": "xsd:dateTime", "double": "xsd:double",
	"currency": "xsd:double", "percent": "xsd:double", "int": "xsd:int", "id": "tns:ID", "reference": "tns:ID",
}

func fieldInfo(f *field) map[string]any {
	soap := soapTypes[f.Type]
	if soap == "" {
		soap = "xsd:string"
	}
	picklist := []map[string]any{}
	for _, v := range f.Picklist {
		picklist = append(picklist, map[string]any{"active": true, "defaultValue": false, "label": v, "validFor": nil, "value": v})
	}
	targets := f.ReferenceTo
	if targets == nil {
		targets = []string{}
	}
	var relationship any
	if f.Relationship != "" {
		relationship = f.Relationship
	}
	return map[string]any{
		"name": f.Name, "label": f.Label, "type": f.Type, "soapType": soap, "length": f.Length, "byteLength": f.Length * 3, "precision": f.Precision,
		"scale": f.Scale, "digits": 0, "custom": f.Custom, "nillable": f.Nillable, "createable": f.Writable, "updateable": f.Writable,
		"calculated": f.Calculated, "calculatedFormula": nil, "filterable": f.filterable(), "sortable": f.filterable(), "groupable": f.filterable(),
		"aggregatable": f.filterable(), "externalId": f.ExternalID, "unique": f.ExternalID, "idLookup": f.ExternalID || f.Type == "id",
		"caseSensitive": false, "autoNumber": false, "defaultValue": nil, "defaultedOnCreate": f.DefaultOnCreate || defaultOf(f.Name) != nil,
		"dependentPicklist": false, "deprecatedAndHidden": false, "encrypted": false, "htmlFormatted": false, "inlineHelpText": nil,
		"nameField": f.Name == "Name" || f.Name == "Subject", "namePointing": len(f.ReferenceTo) > 1, "polymorphicForeignKey": len(f.ReferenceTo) > 1,
		"permissionable": f.Custom, "picklistValues": picklist, "referenceTo": targets, "relationshipName": relationship, "compoundFieldName": nil,
		"restrictedPicklist": false, "writeRequiresMasterRead": false,
	}
}

func (s *Server) limits(w http.ResponseWriter, _ *http.Request) *apiError {
	s.usage.mu.Lock()
	left := s.cfg.DailyLimit - s.usage.used
	s.usage.mu.Unlock()
	limit := func(most, left int) map[string]int { return map[string]int{"Max": most, "Remaining": left} }
	writeJSON(w, http.StatusOK, map[string]any{
		"DailyApiRequests": limit(s.cfg.DailyLimit, left), "DailyBulkV2QueryJobs": limit(10_000, 10_000),
		"ConcurrentAsyncGetReportInstances": limit(200, 200), "DataStorageMB": limit(10_240, 9_000), "FileStorageMB": limit(10_240, 10_000),
	})
	return nil
}
