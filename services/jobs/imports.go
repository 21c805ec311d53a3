package jobs

import "github.com/google/uuid"

// ImportID is the workflow id of importing files of a resource; one runs at a time.
func ImportID(org uuid.UUID, resource string) string {
	return "import/" + org.String() + "/" + resource
}
