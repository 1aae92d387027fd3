package cli

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// One of two values would have no effect, and which one is not to be seen.
func TestAFlagThatIsGivenTwiceIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"run", "here", "--cwd", "/a", "--cwd=/b", "--", "true"}, {"run", "--fold", "here", "--fold=false", "--", "true"}, {"run", "-l", "a", "here", "--login", "b", "--", "true"},
		{"--keeper", "off", "hosts", "list", "--keeper=auto"}, {"exec", "-s", "a", "-s", "b", "here", "--", "true"}, {"cp", "--mode", "0644", "a", "here:/b", "--mode=0600"},
		{"run", "here", "--become", "--become=app", "--", "true"}, {"runs", "list", "--json", "--json=false"},
	} {
		code, _, errOut := called(t, "", args...)
		assert.Equal(t, 2, code, args)
		assert.Regexp(t, "^fairlead: --[a-z]+ is given twice, with different values: leave one out\n$", errOut, args)
	}
	for _, args := range [][]string{
		{"policy", "check", "--tier", "dev", "--tier=dev", "--", "echo", "--tier", "x", "--tier", "y"}, // what stands behind -- is the command's
		{"policy", "check", "--tier", "dev", "--json", "--json", "--", "uptime"},
	} {
		code, _, errOut := called(t, "", args...)
		assert.Equal(t, 0, code, "%v: %s", args, errOut)
	}
}

func TestWhatAnAliasGivesCanBeGivenOtherwise(t *testing.T) {
	_, want, _ := called(t, "", "policy", "check", "--tier", "prod", "--", "uptime")
	code, out, errOut := called(t, aliases, "see", "--tier", "prod", "--", "uptime")
	require.Equal(t, 0, code, errOut)
	assert.Equal(t, want, out)
	code, _, errOut = called(t, aliases, "see", "--tier", "prod", "--tier", "dev", "--", "uptime")
	assert.Equal(t, 2, code)
	assert.Contains(t, errOut, "--tier is given twice")
}

// A flag that may be repeated says so in its help, and all that does so may be.
func TestFlagsThatMayBeRepeatedSaySo(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	f, done := newFactory(ios, func(string) string { return "" })
	defer func() { require.NoError(t, done()) }()
	var visit func(cmd *cobra.Command)
	n := 0
	visit = func(cmd *cobra.Command) {
		cmd.InheritedFlags()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "inventory" {
				return
			}
			says := saysRepeated.MatchString(f.Usage)
			if says || repeats(f) {
				n++
			}
			assert.Equal(t, repeats(f), says, "%s --%s", cmd.CommandPath(), f.Name)
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(NewRoot(f))
	assert.Positive(t, n)
}

var saysRepeated = regexp.MustCompile("; repeatable$")
