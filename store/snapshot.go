package store

import (
	"context"
	"database/sql"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"revarch/fault"
)

// Snapshot is InOrg for reading: every statement of fn sees the organization as it was at the first one. Nothing is
// retried, since fn may have passed on what it read.
func (s *Store) Snapshot(ctx context.Context, org uuid.UUID, fn func(*Tx) error) error {
	if org == uuid.Nil {
		return fault.New(fault.Internal, "Snapshot without an organization")
	}
	conn, err := s.sql.Conn(ctx)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the database does not answer")
	}
	defer func() { _ = conn.Close() }()
	session := s.db.Session(&gorm.Session{NewDB: true, Context: ctx})
	session.Statement.ConnPool = conn
	return session.Transaction(func(db *gorm.DB) error {
		if err := db.Exec("SELECT set_config('app.org_id', ?, true), set_config('app.user_id', '', true)", org.String()).Error; err != nil {
			return err
		}
		return fn(&Tx{db: db, conn: conn, org: org})
	}, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
}
