package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/fault"
)

// runChannel carries "organization|run" whenever a run changed.
const runChannel = "revarch_runs"

// NotifyRun tells every listening process that a run changed. The payload is ids only: listeners read the run again in
// a transaction of its organization.
func (s *Store) NotifyRun(ctx context.Context, org, run uuid.UUID) error {
	_, err := s.sql.ExecContext(ctx, "SELECT pg_notify($1, $2)", runChannel, org.String()+"|"+run.String())
	if err != nil {
		return fmt.Errorf("notify run: %w", err)
	}
	return nil
}

// ListenRuns holds one connection of its own, outside the pool, and calls changed for each notification until ctx ends
// or the connection breaks. It calls ready once it listens: what changed before that was not heard. silence bounds how
// long a broken connection stays unnoticed.
func ListenRuns(ctx context.Context, url string, silence time.Duration, ready func(), changed func(payload string)) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return fault.New(fault.Invalid, "the database URL cannot be parsed")
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the database does not answer")
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+runChannel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ready()
	for {
		n, err := waitForNotification(ctx, conn, silence)
		if err != nil {
			return err
		}
		if n != "" {
			changed(n)
		}
	}
}

// waitForNotification returns the next payload, or "" after a silence during which the connection proved alive.
func waitForNotification(ctx context.Context, conn *pgx.Conn, silence time.Duration) (string, error) {
	waiting, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	n, err := conn.WaitForNotification(waiting)
	switch {
	case err == nil:
		return n.Payload, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case waiting.Err() == nil:
		return "", fmt.Errorf("wait for notification: %w", err)
	}
	pinging, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	if err := conn.Ping(pinging); err != nil {
		return "", fmt.Errorf("ping: %w", err)
	}
	return "", nil
}
