package restart_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestVariablesThatAreNoneOpenNoSession(t *testing.T) {
	w := keepertest.Start(t)
	for name, env := range map[string]map[string]string{
		"a name and a value":  {"LANG=C; x": "y"},
		"two in one":          {"LANG=C\nPATH": "/x"},
		"a NUL in the name":   {"LANG\x00": "C"},
		"a NUL in the value":  {"LANG": "C\x00x"},
		"no name":             {"": "C"},
		"code":                {"$(id)": "C"},
		"what an agent needs": {"PATH=/x": ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, as := range []string{"", "agent/a"} {
				status, p := w.API(as, "POST", "/v1/sessions", wire.Open{Host: "here", Env: env}, nil)
				assert.Equal(t, http.StatusUnprocessableEntity, status, p.Detail)
				assert.Equal(t, "invalid", p.Code)
			}
		})
	}
	all, err := w.Sessions(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
}
