package policy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// The functions keep the programs from settings of the account, change nothing else, and are there only for what is installed.
func TestFunctionsOfAgentsKeepSettingsAway(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"curl", "wget", "python3"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+" \"$HOME\" \"$@\"\n"), 0o755))
	}
	script := policy.AgentPrelude + "set -u; curl -s 'a b'; wget x; python3; python3 -m json.tool f; python3 -m http f; command -v dig; echo $HOME"
	want := "curl /h -q -s a b\nwget /dev/null x\npython3 /h\npython3 /h -I -m json.tool f\npython3 /h -m http f\n/h\n"
	for _, shell := range []string{"bash", "zsh", "dash", "ksh93", "mksh", "busybox ash"} {
		words := strings.Fields(shell)
		path, err := exec.LookPath(words[0])
		if err != nil {
			require.Empty(t, os.Getenv("CI"), "%s is not installed", shell)
			t.Logf("%s is not installed", shell)
			continue
		}
		cmd := exec.CommandContext(t.Context(), path, append(words[1:], "-c", script)...)
		cmd.Env = []string{"HOME=/h", "PATH=" + dir}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", shell, out)
		assert.Equal(t, want, string(out), shell)
	}
}
