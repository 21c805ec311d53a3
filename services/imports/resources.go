package imports

import (
	"strings"

	"revarch/datasets"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// resource is a kind of file: its columns, and what its rows become.
type resource struct {
	name    string
	record  models.RecordType
	columns []column
	// row fills key and references of a row from its cells and says what does not fit together: column and reason.
	keys   func(cells []*string, bad []bool, r *store.ImportRow) // what is readable of what the row is and refers to
	row    func(cells []*string, r *store.ImportRow) (column, reason string)
	extra  []store.ImportCell // behind the columns' cells: what row appends, and defaults
	scores bool               // the accounts' scores depend on it
}

// column is a column of a file.
type column struct {
	name     string
	required bool   // of every row, and so of the header
	target   string // canonical column, "" for a key
	parse    func(text string) (cell, reason string)
	missing  string // SQL literal for an empty cell, "" for NULL
}

// Resources names what can be imported.
var Resources = []string{"accounts", "products", "account_products"}

var resources = map[string]*resource{
	"accounts": {
		name: "accounts", record: models.RecordAccount, scores: true,
		columns: []column{
			{name: "external_id", required: true, parse: id},
			{name: "name", required: true, target: "name", parse: text(1000)},
			{name: "segment", target: "segment", parse: oneOf("Enterprise", "Mid-Market", "SMB")},
			{name: "state", target: "state", parse: canonical(models.RecordAccount, "state", "must be a two-letter state or territory code, such as TX")},
			{name: "nces_id", target: "nces_id", parse: canonical(models.RecordAccount, "nces_id", "must be an NCES district id of 7 digits")},
			{name: "unitid", target: "unitid", parse: canonical(models.RecordAccount, "unitid", "must be an IPEDS UNITID of 6 digits")},
			{name: "arr_usd", target: "arr_cents", parse: dollars(true)},
			{name: "status", target: "status", parse: canonical(models.RecordAccount, "status", "must be customer, prospect or former_customer")},
		},
		keys: firstCell,
		row: func(cells []*string, r *store.ImportRow) (string, string) {
			normalized := datasets.NormalizeName(*cells[1])
			r.Cells = append(cells, &normalized)
			return "", ""
		},
		extra: []store.ImportCell{{Column: store.NormalizedName, Present: true, Default: "''"}},
	},
	"products": {
		name: "products", record: models.RecordProduct,
		columns: []column{
			{name: "sku", required: true, target: "sku", parse: id},
			{name: "name", required: true, target: "name", parse: text(1000)},
			{name: "list_price_usd", target: "list_price_cents", parse: dollars(false)},
			{name: "active", target: "active", parse: canonical(models.RecordProduct, "active", "must be true or false"), missing: "true"},
		},
		keys: firstCell,
		row: func(cells []*string, r *store.ImportRow) (string, string) {
			r.Cells = cells
			return "", ""
		},
	},
	"account_products": {
		name: "account_products", record: models.RecordAccountProduct, scores: true,
		columns: []column{
			{name: "account_external_id", required: true, parse: id},
			{name: "sku", required: true, parse: id},
			{name: "arr_usd", target: "arr_cents", parse: dollars(true)},
			{name: "start_date", target: "start_date", parse: date},
			{name: "end_date", target: "end_date", parse: date},
			{name: "quantity", target: "quantity", parse: quantity},
		},
		keys:  lineKeys,
		row:   line,
		extra: []store.ImportCell{{Column: "status", Default: "'active'"}},
	},
}

// firstCell is the key of rows that have an id of their own.
func firstCell(cells []*string, _ []bool, r *store.ImportRow) {
	if cells[0] != nil {
		r.Key = *cells[0]
	}
}

// lineKeys makes the key of what an account bought: the account, the product and the day it starts.
func lineKeys(cells []*string, bad []bool, r *store.ImportRow) {
	start := ""
	if cells[3] != nil {
		start = *cells[3]
	}
	if cells[0] != nil {
		r.AccountKey = *cells[0]
	}
	if cells[1] != nil {
		r.ProductKey = *cells[1]
	}
	if cells[0] != nil && cells[1] != nil && !bad[3] {
		r.Key = keyPart.Replace(r.AccountKey) + "/" + keyPart.Replace(r.ProductKey) + "/" + start
	}
}

func line(cells []*string, r *store.ImportRow) (string, string) {
	if cells[3] != nil && cells[4] != nil && *cells[4] < *cells[3] {
		return "end_date", "is before start_date"
	}
	r.Cells = cells
	return "", ""
}

// keyPart keeps the parts of a key apart.
var keyPart = strings.NewReplacer(`\`, `\\`, "/", `\/`)

func lookup(name string) (*resource, error) {
	if r, ok := resources[name]; ok {
		return r, nil
	}
	return nil, fault.New(fault.NotFound, "there is nothing to import by this name; known are %s", strings.Join(Resources, ", "))
}

func (r *resource) names() []string {
	out := make([]string, len(r.columns))
	for i, c := range r.columns {
		out[i] = c.name
	}
	return out
}

// cells pairs cells with canonical columns for a file that has some of the columns.
func (r *resource) cells(at []int) []store.ImportCell {
	out := make([]store.ImportCell, 0, len(r.columns)+len(r.extra))
	for i, c := range r.columns {
		out = append(out, store.ImportCell{Column: c.target, Present: at[i] >= 0, Default: c.missing})
	}
	return append(out, r.extra...)
}

// entries is the mapping that the records keep as their source.
func (r *resource) entries() map[string]string {
	out := map[string]string{}
	for _, c := range r.columns {
		if c.target != "" {
			out[c.target] = c.name
		}
	}
	return out
}
