package models

import (
	"database/sql/driver"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
)

// StringArray is a PostgreSQL text[]; nil is written as an empty array.
type StringArray []string

// Scan reads the array from its text form.
func (a *StringArray) Scan(src any) error {
	var text string
	switch v := src.(type) {
	case nil:
		*a = nil
		return nil
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return fmt.Errorf("scan text array from %T", src)
	}
	return pgtype.NewMap().SQLScanner((*[]string)(a)).Scan(text)
}

// Value writes the array in its text form.
func (a StringArray) Value() (driver.Value, error) {
	if a == nil {
		a = StringArray{}
	}
	buf, err := pgtype.NewMap().Encode(pgtype.TextArrayOID, pgtype.TextFormatCode, []string(a), nil)
	return string(buf), err
}
