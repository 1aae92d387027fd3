package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestAValueApartFromItsFlagIsExplained(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for how, want := range map[string]string{
		"run --become postgres web1 -- id":        "; what --become takes stands behind =, as in --become=postgres\n",
		"run web1 --become postgres -- id":        "; what --become takes stands behind =, as in --become=postgres\n",
		"exec --become postgres web1 -- id":       "as in --become=postgres\n",
		"shell --become postgres web1":            "as in --become=postgres\n",
		"jobs start --become postgres web1 -- id": "as in --become=postgres\n",
		"cp --become postgres none web1:/x":       "as in --become=postgres\n",
		"run web1 --stdin copy -- cat":            "; what --stdin takes stands behind =, as in --stdin=copy\n",
		"run --become web1 --nothing -- id":       "",
		"run --become web1":                       "",
		"cp --become none web1:/x":                "",
		"run a b -- echo --become postgres":       "",
		"run --become=root a b -- echo":           "",
		"run a -- --become postgres b":            "",
	} {
		ios, _, out, errOut := iostreams.Test()
		f, _ := newFactory(ios, func(string) string { return "" })
		code := finish(ios, Run(context.Background(), f, strings.Fields(how)))
		assert.Empty(t, out.String(), how)
		if want == "" {
			assert.NotContains(t, errOut.String(), "stands behind", how)
			continue
		}
		assert.Equal(t, 2, code, how)
		assert.Contains(t, errOut.String(), want, how)
	}
}
