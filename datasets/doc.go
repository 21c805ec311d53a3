// Package datasets turns official education data files into typed rows: it tells formats apart by content, unwraps gzip
// and zip, decodes, parses and checks, one row at a time, with memory that does not grow with the file. What belongs
// here: file formats, the reference facts that are committed beside it, and name normalization. No database, no network.
//
// A file is opened with Open; its rows come from File.Rows and, after a full pass, File.Checks says whether the whole has
// the shape of what it claims to be. Problems of the file as a whole are fault.BadFile errors whose text says what to do;
// a bad row is a *RowError, reported and counted, and the rows after it still come.
package datasets
