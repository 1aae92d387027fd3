package main_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// goSpeak is what errors of Go's packages look like.
var goSpeak = regexp.MustCompile(`strconv|parsing |invalid argument|time: |flag: |flag needs|pflag|cobra|if any flags in the group|0x[0-9a-f]{8}|%!|invalid syntax|json: |yaml: |x509: |missing unit`)

// bad are values that a type of flag does not take.
var bad = map[string][]string{
	"duration": {"5", "-5", "1.5", "soon", "", "5 s", "9999999999999h", "--"},
	"bool":     {"x", "yes", "", "2"},
	"int":      {"x", "", "1.5", "99999999999999999999"},
	"float64":  {"x", ""},
	"user":     {"", " "}, // any other name may be somebody's
}

func everyCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, c := range cmd.Commands() {
		everyCommand(c, do)
	}
}

type outcomeOf struct {
	code     int
	out, err string
}

func tryFlags(t *testing.T, home string, args ...string) outcomeOf {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), awaitAtMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, "fairlead", args...)
	cmd.Dir = home
	cmd.Env = []string{gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "FAIRLEAD_KEEPER=off", "SHELL=/bin/sh"}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return outcomeOf{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// Whatever flag gets a value that it does not take: Fairlead says so in its own words, and exits with 2.
func TestEveryFlagRefusesABadValueInPlainWords(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	ios, _, _, _ := iostreams.Test()
	root := cli.NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
	tried := 0
	everyCommand(root, func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		flags := map[string]*pflag.Flag{}
		for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) { flags[f.Name] = f })
		}
		for name, f := range flags {
			values, known := bad[f.Value.Type()]
			switch f.Value.Type() {
			case "string", "stringArray", "stringSlice":
				continue // see below
			}
			if !known {
				values = []string{"\u00e9 bad", ""} // a type of its own, which says what it takes
			}
			for _, v := range values[:min(len(values), 2)] {
				tried++
				r := tryFlags(t, home, append(path, "--"+name+"="+v)...)
				assert.Equal(t, 2, r.code, "%s --%s=%s: %s", cmd.CommandPath(), name, v, r.err)
				assert.Empty(t, r.out)
				assert.NotRegexp(t, goSpeak, r.err, "%s --%s=%s", cmd.CommandPath(), name, v)
				assert.Contains(t, r.err, "--"+name)
			}
		}
	})
	assert.Greater(t, tried, 80)
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
			assert.Equal(t, 2, r.code)
			assert.Equal(t, "fairlead: "+tt.want+"\n", r.err)
			assert.Empty(t, r.out)
		})
	}
}

// Flags whose text is read later.
func TestTextsInFlagsAreRefusedInPlainWords(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "i.yaml"), []byte("version: 1\nhosts:\n  - {name: web1, transport: local, tier: dev}\n"), 0o600))
	require.Zero(t, tryFlags(t, home, "-i", "i.yaml", "run", "web1", "--", "true").code)
	arguments := map[string][]string{
		"run": {"web1", "--", "true"}, "exec": {"web1", "--", "true"}, "audit show": {"e_"}, "audit purge": {"--before", "90d"}, "audit export": {"--json"},
		"policy check": {"--", "ls"}, "policy explain": {"--", "ls"}, "hosts show": {"web1"}, "hosts ping": {"web1"}, "jobs start": {"web1", "--", "true"}, "setup": {"claude"},
		"jobs output": {"web1/j_x"}, "doctor": {"web1"}, "sandbox create": {"web1", "/tmp"}, "approvals show": {"a_x"},
	}
	ios, _, _, _ := iostreams.Test()
	root := cli.NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
	everyCommand(root, func(cmd *cobra.Command) {
		path := strings.Join(strings.Fields(cmd.CommandPath())[1:], " ")
		switch path {
		case "serve", "mcp", "shell", "web", "approvals watch": // they stay
			return
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.HasPrefix(f.Value.Type(), "string") {
				return
			}
			args := append([]string{"-i", "i.yaml"}, strings.Fields(path)...)
			args = append(append(args, "--"+f.Name, "\u00e9 bad"), arguments[path]...)
			r := tryFlags(t, home, args...)
			assert.NotRegexp(t, goSpeak, r.err, args)
		})
	})
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	flag, command := tryFlags(t, home, "--version"), tryFlags(t, home, "version")
	assert.Zero(t, flag.code)
	assert.Equal(t, command.out, flag.out)
	assert.Contains(t, flag.out, "fairlead ")
	assert.Zero(t, tryFlags(t, home, "help", "run").code)
	assert.Contains(t, tryFlags(t, home, "help", "run").out, "fairlead run TARGETS")
	for _, group := range []string{"", "hosts", "audit", "policy", "jobs"} {
		usage := tryFlags(t, home, append([]string{"help"}, strings.Fields(group)...)...).out
		assert.Equal(t, 1, strings.Count(usage, strings.TrimSpace("fairlead "+group)+" COMMAND [flags]\n"), usage)
		assert.NotContains(t, usage, "[command]\n")
	}
	assert.Contains(t, tryFlags(t, home, "help", "exec").out, "fairlead exec [flags] HOST|SESSION -- COMMAND…\n")
	assert.Contains(t, tryFlags(t, home, "hosts", "list", "--help").out, "fairlead hosts list")
	assert.Contains(t, tryFlags(t, home, "run", "web1", "--help").out, "fairlead run TARGETS")
}
