package main_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

func tryFlags(t *testing.T, home string, args ...string) fairleadtest.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fairleadtest.AwaitAtMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, "fairlead", args...)
	cmd.Dir = home
	cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "FAIRLEAD_KEEPER=off", "SHELL=/bin/sh"}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return fairleadtest.Outcome{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errOut.String()}
}

func TestBadValuesAreAnsweredWithAnExample(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "web1", "--timeout", "5", "--", "true"}, "--timeout 5 has no unit: write 5s"},
		{[]string{"run", "web1", "--timeout", "1.5", "--", "true"}, "--timeout 1.5 has no unit: write 1.5s"},
		{[]string{"exec", "web1", "--timeout", "soon", "--", "true"}, "--timeout soon is not a duration: write for example --timeout 30s or --timeout 2m30s"},
		{[]string{"run", "web1", "--timeout", "-5", "--", "true"}, "--timeout -5 is not a duration: write for example --timeout 30s or --timeout 2m30s"},
		{[]string{"run", "all", "-x", "(", "--", "true"}, "--except: selector, column 2: expected a host, a group or a label, but found the end"},
		{[]string{"fetch", "web1:/etc/hosts", "--mode", "rw", "logs"}, `--mode "rw": mode is up to four octal digits, as 0644`},
		{[]string{"runs", "rerun", "--on", "some"}, "--on must be failed, unreachable, notrun or all"},
		{[]string{"sandbox", "edit", "app", "--active="}, `--active="": write --active=true or --active=false`},
		{[]string{"run", "web1", "--json=x", "--", "true"}, "--json=x: --json takes no value: write --json, or leave it out"},
		{[]string{"run", "web1", "--forks", "many", "--", "true"}, "--forks many is not a whole number: write for example --forks 32"},
		{[]string{"run", "web1", "--forks", "99999999999999999999", "--", "true"}, "--forks 99999999999999999999 is out of range: write for example --forks 32"},
		{[]string{"run", "web1", "--exit-code", "mine", "--", "true"}, "--exit-code mine: must be host or own"},
		{[]string{"run", "web1", "--stdin=some", "--", "true"}, "--stdin=some: must be copy, or nothing at all"},
		{[]string{"run", "web1", "--timeout"}, "--timeout needs a value, for example --timeout 30s or --timeout 2m30s"},
		{[]string{"run", "web1", "-x"}, "--except needs a value, for example --except SELECTOR"},
		{[]string{"--keeper", "on", "sessions"}, `--keeper on: must be auto, off or require`},
		{[]string{"--keeper"}, "--keeper needs a value, for example --keeper auto"},
		{[]string{"run", "--=x"}, "--=x is not a flag; see fairlead run --help"},
		{[]string{"setup", "claude", "--print", "--remove"}, "setup takes one of --print and --remove"},
		{[]string{"help", "rnu"}, `fairlead has no command "rnu" (did you mean run or runs?); fairlead --help lists them`},
		{[]string{"help", "hosts", "lsit"}, `fairlead hosts has no command "lsit" (did you mean list?); fairlead hosts --help lists them`},
		{[]string{"hosts", "lsit", "--help"}, `fairlead hosts has no command "lsit" (did you mean list?); fairlead hosts --help lists them`},
		{[]string{"rnu", "--help"}, `fairlead has no command "rnu" (did you mean run or runs?); fairlead --help lists them`},
		{[]string{"--help", "rnu"}, `fairlead has no command "rnu" (did you mean run or runs?); fairlead --help lists them`},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			r := tryFlags(t, home, tt.args...)
			assert.Equal(t, 2, r.Code)
			assert.Equal(t, "fairlead: "+tt.want+"\n", r.Err)
			assert.Empty(t, r.Out)
		})
	}
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	flag, command := tryFlags(t, home, "--version"), tryFlags(t, home, "version")
	assert.Zero(t, flag.Code)
	assert.Equal(t, command.Out, flag.Out)
	assert.Contains(t, flag.Out, "fairlead ")
	assert.Zero(t, tryFlags(t, home, "help", "run").Code)
	assert.Contains(t, tryFlags(t, home, "help", "run").Out, "fairlead run TARGETS")
	for _, group := range []string{"", "hosts", "audit", "policy", "jobs"} {
		usage := tryFlags(t, home, append([]string{"help"}, strings.Fields(group)...)...).Out
		assert.Equal(t, 1, strings.Count(usage, strings.TrimSpace("fairlead "+group)+" COMMAND [flags]\n"), usage)
		assert.NotContains(t, usage, "[command]\n")
	}
	assert.Contains(t, tryFlags(t, home, "help", "exec").Out, "fairlead exec [flags] HOST|SESSION -- COMMAND…\n")
	assert.Contains(t, tryFlags(t, home, "hosts", "list", "--help").Out, "fairlead hosts list")
	assert.Contains(t, tryFlags(t, home, "run", "web1", "--help").Out, "fairlead run TARGETS")
}
