package arr_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/analytics/arr"
	"revarch/fault"
)

func day(t require.TestingT, s string) arr.Date {
	d, err := arr.ParseDate(s)
	require.NoError(t, err)
	return d
}

func TestAnnualize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		cents      int64
		start, end string
		want       int64
	}{
		{"90,000 for 36 months is 30,000", 90_000_00, "2024-07-01", "2027-06-30", 30_000_00},
		{"10,000 for 200 days is 18,250", 10_000_00, "2025-01-10", "2025-07-28", 18_250_00},
		{"twelve months are worth themselves", 12_345_67, "2025-03-15", "2026-03-14", 12_345_67},
		{"a leap year of twelve months is not 366 days", 36_500, "2024-01-01", "2024-12-31", 36_500},
		{"one month counts twelve times", 1_000, "2025-02-01", "2025-02-28", 12_000},
		{"a term from the 31st may end on the last day of a short month", 1_000, "2025-01-31", "2025-02-28", 12_000},
		{"or on the day before it", 1_000, "2025-01-31", "2025-02-27", 12_000},
		{"a year from 29 February ends on 28 February", 5_000, "2024-02-29", "2025-02-28", 5_000},
		{"one day counts 365 times", 100, "2025-05-05", "2025-05-05", 36_500},
		{"half a cent goes to the even cent below", 1, "2023-01-01", "2024-12-31", 0},
		{"half a cent goes to the even cent above", 3, "2023-01-01", "2024-12-31", 2},
		{"credits round like values", -3, "2023-01-01", "2024-12-31", -2},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := arr.Annualize(tc.cents, day(t, tc.start), day(t, tc.end))
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	t.Run("a backward or endless term and a value out of range are refused", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct {
			cents int64
			end   arr.Date
		}{{1, 99}, {1, arr.OpenEnd}, {math.MaxInt64, 100}, {math.MinInt64, 100}} {
			_, err := arr.Annualize(tc.cents, 100, tc.end)
			require.True(t, fault.Is(err, fault.Invalid))
		}
	})
}

func TestAnnualizeProperties(t *testing.T) {
	t.Parallel()

	t.Run("the result is the exact fraction to half a cent", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			v := rapid.Int64Range(-1e15, 1e15).Draw(t, "cents")
			k := rapid.IntRange(1, 120).Draw(t, "months")
			y, m, d := 2025, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), rapid.IntRange(1, 28).Draw(t, "day")
			got, err := arr.Annualize(v, arr.On(y, m, d), arr.On(y, m+time.Month(k), d)-1)
			require.NoError(t, err)
			diff := new(big.Rat).Sub(big.NewRat(got, 1), new(big.Rat).SetFrac(big.NewInt(0).Mul(big.NewInt(v), big.NewInt(12)), big.NewInt(int64(k))))
			half := diff.Abs(diff).Cmp(big.NewRat(1, 2))
			require.LessOrEqual(t, half, 0)
			require.True(t, half != 0 || got%2 == 0)
		})
	})
	t.Run("a date survives its text", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			d := arr.Date(rapid.Int32Range(-100_000, 100_000).Draw(t, "day"))
			require.Equal(t, d, day(t, d.String()))
			require.Equal(t, d, arr.DateOf(d.Time()))
		})
	})
}

func year(t require.TestingT, start string, cents int64) arr.Line {
	s := day(t, start)
	y, m, d := s.Time().Date()
	return arr.Line{Key: "math", ValueCents: cents, Start: s, End: arr.On(y+1, m, d) - 1}
}

func TestAccount(t *testing.T) {
	t.Parallel()
	old := year(t, "2024-07-01", 100_00) // until 2025-06-30

	t.Run("lines in force add up and others do not count", func(t *testing.T) {
		t.Parallel()
		credit, service, pilot, future := old, old, old, year(t, "2025-07-01", 900_00)
		credit.Key, credit.ValueCents = "credit", -30_00
		service.Kind, pilot.Kind, future.Key = arr.OneOff, arr.Pilot, "reading"
		got := arr.Account([]arr.Line{old, credit, service, pilot, future}, arr.Now(old.End, 90))
		require.Equal(t, arr.Total{ARRCents: 70_00, Lines: 2, Pilot: true, EverRecurring: true}, got)
	})

	t.Run("a pilot alone is an active account without ARR", func(t *testing.T) {
		t.Parallel()
		pilot := old
		pilot.Kind = arr.Pilot
		got := arr.Account([]arr.Line{pilot}, arr.Now(old.End, 90))
		require.True(t, got.Active())
		require.Zero(t, got.ARRCents)
		require.False(t, arr.Account([]arr.Line{pilot}, arr.Now(old.End+1, 90)).Active())
	})

	t.Run("the slice of a ramp in force on the date counts", func(t *testing.T) {
		t.Parallel()
		ramp := []arr.Line{old, year(t, "2025-07-01", 150_00), year(t, "2026-07-01", 200_00)}
		for date, want := range map[string]int64{"2025-06-30": 100_00, "2025-07-01": 150_00, "2026-12-31": 200_00} {
			require.Equal(t, want, arr.Account(ramp, arr.Now(day(t, date), 90)).ARRCents, date)
		}
	})

	t.Run("a late renewal stays until grace is over and is then dated back", func(t *testing.T) {
		t.Parallel()
		lines := []arr.Line{old}
		got := arr.Account(lines, arr.Now(old.End+90, 90))
		require.Equal(t, arr.Total{ARRCents: 100_00, PendingCents: 100_00, Lines: 1, Pending: 1, EverRecurring: true}, got)
		gone := arr.Total{ExpiredDate: day(t, "2025-07-01"), EverRecurring: true}
		require.Equal(t, gone, arr.Account(lines, arr.Now(old.End+91, 90)))
		restated := arr.Terms{At: old.End + 1, AsOf: old.End + 91, GraceDays: 90}
		require.Equal(t, gone, arr.Account(lines, restated))
		restated.At = old.End
		require.Equal(t, int64(100_00), arr.Account(lines, restated).ARRCents)
	})

	t.Run("a decision against renewal ends the line with its term", func(t *testing.T) {
		t.Parallel()
		for d, counts := range map[arr.Disposition]bool{
			arr.Churned: false, arr.Lost: false, arr.Pending: true, arr.Renewed: true, arr.Expanded: true, arr.Undecided: true,
		} {
			l := old
			l.Disposition = d
			require.Equal(t, int64(100_00), arr.Account([]arr.Line{l}, arr.Now(l.End, 90)).ARRCents)
			require.Equal(t, counts, arr.Account([]arr.Line{l}, arr.Now(l.End+1, 90)).Lines == 1)
		}
	})

	t.Run("a renewal line takes over only once it has started", func(t *testing.T) {
		t.Parallel()
		renewal := year(t, "2025-08-15", 120_00)
		lines := []arr.Line{old, renewal}
		require.Equal(t, int64(100_00), arr.Account(lines, arr.Now(day(t, "2025-08-14"), 90)).ARRCents)
		require.Equal(t, int64(120_00), arr.Account(lines, arr.Now(day(t, "2025-08-15"), 90)).ARRCents)
		require.Equal(t, arr.Superseded, arr.StateOf(lines, 0, arr.Now(day(t, "2025-08-15"), 90)))
		lines[1].Key = "reading"
		require.Equal(t, int64(220_00), arr.Account(lines, arr.Now(day(t, "2025-08-15"), 90)).ARRCents)
	})

	t.Run("an account-level figure counts only while there are no product lines", func(t *testing.T) {
		t.Parallel()
		total := arr.Line{ValueCents: 500_00, Annual: true, Start: day(t, "2023-01-01"), End: arr.OpenEnd, AccountTotal: true}
		lines := []arr.Line{total, old}
		before := arr.Account(lines, arr.Now(old.Start-1, 90))
		require.True(t, before.FromTotal)
		require.Equal(t, int64(500_00), before.ARRCents)
		require.Equal(t, int64(100_00), arr.Account(lines, arr.Now(old.Start, 90)).ARRCents)
		require.Zero(t, arr.Account(lines, arr.Now(old.End+91, 90)).ARRCents)
		lines[1].Kind = arr.Hardware
		require.Equal(t, int64(500_00), arr.Account(lines, arr.Now(old.Start, 90)).ARRCents)
	})

	t.Run("a negative total is counted and flagged", func(t *testing.T) {
		t.Parallel()
		credit := old
		credit.ValueCents = -5_00
		got := arr.Account([]arr.Line{credit}, arr.Now(old.End, 90))
		require.True(t, got.Negative)
		require.Equal(t, int64(-5_00), got.ARRCents)
	})

	t.Run("a line that makes no sense is named and the rest counts", func(t *testing.T) {
		t.Parallel()
		bad := old
		bad.End = bad.Start - 1
		got := arr.Account([]arr.Line{bad, old}, arr.Now(old.End, 90))
		require.Equal(t, []int{0}, got.InvalidLines)
		require.Equal(t, int64(100_00), got.ARRCents)
	})
	t.Run("terms that look ahead are refused", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, arr.Now(old.End, 90).Validate())
		require.True(t, fault.Is(arr.Terms{At: 2, AsOf: 1}.Validate(), fault.Invalid))
		require.True(t, fault.Is(arr.Now(1, -1).Validate(), fault.Invalid))
	})
}

func TestAccountProperties(t *testing.T) {
	t.Parallel()
	anyLine := rapid.Custom(func(t *rapid.T) arr.Line {
		start := arr.Date(rapid.Int32Range(20_000, 20_800).Draw(t, "start"))
		return arr.Line{
			Key: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key"), Start: start,
			End:        start + arr.Date(rapid.Int32Range(0, 800).Draw(t, "length")),
			ValueCents: rapid.Int64Range(-1e9, 1e10).Draw(t, "cents"), Kind: arr.Kind(rapid.IntRange(0, 4).Draw(t, "kind")),
			Disposition: arr.Disposition(rapid.IntRange(0, 5).Draw(t, "disposition")), AccountTotal: rapid.IntRange(0, 4).Draw(t, "total") == 0,
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(anyLine, 0, 8).Draw(t, "lines")
		at := arr.Now(arr.Date(rapid.Int32Range(19_900, 21_800).Draw(t, "at")), rapid.IntRange(0, 120).Draw(t, "grace"))
		got := arr.Account(lines, at)
		require.Equal(t, got.ARRCents < 0, got.Negative)
		require.LessOrEqual(t, got.Pending, got.Lines)

		shuffled := arr.Account(rapid.Permutation(lines).Draw(t, "order"), at)
		require.Equal(t, got, shuffled, "the order of lines changes nothing")

		sum := int64(0)
		for i, l := range lines {
			cents, err := l.AnnualCents()
			require.NoError(t, err)
			if arr.StateOf(lines, i, at).Counts() && l.AccountTotal == got.FromTotal {
				sum += cents
			}
		}
		require.Equal(t, sum, got.ARRCents, "the total is the sum of its lines")

		at.AsOf += 10_000 // with every grace period over, only lines inside their term are left
		require.Zero(t, arr.Account(lines, at).Pending)
	})
}
