package hostfs

import (
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

var shells = []string{"sh", "bash", "dash", "busybox sh", "zsh", "mksh", "ksh93"}

// say runs source in a shell, as an account that may not do everything, and returns how it ended.
func say(t *testing.T, shell, source string, args ...string) session.Result {
	t.Helper()
	argv := strings.Fields(shell)
	if _, err := exec.LookPath(argv[0]); err != nil {
		needs.Part(t, "%s is not installed", argv[0])
	}
	text, err := scriptOf(source, args...)
	require.NoError(t, err)
	cmd := exec.Command(argv[0], append(argv[1:], "-c", text)...)
	var said, printed strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &said
	code := 0
	if err := cmd.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
		code = cmd.ProcessState.ExitCode()
	}
	return session.Result{Stdout: []byte(printed.String()), Stderr: []byte(said.String()), ExitCode: &code}
}

func TestAScriptGetsItsWordsAsTheyAre(t *testing.T) {
	args := []string{"a b", "", "-n", "'\"$x`", "a\nb", "ä\xff"}
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			r := say(t, shell, `for x; do printf '%s\n.\n' "$x"; done; printf %s "$LC_ALL"`, args...)
			assert.Equal(t, strings.Join(args, "\n.\n")+"\n.\nC", string(r.Stdout))
		})
	}
	_, err := scriptOf("true", "a\x00b")
	require.Error(t, err)
}

// What every shell and its programs say of what goes wrong.
func TestWhatProgramsComplainOfIsKnown(t *testing.T) {
	dir := t.TempDir()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			for source, want := range map[string]error{
				`ls -d -- "$1/missing"`:                      fs.ErrNotExist,
				`cat <"$1/missing"`:                          fs.ErrNotExist,
				`cat >"$1/missing/f" </dev/null`:             fs.ErrNotExist,
				`: >"$1/f"; ls -d "$1/f/g"`:                  fs.ErrNotExist,
				`: >"$1/f"; set -C; cat >"$1/f"`:             fs.ErrExist,
				`mkdir -p "$1/d"; mkdir "$1/d"`:              fs.ErrExist,
				`echo "ls: x: Permission denied" >&2; false`: fs.ErrPermission,
				`exit 90`:                   errCut,
				`exit 91`:                   errOwner,
				`exit 92`:                   errDirectory,
				`printf x | cat >/dev/full`: errNoSpace,
				`echo "mkdir: Disk quota exceeded" >&2; false`: errQuota,
				`echo "rm: Read-only file system" >&2; false`:  errReadOnly,
			} {
				assert.ErrorIs(t, complaint(say(t, shell, source, dir)), want, source)
			}
			err := complaint(say(t, shell, "echo odd >&2; echo more >&2; exit 3"))
			assert.EqualError(t, err, `the host says "odd"`)
			err = complaint(say(t, shell, "PATH=/nowhere; readlink x"))
			assert.ErrorContains(t, err, "the host has no readlink")
		})
	}
}
