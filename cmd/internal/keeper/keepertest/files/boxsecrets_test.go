package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// The paths of a command are looked up on its host, by a script that holds the words of options as well.
func TestASecretOfACommandInASandboxIsInNoFile(t *testing.T) {
	const secret = "Tr0ub4dor-and-3-staples"
	w := keepertest.Start(t)
	b, _ := w.Box("here")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: `mysql -uroot -p` + secret + ` -e "drop table x"`, Reason: "PASSWORD=" + secret})
	require.Equal(t, "pending", c.Status)
	looked := 0
	for _, e := range w.AgentEntries(audit.CommandRequest) {
		if e.Rule == "keeper/own" {
			looked++
			assert.NotContains(t, e.Command, secret)
		}
	}
	require.NotZero(t, looked, "it was looked where paths lead")
	require.NoError(t, filepath.WalkDir(w.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		assert.False(t, strings.Contains(string(text), secret), path)
		return err
	}))
}
