package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// A flag of another program leads to what does the same here, and is none of the command's own.
func TestFlagsOfOtherProgramsLeadToThoseOfThisOne(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	for path, flags := range flagHabits {
		for name, hint := range flags {
			root := NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
			if path == "" {
				path = "version"
			}
			c, _, err := root.Find(strings.Fields(path))
			require.NoError(t, err)
			flag := "--" + name
			if len(name) == 1 {
				flag = "-" + name
			}
			if got := c.ParseFlags([]string{flag}); assert.Error(t, got, "%s has %s", path, flag) {
				assert.ErrorContains(t, c.FlagErrorFunc()(c, got), "unknown flag: "+flag+" ("+hint+"); see fairlead "+path+" --help")
			}
		}
	}
}

func TestFlagsThatAreNearlyThereAreNamed(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	root := NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
	c, _, err := root.Find([]string{"run"})
	require.NoError(t, err)
	for flag, want := range map[string]string{
		"--frks": "unknown flag: --frks (did you mean --forks?); see fairlead run --help", "--xyzzy": "unknown flag: --xyzzy; see fairlead run --help",
		"-Z": "unknown flag: -Z; see fairlead run --help",
	} {
		assert.EqualError(t, c.FlagErrorFunc()(c, c.ParseFlags([]string{flag})), want)
	}
}

// A command that is near, and known from other programs, is named once.
func TestACommandIsNamedOnce(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	root := NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
	knowHabits(root)
	assert.ErrorContains(t, cmdutil.Group(root, []string{"copy"}), "(did you mean cp?)")
}

func TestWordsOfOtherProgramsLeadToCommandsOfThisOne(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	root := NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
	knowHabits(root)
	of := func(path string) *cobra.Command {
		c, rest, err := root.Find(strings.Fields(path))
		require.NoError(t, err, path)
		require.Empty(t, rest, "%q is not a command", path)
		return c
	}
	for path, words := range habits {
		c := of(path)
		require.True(t, slices.IsSorted(strings.Fields(words)), path)
		for _, word := range strings.Fields(words) {
			there, _, err := c.Parent().Find([]string{word})
			assert.True(t, err != nil || there == c.Parent(), "%s %s is a command of its own", c.Parent().CommandPath(), word)
			err = cmdutil.Group(c.Parent(), []string{word})
			assert.ErrorContains(t, err, "did you mean")
			assert.ErrorContains(t, err, c.Name())
		}
	}
}

// What is typed as for ssh, docker and kubectl leads to the command that does it.
func TestCommandLinesOfOtherProgramsLeadToCommands(t *testing.T) {
	for line, want := range map[string]string{
		"web1 ls /srv":        `fairlead has no command "web1": fairlead run web1 -- ls /srv runs a command on hosts, and fairlead ssh web1 … is as ssh`,
		"root@db uptime":      `fairlead has no command "root@db": fairlead run root@db -- uptime runs a command on hosts, and fairlead ssh root@db … is as ssh`,
		"web1":                `fairlead has no command "web1" (did you mean web?)`,
		"rnu web uptime":      `fairlead has no command "rnu" (did you mean run or runs?)`,
		"exec -it web1 bash":  "--inventory t: there is no such file; if -it is meant, fairlead shell HOST opens a terminal",
		"shell -it web1 bash": "--inventory t: there is no such file; if -it is meant, fairlead shell HOST opens a terminal",
	} {
		ios, _, _, _ := iostreams.Test()
		root := NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
		root.SetArgs(strings.Fields(line))
		assert.ErrorContains(t, root.Execute(), want, line)
	}
}
