package datasets

import (
	"context"
	"io"
)

// Format is one kind of official file, whatever its layout of the year.
type Format string

// The formats that can be read.
const (
	FormatIPEDSHD      Format = "ipeds_hd"          // IPEDS institution directory, HD<yyyy>
	FormatSAIPE        Format = "saipe_districts"   // Census school-district population and poverty, ussd<yy>
	FormatCCDDirectory Format = "ccd_lea_directory" // CCD directory of local education agencies
)

// Formats lists the formats that can be read.
func Formats() []Format { return []Format{FormatIPEDSHD, FormatSAIPE, FormatCCDDirectory} }

// Title names the format for people.
func (f Format) Title() string {
	switch f {
	case FormatIPEDSHD:
		return "IPEDS institution directory (HD)"
	case FormatSAIPE:
		return "SAIPE school-district estimates"
	case FormatCCDDirectory:
		return "CCD district directory"
	}
	return string(f)
}

// Detect tells by content which format the file in src is; name only helps messages. A file that is none of them is a
// fault.BadFile error that says what it looks like.
func Detect(ctx context.Context, name string, src io.ReaderAt, size int64) (Format, error) {
	_, head, err := locate(ctx, name, src, size)
	if err != nil {
		return "", err
	}
	return head.layout.format, nil
}
