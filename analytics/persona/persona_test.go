package persona_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/analytics/persona"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]persona.Tier{
		"Superintendent": persona.T1, "Superintendent of Schools": persona.T1, "President": persona.T1, "Chancellor": persona.T1,
		"Chief Financial Officer": persona.T1, "CFO": persona.T1, "CBO": persona.T1,
		"Assistant to the Superintendent": persona.None, "Executive Assistant to the President": persona.None, "Student": persona.None,
		"Intern, Office of the CIO": persona.None, "Secretary, Superintendent's Office": persona.None,
		"Deputy Superintendent": persona.T2, "Asst. Superintendent, Curriculum": persona.T2, "Vice President for Enrollment": persona.T2,
		"Provost": persona.T2, "Chief Technology Officer": persona.T2, "CIO": persona.T2, "Associate Provost": persona.T2, "VP, IT": persona.T2,
		"Director of Technology": persona.T3, "Dean of Students": persona.T3, "Dean": persona.T3, "Registrar": persona.T3, "Controller": persona.T3,
		"Principal": persona.T4, "Instructional Coordinator": persona.T4, "Department Chair": persona.T4,
		"Math Teacher": persona.T5, "Reading Specialist": persona.T5, "Professor of Biology": persona.T5,
		"": persona.None, "Wizard": persona.None,
	} {
		require.Equal(t, want, persona.Of(title), title)
	}
}
