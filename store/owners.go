package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// owning selects the accounts with ARR above 0 on a day: $1 org, $2 the day, $3 grace days; %s narrows the lines. These
// are the rules of analytics/arr for annual lines, said once more in SQL so that a million lines need not travel; a
// property test holds both together.
const owning = `SELECT account_id, min(start_date) FILTER (WHERE started) AS since FROM (
	SELECT l.account_id, l.source, l.arr_cents, l.start_date, f.started,
		f.started AND CASE WHEN l.end_date IS NULL OR l.end_date >= $2::date THEN true WHEN l.ended OR $2::date - l.end_date > $3::int THEN false
			ELSE NOT EXISTS (SELECT 1 FROM subscription_lines n WHERE n.org_id = l.org_id AND n.account_id = l.account_id AND n.source = l.source
				AND n.product_id IS NOT DISTINCT FROM l.product_id AND coalesce(n.start_date, '1970-01-01') > coalesce(l.start_date, '1970-01-01')
				AND coalesce(n.end_date, 'infinity') > l.end_date AND n.start_date <= $2::date) END AS counts
	FROM subscription_lines l, LATERAL (SELECT coalesce(l.start_date, '1970-01-01') <= $2::date
		AND (l.end_date IS NULL OR l.end_date >= coalesce(l.start_date, '1970-01-01')) AS started) f
	WHERE l.org_id = $1%s) x
	GROUP BY account_id
	HAVING coalesce(CASE WHEN bool_or(started) FILTER (WHERE source = 'product') THEN sum(arr_cents) FILTER (WHERE counts AND source = 'product')
		ELSE sum(arr_cents) FILTER (WHERE counts) END, 0) > 0`

// ownedLine is the condition under which a line p of account_products makes its account an owner of the product on a
// day: it has begun and is not over. One that waits for a late renewal still counts, as its revenue does.
const ownedLine = `p.deleted_at IS NULL AND p.product_id IS NOT NULL AND p.status IS DISTINCT FROM 'ended'
	AND coalesce(p.start_date, '1970-01-01') <= $2::date AND (p.end_date IS NULL
		OR p.end_date >= $2::date - CASE WHEN p.arr_cents IS NULL THEN 0 ELSE $3::int END)
	AND (p.end_date IS NULL OR p.end_date >= coalesce(p.start_date, '1970-01-01'))`

// AffinityRead is the one query that affinity reads: an account after the other, a row per line it owns, or one row
// without a product. $1 org, $2 the day, $3 grace days. Exported so that the benchmark can COPY it. Owning accounts are not
// materialized: they come in order of their ids, so that nothing has to be sorted or hashed as a whole.
var AffinityRead = `WITH owning AS NOT MATERIALIZED (` + fmt.Sprintf(owning, "") + `)
	SELECT o.account_id, CASE a.segment WHEN 'Enterprise' THEN 1 WHEN 'Mid-Market' THEN 2 WHEN 'SMB' THEN 3 ELSE 0 END::int2 AS segment,
		p.product_id, p.start_date, p.bundle
	FROM owning o JOIN accounts a ON a.org_id = $1 AND a.id = o.account_id AND a.deleted_at IS NULL
	LEFT JOIN account_products p ON p.org_id = $1 AND p.account_id = o.account_id AND ` + ownedLine + `
	ORDER BY o.account_id`

// OwnedLine is one line of an owning account, by account. Lines of one account follow each other.
type OwnedLine struct {
	AccountID uuid.UUID
	Segment   uint8 // 0 none, 1 Enterprise, 2 Mid-Market, 3 SMB
	ProductID uuid.UUID
	HasLine   bool  // false: the account owns no product at all
	Start     int32 // days since 1970-01-01
	HasStart  bool
	Bundle    uint64 // 0 for none
}

// EachOwnedLine calls fn with every line of every owning account on a day, ordered by account, in one streamed read. The
// line belongs to the call.
func (tx *Tx) EachOwnedLine(ctx context.Context, today time.Time, graceDays int, fn func(*OwnedLine) error) error {
	return tx.stream(ctx, AffinityRead, []any{tx.orgArg(), today, graceDays}, func(raw [][]byte) error {
		var l OwnedLine
		copy(l.AccountID[:], raw[0])
		l.Segment = uint8(binary.BigEndian.Uint16(raw[1]))
		if raw[2] != nil {
			l.HasLine = true
			copy(l.ProductID[:], raw[2])
			l.Start, l.HasStart = rawDay(raw[3])
			l.Bundle = bundleKey(raw[4])
		}
		return fn(&l)
	})
}

// StreamSettings are what the streamed reads run with: sorting a million narrow rows in memory is twice as fast as on disk,
// and compiling the query costs more than it saves. The accounts of an organization that statistics do not know yet count
// as one, and a nested loop would then go through all lines once for each of them. Exported so that tests can have them.
const StreamSettings = "SELECT set_config('work_mem', '96MB', true), set_config('jit', 'off', true), " +
	"set_config('enable_nestloop', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)"

// stream runs a query in the transaction and hands its rows on as they arrive, in PostgreSQL's binary format.
func (tx *Tx) stream(ctx context.Context, query string, args []any, fn func(raw [][]byte) error) error {
	return tx.pgx(func(c *pgx.Conn) error {
		if _, err := c.Exec(ctx, StreamSettings); err != nil {
			return fmt.Errorf("prepare to stream: %w", err)
		}
		rows, err := c.Query(ctx, query, args...)
		if err != nil {
			return fmt.Errorf("stream rows: %w", err)
		}
		defer rows.Close()
		for _, f := range rows.FieldDescriptions() {
			if f.Format != pgx.BinaryFormatCode && f.DataTypeOID != 25 { // text is the same in both
				return fmt.Errorf("column %s does not come in binary", f.Name)
			}
		}
		for rows.Next() {
			if err := fn(rows.RawValues()); err != nil {
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return fmt.Errorf("stream rows: %w", err)
		}
		return nil
	})
}

const unixOfPostgres = 10957 // days from 1970-01-01 to 2000-01-01

// rawDay reads a date; infinite ones count as unknown.
func rawDay(b []byte) (int32, bool) {
	if b == nil {
		return 0, false
	}
	d := int32(binary.BigEndian.Uint32(b))
	if d == math.MaxInt32 || d == math.MinInt32 {
		return 0, false
	}
	return d + unixOfPostgres, true
}

func rawInt(b []byte) *int64 {
	if b == nil {
		return nil
	}
	v := int64(binary.BigEndian.Uint64(b))
	return &v
}

func rawFloat(b []byte) *float64 {
	if b == nil {
		return nil
	}
	v := math.Float64frombits(binary.BigEndian.Uint64(b))
	return &v
}

func bundleKey(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(b)
	return max(1, h.Sum64())
}
