package datasets_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"

	"revarch/datasets"
	"revarch/datasets/xls/xlstest"
)

var update = flag.Bool("update", false, "rewrite the samples in testdata")

// The samples are invented rows in the official layouts, each with what is awkward about that layout.

const hdColumns = "UNITID,INSTNM,IALIAS,ADDR,CITY,STABBR,ZIP,FIPS,WEBADDR,OPEID,SECTOR,ICLEVEL,CONTROL,DEGGRANT,HBCU,TRIBAL,LOCALE,NEWID,DEATHYR,CLOSEDAT,CYACTIVE,C21BASIC,INSTSIZE,F1SYSNAM,COUNTYCD,COUNTYNM,LONGITUD,LATITUDE"

var hdRows = []string{
	`900101,"University of Mesa Verde","UMV|Verde U","1 ""Old"" Road","Peñasco","NM","87553-0110",35,"www.umv.example",00900100,1,1,1,1,2,2,43,-2,-2,"-2",1,15,3,"-2",35055,"Taos County",-105.69,36.17`,
	`900102,"St. Brendan's Coll.","","9 Elm St","Holyoke","MA","1040",25,"https://sb.example",900200,2,1,2,1,2,2,13,-2,-2,"-2",1,21,1,"-2",25013,"Hampden County",-72.6,42.2`,
	`900103,"Closed Institute of Hair, The","","5 Pine St","Reno","NV","89501",32," ",-2,9,3,3,2,2,2,12,900101,2023,"Sep-07",3,-2,1,"-2",32031,"Washoe County",-119.8,39.5`,
	`900104,"Verde System Office","","2 Main St","San Juan","PR","907",72,"",00900300,0,-3,-3,-3,2,2,-3,-2,-2,"-2",1,-2,-2,"Verde System",72127,"San Juan Municipio",-66.1,18.4`,
}

const saipeColumns = "State Postal Code,State FIPS Code,District ID,Name,Estimated Total Population,Estimated Population 5-17,Estimated number of relevant children 5 to 17 years old in poverty who are related to the householder"

var saipeRows = [][]any{
	{"AL", "01", "99005", "Old Mill City School District", 21527, 4057, 1803},
	{"NM", "35", "99010", "Cañon Verde Municipal Schools", 812, 101, 0},
	{"TX", "48", "99020", "Prairie Consolidated Independent School District", 5452, 773, 93},
	{"PR", "72", "99030", "Invented Island", 32201, 4184, 2095},
}

const ccdWide = `SURVYEAR,LEAID,FIPST,STID,NAME,PHONE,MSTREE,MCITY,MSTATE,MZIP,MZIP4,LSTREE,LCITY,LSTATE,LZIP,LZIP4,TYPE,UNION,CONUM,CONAME,CSA,CBSA,METMIC,ULOCAL,CDCODE,LATCOD,LONCOD,BOUND,GSLO,GSHI
2013,4899001,48,999901,PRAIRIE CISD,8065550100,1 MAIN ST,PRAIRIE,TX,79322,2130,1 MAIN ST,PRAIRIE,TX,79322,2130,1,000,48107,CROSBY COUNTY,352,31180,1,00:00:00,4819,33.65,-101.24,1,PK,12
2013,4899002,48,999902,OPEN SKY CHARTER,M,N,SPUR,TX,79370,,N,SPUR,TX,79370,,7,N,48107,CROSBY COUNTY,N,N,0,00:00:00,4813,33.48,-100.87,2,N,N
`

const ccdModern = `SCHOOL_YEAR,FIPST,STATENAME,ST,LEA_NAME,STATE_AGENCY_NO,UNION,ST_LEAID,LEAID,MSTREET1,MCITY,MSTATE,MZIP,MZIP4,LSTREET1,LCITY,LSTATE,LZIP,LZIP4,PHONE,WEBSITE,SY_STATUS,SY_STATUS_TEXT,UPDATED_STATUS,EFFECTIVE_DATE,LEA_TYPE,LEA_TYPE_TEXT,CHARTER_LEA,GSLO,GSHI,LEVEL
2022-2023,1,ALABAMA,AL,Old Mill City,01,,AL-999,199005,1 Mill Rd,Old Mill,AL,35950,1,1 Mill Rd,Old Mill,AL,35950,1234,(256)555-0100,http://www.oldmill.example,1,Open,1,08/29/2022,1,Regular public school district,NOTCHR,PK,12,Other
2022-2023,59,BUREAU OF INDIAN EDUCATION,BI,Invented Nation School,59,,BI-1,5999001,"Box 1, Route 2",Shiprock,NM,87420,,"Box 1, Route 2",Shiprock,NM,87420,,,,3,New,3,07/01/2022,6,Federal,CHRTIDEAESEA,KG,08,Elementary
`

func samples(t *testing.T) map[string][]byte {
	t.Helper()
	lines := hdColumns + "\r\n" + strings.Join(hdRows, "\r\n") + "\r\n"
	legacy, err := charmap.Windows1252.NewEncoder().String(lines)
	require.NoError(t, err)
	table := [][]any{{"Table with column headers in row 3"}, {"2023 Poverty Estimates for School districts    Source: invented"}}
	var columns []any
	for c := range strings.SplitSeq(saipeColumns, ",") {
		columns = append(columns, c)
	}
	derived := saipeColumns + "\n"
	for _, row := range saipeRows {
		derived += strings.TrimSuffix(strings.Repeat("%v,", 7), ",") + "\n"
		derived = fmt.Sprintf(derived, row...)
	}
	return map[string][]byte{
		"hd2022.csv":                           []byte(legacy),
		"hd2023.csv":                           []byte("\xef\xbb\xbf" + lines),
		"ussd23.xls":                           xlstest.Workbook(append(append(table, columns), saipeRows...), xlstest.Options{}),
		"ussd23.derived.csv":                   []byte(derived),
		"ag13prelim_tx.csv":                    []byte(ccdWide),
		"ccd_lea_029_2223_w_1a_083023.csv":     []byte(ccdModern),
		"ccd_lea_029_2223_w_1a_083023_tab.txt": []byte(strings.ReplaceAll(strings.ReplaceAll(ccdModern, `"Box 1, Route 2"`, "Box 1"), ",", "\t")),
	}
}

func TestSamplesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, want := range samples(t) {
		at := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o750))
			require.NoError(t, os.WriteFile(at, want, 0o600))
		}
		got, err := os.ReadFile(at)
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
}

func open(t *testing.T, name string, b []byte, opts ...datasets.Option) (*datasets.File, error) {
	t.Helper()
	return datasets.Open(t.Context(), name, bytes.NewReader(b), int64(len(b)), opts...)
}

func readRows(t *testing.T, f *datasets.File) (rows []datasets.Row, bad []error) {
	t.Helper()
	for row, err := range f.Rows(t.Context()) {
		if err != nil {
			bad = append(bad, err)
			continue
		}
		rows = append(rows, row)
	}
	return rows, bad
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

func zipped(t *testing.T, members ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(members); i += 2 {
		w, err := z.Create(members[i])
		require.NoError(t, err)
		_, err = w.Write([]byte(members[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}
