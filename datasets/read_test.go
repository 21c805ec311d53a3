package datasets_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/datasets"
	"revarch/fault"
)

func TestInstitutions(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for _, name := range []string{"hd2022.csv", "hd2023.csv"} {
		f, err := open(t, name, all[name], datasets.AllowPartial())
		require.NoError(t, err)
		rows, bad := readRows(t, f)
		require.Empty(t, bad)
		require.Len(t, rows, 4)
		in := rows[0].Institution
		require.Equal(t, "Peñasco", in.City, name)
		require.Equal(t, `1 "Old" Road`, in.Address)
		require.Equal(t, "00900100", in.OPEID)
		require.Equal(t, 15, *in.Carnegie)
		require.Equal(t, "C21BASIC", in.CarnegieEdition)
		require.True(t, *in.CyActive)
		require.False(t, *in.HBCU)
		require.InDelta(t, 36.17, *in.Latitude, 1e-9)
		require.Equal(t, "01040", rows[1].Institution.ZIP)
		require.Equal(t, "00900200", rows[1].Institution.OPEID)
		closed := rows[2].Institution
		require.Equal(t, "Sep-07", closed.ClosedAt)
		require.Equal(t, time.Date(2007, 9, 1, 0, 0, 0, 0, time.UTC), *closed.ClosedOn)
		require.Equal(t, 2023, *closed.DeathYear)
		require.Equal(t, "900101", closed.NewID)
		require.Empty(t, closed.OPEID)
		require.Nil(t, closed.Carnegie)
		require.False(t, *closed.CyActive)
		office := rows[3].Institution
		require.Equal(t, 0, *office.Sector)
		require.Nil(t, office.Control)
		require.Equal(t, "00907", office.ZIP)
		require.Equal(t, "Verde System", office.SystemName)
	}
}

func TestWorkbookAndCSVAreTheSame(t *testing.T) {
	t.Parallel()
	all := samples(t)
	sheet, err := open(t, "upload.bin", all["ussd23.xls"], datasets.AllowPartial())
	require.NoError(t, err)
	require.Equal(t, datasets.Vintage{Year: 2023, Basis: datasets.BasisCalendarYear, Label: "SAIPE 2023", Release: datasets.ReleaseFinal}, sheet.Vintage)
	text, err := open(t, "ussd23.derived.csv", all["ussd23.derived.csv"], datasets.AllowPartial())
	require.NoError(t, err)
	a, bad := readRows(t, sheet)
	require.Empty(t, bad)
	b, bad := readRows(t, text)
	require.Empty(t, bad)
	require.Len(t, a, 4)
	for i := range a {
		require.Equal(t, a[i].Poverty, b[i].Poverty)
	}
	require.Equal(t, datasets.Poverty{
		LEAID: "3599010", State: "NM", FIPS: "35", DistrictID: "99010",
		Name: "Cañon Verde Municipal Schools", Population: 812, Children5to17: 101, EstimateYear: 2023,
	}, *a[1].Poverty)
	_, err = sheet.Checks()
	require.NoError(t, err)
}

func TestDistrictsInBothLayouts(t *testing.T) {
	t.Parallel()
	all := samples(t)
	old, err := open(t, "ag13prelim_tx.csv", all["ag13prelim_tx.csv"])
	require.NoError(t, err)
	require.Equal(t, 2014, old.Vintage.Year)
	require.Equal(t, "2013-14", old.Vintage.Label)
	require.Equal(t, datasets.ReleasePreliminary, old.Vintage.Release)
	rows, bad := readRows(t, old)
	require.Empty(t, bad)
	require.Equal(t, "79322-2130", rows[0].District.ZIP)
	require.Equal(t, "TX", rows[0].District.State)
	require.False(t, *rows[0].District.Charter)
	charter := rows[1].District
	require.True(t, *charter.Charter)
	require.Empty(t, charter.Phone)
	require.Empty(t, charter.GradeLow)
	for _, name := range []string{"ccd_lea_029_2223_w_1a_083023.csv", "ccd_lea_029_2223_w_1a_083023_tab.txt"} {
		f, err := open(t, name, all[name], datasets.AllowPartial())
		require.NoError(t, err)
		require.Equal(t, 2023, f.Vintage.Year)
		require.Equal(t, "1a", f.Vintage.Token)
		rows, bad := readRows(t, f)
		require.Empty(t, bad)
		require.Equal(t, "0199005", rows[0].District.LEAID)
		require.Equal(t, "01", rows[0].District.FIPS)
		require.Equal(t, "35950-1234", rows[0].District.ZIP)
		require.Equal(t, "BI", rows[1].District.State)
		require.True(t, *rows[1].District.Charter)
		require.Equal(t, 3, *rows[1].District.Status)
	}
}

func TestPackedFilesAreUnwrapped(t *testing.T) {
	t.Parallel()
	all := samples(t)
	hd := string(all["hd2022.csv"])
	for name, b := range map[string][]byte{
		"hd2022.csv.gz": gzipped(t, all["hd2022.csv"]),
		"HD2022.zip":    zipped(t, "hd2022.csv", hd, "readme.txt", "read me"),
		"deep.zip":      zipped(t, "hd2022.csv.gz", string(gzipped(t, all["hd2022.csv"]))),
		"wrong.xls":     zipped(t, "a/hd2022.csv", hd),
	} {
		f, err := open(t, name, b, datasets.AllowPartial())
		require.NoError(t, err, name)
		require.Equal(t, datasets.FormatIPEDSHD, f.Format)
		require.Equal(t, 2023, f.Vintage.Year, name)
		rows, bad := readRows(t, f)
		require.Empty(t, bad)
		require.Len(t, rows, 4)
	}
	t.Run("the revised member is taken", func(t *testing.T) {
		t.Parallel()
		revised := strings.ReplaceAll(hd, "Mesa Verde", "Mesa Roja")
		f, err := open(t, "HD2022.zip", zipped(t, "hd2022.csv", hd, "hd2022_rv.csv", revised), datasets.AllowPartial())
		require.NoError(t, err)
		require.Equal(t, datasets.ReleaseRevised, f.Vintage.Release)
		rows, _ := readRows(t, f)
		require.Equal(t, "University of Mesa Roja", rows[0].Institution.Name)
	})
	t.Run("a packed workbook", func(t *testing.T) {
		t.Parallel()
		got, err := datasets.Detect(t.Context(), "x", bytes.NewReader(gzipped(t, all["ussd23.xls"])), int64(len(gzipped(t, all["ussd23.xls"]))))
		require.NoError(t, err)
		require.Equal(t, datasets.FormatSAIPE, got)
	})
}

func TestBadFilesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	all := samples(t)
	hd, saipe := string(all["hd2022.csv"]), string(all["ussd23.derived.csv"])
	noise := make([]byte, 40_000)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	packed := gzipped(t, append(append([]byte{}, all["hd2022.csv"]...), noise...))
	for name, c := range map[string]struct {
		file string
		data string
		want string
	}{
		"missing columns":         {"hd2022.csv", strings.Replace(hd, "STABBR", "STATE_X", 1), "columns are missing: STABBR"},
		"a missing key":           {"hd2022.csv", strings.Replace(hd, "UNITID", "ID", 1), "columns are missing: UNITID"},
		"UTF-16":                  {"hd2022.csv", "\xff\xfeU\x00N\x00", "UTF-16"},
		"broken UTF-8":            {"hd2023.csv", "\xef\xbb\xbf" + hd, "byte order mark"},
		"a truncated gzip":        {"hd2022.csv.gz", string(packed[:len(packed)/2]), "ends early"},
		"a damaged gzip":          {"hd2022.csv.gz", string(packed[:len(packed)-6]) + "xxxxxx", "damaged"},
		"several candidates":      {"all.zip", string(zipped(t, "hd2021.csv", hd, "hd2022.csv", hd)), "several data files (hd2021.csv, hd2022.csv)"},
		"a zip without data":      {"all.zip", string(zipped(t, "a.pdf", "x")), "holds no .csv"},
		"an xlsx":                 {"ussd23.xls", string(zipped(t, "[Content_Types].xml", "x")), ".xlsx"},
		"a cut zip":               {"hd.zip", string(zipped(t, "hd2022.csv", hd)[:200]), "damaged or cut off"},
		"a web page":              {"hd2022.csv", "<!DOCTYPE html><html>404</html>", "web page"},
		"an empty file":           {"hd2022.csv", "", "empty"},
		"a blank file":            {"hd2022.csv", "\n\n", "empty"},
		"another known dataset":   {"hd2022.csv", "UNITID,EFFYLEV,EFYTOTLT\n100654,1,5\n", "12-month enrollment (EFFY)"},
		"an unknown table":        {"x.csv", "a,b\n1,2\n", "wrong file"},
		"a binary file":           {"x.csv", "abc\x00def", "binary"},
		"a PDF":                   {"x.csv", "%PDF-1.4 ...", "PDF"},
		"a damaged workbook":      {"ussd23.xls", string(all["ussd23.xls"][:2000]), "damaged or cut off"},
		"a file cut in a line":    {"ussd23.csv", saipe[:len(saipe)-20], "cut off"},
		"a quote left open":       {"hd2022.csv", hd + `900105,"Open`, "cut off"},
		"a year nobody tells":     {"upload", hd, "which year"},
		"a file that is too big":  {"hd2022.csv", hd + `900105,"` + strings.Repeat("x\n", 1<<20), "longer than 1 MiB"},
		"a national file too few": {"ussd23.csv", saipe, "rows: 4 rows"},
		"another year's closures": {"hd2019.csv", hd + closures(2023, 30), "most closures are of 2023"},
		"a renamed workbook":      {"ussd21.xls", string(all["ussd23.xls"]), "the name says 2021, the content 2023"},
		"the same key twice":      {"hd2022.csv", hd + hdRows[1] + "\n", "repeat the key"},
		"too many unusable rows":  {"ussd23.csv", saipe + "AL,99,1,x,1,1,1\n", "could not be used"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var opts []datasets.Option
			if !strings.HasPrefix(name, "a national") {
				opts = append(opts, datasets.AllowPartial())
			}
			f, err := open(t, c.file, []byte(c.data), opts...)
			if err == nil {
				_, _, err = f.Verify(t.Context())
			}
			require.Error(t, err)
			require.Equal(t, fault.BadFile, fault.CodeOf(err), err.Error())
			require.Contains(t, fault.Public(err), c.want)
		})
	}
}

// closures returns institutions that left in a year.
func closures(year, n int) string {
	var b strings.Builder
	for i := range n {
		row := strings.Replace(strings.Replace(hdRows[1], "900102", "9002"+string(rune('0'+i/10))+string(rune('0'+i%10)), 1), "13,-2,-2", "13,-2,"+time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006"), 1)
		b.WriteString(row + "\r\n")
	}
	return b.String()
}

func TestYearIsInferredFromClosures(t *testing.T) {
	t.Parallel()
	f, err := open(t, "upload", []byte(string(samples(t)["hd2022.csv"])+closures(2022, 30)), datasets.AllowPartial())
	require.NoError(t, err)
	require.Equal(t, "HD2022", f.Vintage.Label)
	f, err = open(t, "upload", samples(t)["hd2022.csv"], datasets.AllowPartial(), datasets.WithYear(2020), datasets.WithRelease(datasets.ReleaseFinal))
	require.NoError(t, err)
	require.Equal(t, "HD2019", f.Vintage.Label)
	require.Equal(t, datasets.ReleaseFinal, f.Vintage.Release)
}

func TestABadRowDoesNotEndTheFile(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		saipeColumns, "AL,01,00005,Good,10,5,1", "AL,01,00006,Poor,10,5,9", "AL,02,00007,Moved,10,5,1",
		"AL,01,0000x,Odd,10,5,1", "AL,01,00008,Short,10", "AL,01,00005,Twice,10,5,1", "AL,01,9,\"Two\nlines\",10,5,1", "",
	}, "\n")
	f, err := open(t, "ussd23.csv", []byte(text), datasets.AllowPartial())
	require.NoError(t, err)
	rows, bad := readRows(t, f)
	require.Len(t, rows, 2)
	require.Equal(t, "Two\nlines", rows[1].Poverty.Name)
	require.Equal(t, "0100009", rows[1].Poverty.LEAID)
	require.Len(t, bad, 5)
	var at []int
	for _, err := range bad {
		var row *datasets.RowError
		require.ErrorAs(t, err, &row)
		at = append(at, row.Line)
	}
	require.Equal(t, []int{3, 4, 5, 6, 7}, at)
	require.Equal(t, 5, f.Stats().Bad)
}

func TestReadingStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := samples(t)["hd2022.csv"]
	f, err := datasets.Open(ctx, "hd2022.csv", bytes.NewReader(b), int64(len(b)), datasets.AllowPartial())
	require.NoError(t, err)
	cancel()
	_, _, err = f.Verify(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
