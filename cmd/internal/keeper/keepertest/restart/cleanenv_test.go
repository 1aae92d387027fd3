package restart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestTheEnvironmentIsCleanWhereThePolicySaysSo(t *testing.T) {
	t.Setenv("FAIRLEAD_TEST_SECRET", "hunter2")
	w := keepertest.Start(t)
	sshd := sessiontest.OpenSSHD(t, "SetEnv FAIRLEAD_TEST_SECRET=hunter2 HOME="+t.TempDir(), "SetEnv LC_TEST=x")
	require.NoError(t, os.WriteFile(w.Inventory, []byte(fmt.Sprintf("%s  - {name: sshd, tier: dev, ssh_config: %s}\n", keepertest.Here, sshd.Config)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte(`version: 1
rules:
  - {name: all, hosts: all, principals: ["role=agent"], classes: [read-only, sensitive-read, write, unknown], verdict: allow}
principals:
  - {name: agent/clean, env: clean}
`), 0o600))
	names := func(text string) (out []string) {
		for line := range strings.Lines(text) {
			name, _, _ := strings.Cut(line, "=")
			switch name {
			case "PWD", "OLDPWD", "SHLVL", "_", "A__z", "_AST_FEATURES": // the shell's own
			default:
				out = append(out, strings.TrimSpace(name))
			}
		}
		slices.Sort(out)
		return out
	}
	want := []string{"HOME", "LANG", "LOGNAME", "PATH", "TERM", "USER"}
	for _, host := range []string{"here", "sshd"} {
		s, err := w.As("agent/clean").Open(t.Context(), wire.Open{Host: host})
		require.NoError(t, err)
		r := w.RunIn(w.As("agent/clean"), s.ID, "env")
		assert.Equal(t, want, names(r.Stdout), "%s: %+v", host, r.Error)
		r = w.RunIn(w.As("agent/clean"), s.ID, "x=1; export x; cd /; env")
		assert.Equal(t, append(slices.Clone(want), "x"), names(r.Stdout), host)
		s, err = w.As("agent/other").Open(t.Context(), wire.Open{Host: host})
		require.NoError(t, err)
		assert.Contains(t, names(w.RunIn(w.As("agent/other"), s.ID, "env").Stdout), "PAGER", host)
	}
}
