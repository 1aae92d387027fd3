package jobs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Distributions pack perl without its modules, and a perl may not start at all: a job starts without it then.
func TestAJobStartsWhereSomethingOfPerlIsMissing(t *testing.T) {
	perl, err := exec.LookPath("perl")
	if err != nil {
		needs.Part(t, "perl is not installed")
	}
	for name, program := range map[string]string{
		"POSIX": `case $1 in (-MPOSIX) echo "Can't locate POSIX.pm" >&2; exit 2;; esac; exec ` + perl + ` "$@"`,
		"all":   "echo perl: cannot open shared object file >&2; exit 127",
	} {
		t.Run(name, func(t *testing.T) {
			home(t)
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "perl"), []byte("#!/bin/sh\n"+program+"\n"), 0o700))
			h := jobs.On(pool(t), hosts.Host{Name: "here", Transport: hosts.Local, Shell: "bash", Env: []string{"PATH=" + dir + ":" + os.Getenv("PATH")}})
			l := ended(t, h, started(t, h, "echo out; echo err >&2; exit 3").ID)
			require.NotNil(t, l.ExitCode, l.State)
			assert.Equal(t, 3, *l.ExitCode)
			assert.Equal(t, []string{"out\n", "err\n"}, []string{string(l.Stdout), string(l.Stderr)})
		})
	}
}

// What a small system lacks is said, and not taken for what fails without it.
func TestAHostSaysWhatAJobTakesAndItLacks(t *testing.T) {
	home(t)
	for _, lacks := range []string{"cat", "find", "head", "id", "mkdir", "mv", "rm", "rmdir", "tail", "wc"} {
		dir := t.TempDir()
		for _, name := range []string{"sh", "bash", "perl", "stty", "uname", "date", "sleep", "readlink", "cat", "find", "head", "id", "mkdir", "mv", "rm", "rmdir", "tail", "wc"} {
			if path, err := exec.LookPath(name); err == nil && name != lacks {
				require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
			}
		}
		h := jobs.On(pool(t), hosts.Host{Name: "here", Transport: hosts.Local, Shell: "bash", Env: []string{"PATH=" + dir}})
		_, _, err := h.Start(t.Context(), jobs.Spec{Command: "true"})
		assert.Equal(t, jobs.CodeUnsupported, code(err), lacks)
		assert.ErrorContains(t, err, "the host has no "+lacks+", which jobs take")
		_, _, err = h.List(t.Context(), "")
		assert.ErrorContains(t, err, "the host has no "+lacks+", which jobs take")
	}
}
