package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

type outcomeOf struct {
	code     int
	out, err string
}

// flagHome is a place with one host for calls within this process: hundreds of them are made.
func flagHome(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_RUNTIME_DIR": home, "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", "FAIRLEAD_KEEPER": "off", "SHELL": "/bin/sh"} {
		t.Setenv(name, value)
	}
	t.Chdir(home)
	return home
}

func tryFlags(t *testing.T, args ...string) outcomeOf {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ios, _, out, errOut := iostreams.Test()
	f, done := newFactory(ios, os.Getenv)
	err := Run(ctx, f, args)
	if cerr := done(); err == nil {
		err = cerr
	}
	return outcomeOf{finish(ios, err), out.String(), errOut.String()}
}

func everyCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, c := range cmd.Commands() {
		everyCommand(c, do)
	}
}

// Whatever flag gets a value that it does not take: Fairlead says so in its own words, and exits with 2.
func TestEveryFlagRefusesABadValueInPlainWords(t *testing.T) {
	flagHome(t)
	ios, _, _, _ := iostreams.Test()
	root := NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
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
				r := tryFlags(t, append(path, "--"+name+"="+v)...)
				assert.Equal(t, 2, r.code, "%s --%s=%s: %s", cmd.CommandPath(), name, v, r.err)
				assert.Empty(t, r.out)
				assert.NotRegexp(t, goSpeak, r.err, "%s --%s=%s", cmd.CommandPath(), name, v)
				assert.Contains(t, r.err, "--"+name)
			}
		}
	})
	assert.Greater(t, tried, 80)
}

// Flags whose text is read later.
func TestTextsInFlagsAreRefusedInPlainWords(t *testing.T) {
	home := flagHome(t)
	require.NoError(t, os.WriteFile(filepath.Join(home, "i.yaml"), []byte("version: 1\nhosts:\n  - {name: web1, transport: local, tier: dev}\n"), 0o600))
	require.Zero(t, tryFlags(t, "-i", "i.yaml", "run", "web1", "--", "true").code)
	arguments := map[string][]string{
		"run": {"web1", "--", "true"}, "exec": {"web1", "--", "true"}, "audit show": {"e_"}, "audit purge": {"--before", "90d"}, "audit export": {"--json"},
		"policy check": {"--", "ls"}, "policy explain": {"--", "ls"}, "hosts show": {"web1"}, "hosts ping": {"web1"}, "jobs start": {"web1", "--", "true"}, "setup": {"claude"},
		"jobs output": {"web1/j_x"}, "doctor": {"web1"}, "sandbox create": {"web1", "/tmp"}, "approvals show": {"a_x"},
	}
	ios, _, _, _ := iostreams.Test()
	root := NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
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
			r := tryFlags(t, args...)
			assert.NotRegexp(t, goSpeak, r.err, args)
		})
	})
}
