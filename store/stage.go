package store

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"revarch/models"
)

// Column is a column of a canonical table that mapping fills, and its type in PostgreSQL.
type Column struct{ Name, Type string }

// StageRow is one record on its way into raw_records and, when it could be mapped, into its canonical table.
type StageRow struct {
	ExternalID string
	RecordID   uuid.UUID    // of the canonical record; Nil when there is none
	RawNew     bool         // no raw row is stored yet
	RecordNew  bool         // no canonical row is stored yet
	Mapped     bool         // Values are to be stored
	Payload    []byte       // JSON object
	Hash       []byte       // empty while the record cannot be mapped
	UpdatedAt  time.Time    // at the source; zero when unknown
	Parents    [2]uuid.UUID // by Links; Nil while the record is unknown
	Values     []any        // one per column of CanonicalColumns; nil is NULL
}

// Link is a column that refers to another canonical record, and the column of the external id it is resolved from.
type Link struct {
	Column, External string
	Record           models.RecordType
}

// table is a canonical table with the statements that merge staged rows into it. A table without a name keeps raw
// records only.
type table struct {
	name, stage string
	columns     []Column // filled by mapping
	links       []Link   // ids resolved from record_links
	ddl         string
	copied      []string
	insert      string
	update      string
}

// NormalizedName is the column of accounts that matching reads; it is derived from the name.
const NormalizedName = "normalized_name"

var kindTypes = map[models.FieldKind]string{
	models.KindText: "text", models.KindLink: "text", models.KindInteger: "bigint", models.KindMoney: "bigint",
	models.KindDecimal: "double precision", models.KindPercent: "double precision", models.KindBool: "boolean",
	models.KindDate: "date", models.KindInstant: "timestamptz",
}

var tables = map[models.RecordType]*table{
	"":                          newTable("", ""),
	models.RecordAccount:        newTable(models.RecordAccount, "accounts"),
	models.RecordContact:        newTable(models.RecordContact, "contacts", toAccount),
	models.RecordOpportunity:    newTable(models.RecordOpportunity, "opportunities", toAccount),
	models.RecordActivity:       newTable(models.RecordActivity, "activities", toAccount, toContact),
	models.RecordProduct:        newTable(models.RecordProduct, "products"),
	models.RecordAccountProduct: newTable(models.RecordAccountProduct, "account_products", toAccount, toProduct),
	models.RecordProductPrice:   newTable(models.RecordProductPrice, "product_prices", toProduct),
	models.RecordOrderLine:      newTable(models.RecordOrderLine, "order_lines", toOpportunity, toProduct),
	models.RecordCRMUser:        newTable(models.RecordCRMUser, "crm_users"),
}

// The links that canonical tables have.
var (
	toAccount     = Link{"account_id", "account_external_id", models.RecordAccount}
	toContact     = Link{"contact_id", "contact_external_id", models.RecordContact}
	toOpportunity = Link{"opportunity_id", "opportunity_external_id", models.RecordOpportunity}
	toProduct     = Link{"product_id", "product_external_id", models.RecordProduct}
)

// Links lists what a canonical record refers to, in the order of StageRow.Parents.
func Links(record models.RecordType) []Link { return tableOf(record).links }

// CanonicalColumns lists the columns of a canonical record that mapping fills, in the order of StageRow.Values; nil for
// a record that has no canonical table.
func CanonicalColumns(record models.RecordType) []Column { return tableOf(record).columns }

func tableOf(record models.RecordType) *table {
	if t, ok := tables[record]; ok {
		return t
	}
	return tables[""]
}

func newTable(record models.RecordType, name string, links ...Link) *table {
	t := &table{name: name, stage: "stage_raw", links: links}
	if name != "" {
		t.stage = "stage_" + name
	}
	for _, f := range models.TargetFields {
		if f.Record == record {
			t.columns = append(t.columns, Column{f.Name, kindTypes[f.Kind]})
		}
	}
	if record == models.RecordAccount {
		t.columns = append(t.columns, Column{NormalizedName, "text"})
	}
	ddl := []string{
		`external_id text COLLATE "C"`, "record_id uuid", "raw_new boolean", "record_new boolean", "mapped boolean",
		"payload jsonb", "content_hash bytea", "source_updated_at timestamptz",
	}
	for _, l := range links {
		ddl = append(ddl, l.Column+" uuid")
	}
	for _, c := range t.columns {
		ddl = append(ddl, c.Name+" "+c.Type)
	}
	for _, d := range ddl {
		column, _, _ := strings.Cut(d, " ")
		t.copied = append(t.copied, column)
	}
	t.ddl = "CREATE TEMPORARY TABLE IF NOT EXISTS " + t.stage + " (" + strings.Join(ddl, ", ") + ") ON COMMIT DELETE ROWS"
	t.insert, t.update = t.insertSQL(), t.updateSQL(record == models.RecordAccount)
	return t
}

// stored lists the columns that both statements write from the stage.
func (t *table) stored() []string {
	var out []string
	for _, c := range t.columns {
		out = append(out, c.Name)
	}
	for _, l := range t.links {
		out = append(out, l.Column)
	}
	return out
}

// insertSQL takes org, provider, mapping and now.
func (t *table) insertSQL() string {
	cols := t.stored()
	return "INSERT INTO " + t.name + " (org_id, id, provider, external_id, mapping_id, created_at, updated_at, " + strings.Join(cols, ", ") +
		") SELECT $1, s.record_id, $2, s.external_id, $3, $4, $4, s." + strings.Join(cols, ", s.") +
		" FROM " + t.stage + " s WHERE s.mapped AND s.record_new"
}

// updateSQL takes org, mapping, now, and whether a deleted record comes back to life. Rows that would not change stay.
func (t *table) updateSQL(merges bool) string {
	cols := t.stored()
	set := make([]string, 0, len(cols)+4)
	for _, c := range cols {
		set = append(set, c+" = s."+c)
	}
	set = append(set, "mapping_id = $2", "updated_at = $3", "deleted_at = CASE WHEN $4 THEN NULL ELSE a.deleted_at END")
	if merges {
		set = append(set, "merged_into = CASE WHEN $4 THEN NULL ELSE a.merged_into END")
	}
	return "UPDATE " + t.name + " a SET " + strings.Join(set, ", ") + " FROM " + t.stage +
		" s WHERE a.org_id = $1 AND a.id = s.record_id AND s.mapped AND NOT s.record_new AND ((a." + strings.Join(cols, ", a.") +
		") IS DISTINCT FROM (s." + strings.Join(cols, ", s.") + ") OR a.mapping_id <> $2 OR ($4 AND a.deleted_at IS NOT NULL))"
}

// stageSource feeds COPY from rows without a copy per row.
type stageSource struct {
	rows  []StageRow
	links int
	width int // columns; a row without values is NULL in the rest
	next  int
	buf   []any
}

// Next moves to the next row.
func (s *stageSource) Next() bool { s.next++; return s.next <= len(s.rows) }

// Err is nil: rows come from memory.
func (s *stageSource) Err() error { return nil }

// Values returns the row in the order of table.copied.
func (s *stageSource) Values() ([]any, error) {
	r := &s.rows[s.next-1]
	s.buf = append(s.buf[:0], r.ExternalID, pgUUID(r.RecordID), r.RawNew, r.RecordNew, r.Mapped, jsonbOrNil(r.Payload), r.Hash,
		timeOrNil(r.UpdatedAt))
	for _, id := range r.Parents[:s.links] {
		s.buf = append(s.buf, pgUUID(id))
	}
	s.buf = append(s.buf, r.Values...)
	for len(s.buf) < s.width {
		s.buf = append(s.buf, nil)
	}
	return s.buf, nil
}

func pgUUID(id uuid.UUID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: id != uuid.Nil} }

func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

func jsonbOrNil(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}
