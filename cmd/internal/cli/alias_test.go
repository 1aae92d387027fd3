package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// called runs the program with a config.yaml, in a home of its own.
func called(t *testing.T, settings string, args ...string) (code int, out, errOut string) {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "fairlead")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(settings), 0o600))
	return calledAt(t, home, args...)
}

func calledAt(t *testing.T, home string, args ...string) (code int, out, errOut string) {
	t.Helper()
	ios, _, stdout, stderr := iostreams.Test()
	f, done := newFactory(ios, func(key string) string { return map[string]string{"HOME": home}[key] })
	code = finish(ios, Run(context.Background(), f, args))
	require.NoError(t, done())
	return code, stdout.String(), stderr.String()
}

const aliases = `alias:
  see: policy check --tier dev
  seen: see --
`

func TestAnAliasStandsForACommandAndItsFirstArguments(t *testing.T) {
	_, want, _ := called(t, "", "policy", "check", "--tier", "dev", "--", "uptime")
	require.NotEmpty(t, want)
	for _, args := range [][]string{{"see", "--", "uptime"}, {"seen", "uptime"}, {"--keeper", "off", "seen", "uptime"}} {
		code, out, errOut := called(t, aliases, args...)
		assert.Equal(t, 0, code, errOut)
		assert.Equal(t, want, out, args)
	}
	code, out, _ := called(t, aliases, "see", "--help")
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "fairlead policy check")
}

func TestAnAliasCannotHaveTheNameOfACommand(t *testing.T) {
	for _, name := range []string{"run", "help", "completion", "__complete", "hosts"} {
		for _, args := range [][]string{{"up"}, {"run", "all", "--", "uptime"}} {
			code, _, errOut := called(t, "alias:\n  "+name+": doctor\n", args...)
			assert.Equal(t, 2, code, name)
			assert.Contains(t, errOut, "config.yaml:2: alias", name)
		}
	}
	code, out, _ := called(t, "alias: {run: doctor}\n", "version")
	assert.Equal(t, 0, code, "what needs no settings runs")
	assert.NotEmpty(t, out)
}

func TestAWordThatIsNeitherIsRefusedAsBefore(t *testing.T) {
	code, _, errOut := called(t, aliases, "rnu")
	assert.Equal(t, 2, code)
	assert.Contains(t, errOut, `fairlead has no command "rnu" (did you mean run or runs?)`)
}

func TestAliasesAreCompleted(t *testing.T) {
	_, out, _ := called(t, aliases, "__complete", "see")
	assert.Contains(t, out, "see\tpolicy check --tier dev\n")
	assert.Contains(t, out, "seen\tsee --\n")
	_, want, _ := called(t, "", "__complete", "policy", "check", "--pri")
	require.Contains(t, want, "--principal")
	_, out, _ = called(t, aliases, "__complete", "see", "--pri")
	assert.Equal(t, want, out)
}

func TestHostsWithoutATierAreToldOnceADay(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "hosts.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	list := func() string {
		code, _, errOut := calledAt(t, home, "-i", file, "hosts", "list")
		require.Equal(t, 0, code, errOut)
		return errOut
	}
	write("version: 1\nhosts: [{name: a}]\n")
	assert.Contains(t, list(), "1 host has no tier")
	assert.Empty(t, list())
	write("version: 1\nhosts: [{name: a}, {name: b}]\n")
	assert.Contains(t, list(), "2 hosts have no tier", "that is something else")
	assert.Empty(t, list())

	dir := filepath.Join(home, ".local", "state", "fairlead", "shown")
	shown, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, shown, 2)
	for _, s := range shown {
		name := filepath.Join(dir, s.Name())
		st, err := os.Stat(name)
		require.NoError(t, err)
		yesterday := st.ModTime().AddDate(0, 0, -2)
		require.NoError(t, os.Chtimes(name, yesterday, yesterday))
	}
	assert.Contains(t, list(), "2 hosts have no tier", "it is another day")
	shown, err = os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, shown, 1, "what was shown on other days is forgotten")
}
