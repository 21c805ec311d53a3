package store_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/models"
	"revarch/store"
	"revarch/testkit"
)

// cell draws what a cell may hold, with what COPY gives a meaning more often than chance would.
func cell() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.String().Draw(t, "text") + rapid.SampledFrom([]string{"", "\t", "\n", "\r\n", `\`, `\N`, `\.`, "\\\n", "ñ", "\u2028", "\x01"}).Draw(t, "special")
	})
}

func TestEduEncoderLosesNothing(t *testing.T) {
	t.Parallel()
	db := testkit.Database(t, testkit.Product(t))
	st := testkit.OpenStore(t, db.Worker, 2)
	org := db.NewOrg(t, "Org")
	admin, err := pgx.Connect(t.Context(), db.Superuser)
	require.NoError(t, err)
	t.Cleanup(func() { _ = admin.Close(context.WithoutCancel(t.Context())) })
	rapid.Check(t, func(rt *rapid.T) {
		want := models.EduDistrict{
			LEAID: "4800001", Name: cell().Draw(rt, "name"), Website: cell().Draw(rt, "website"), State: "TX",
			LEAType: rapid.Ptr(rapid.IntRange(-9, 1<<31-1), true).Draw(rt, "type"), Charter: rapid.Ptr(rapid.Bool(), true).Draw(rt, "charter"),
			Latitude: rapid.Ptr(rapid.Float64Range(-90, 90), true).Draw(rt, "latitude"),
		}
		release := models.NewID()
		e := store.NewEduEncoder(release)
		e.District(&want)
		require.NoError(rt, st.InOrg(t.Context(), org, func(tx *store.Tx) error {
			n, err := tx.CopyEdu(t.Context(), store.EduDistricts, bytes.NewReader(e.Take(nil)))
			require.EqualValues(rt, 1, n)
			return err
		}))
		got := models.EduDistrict{LEAID: want.LEAID, State: want.State}
		require.NoError(rt, admin.QueryRow(t.Context(), "SELECT name, website, lea_type, charter, latitude FROM edu.districts WHERE release_id = $1", [16]byte(release)).
			Scan(&got.Name, &got.Website, &got.LEAType, &got.Charter, &got.Latitude))
		want.Name, want.Website = strings.ReplaceAll(want.Name, "\x00", ""), strings.ReplaceAll(want.Website, "\x00", "")
		require.Equal(rt, want, got)
	})
}

func TestEduMigrationGoesBothWays(t *testing.T) {
	t.Parallel()
	db := testkit.Database(t, testkit.Product(t))
	for version := int64(99); version > 6; {
		var err error
		version, err = store.MigrateDown(t.Context(), db.Owner)
		require.NoError(t, err)
		require.NotZero(t, version)
	}
	require.Zero(t, db.Count(t, "SELECT count(*) FROM pg_class WHERE relnamespace = 'edu'::regnamespace"))
	n, err := store.MigrateUp(t.Context(), db.Owner)
	require.NoError(t, err)
	require.Positive(t, n)
	require.EqualValues(t, 3, db.Count(t, "SELECT count(*) FROM pg_views WHERE schemaname = 'edu'"))
}
