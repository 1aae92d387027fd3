package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

const (
	hostsFirst = "name the hosts first: fairlead run HOSTS -- COMMAND"
	noAsking   = "Fairlead asks for a password when a host needs it, without a flag"
	ownCommand = "write the command behind --: fairlead run HOSTS -- COMMAND"
)

// flagHabits are flags that people know from clush, pdsh, pssh, Ansible, Fabric, Salt and kubectl, by the command that they are given to
// ("" is every one): what does the same here. A value of the flag is not known here.
var flagHabits = map[string]map[string]string{
	"run": {
		"w": hostsFirst, "nodes": hostsFirst, "host": hostsFirst, "hosts": hostsFirst, "H": hostsFirst, "targets": hostsFirst,
		"g": "write @GROUP as the hosts: fairlead run @GROUP -- COMMAND", "group": "write @GROUP as the hosts: fairlead run @GROUP -- COMMAND",
		"a": "write all as the hosts: fairlead run all -- COMMAND", "all": "write all as the hosts: fairlead run all -- COMMAND",
		"b": "clush's -b is --fold, Ansible's is --become", "B": "clush's -B is --fold", "dshbak": "--fold prints identical output once",
		"S": "the exit code says how the hosts did without it", "f": "--forks N", "fanout": "--forks N", "parallel": "--forks N",
		"t": "--timeout 30s limits the command, --connect-timeout 5s the connection", "u": "--timeout 30s limits the command; an account is -l NAME",
		"command-timeout": "--timeout 30s", "batch-size": "--batch N", "serial": "--batch N",
		"m": "there are no modules; " + ownCommand, "module-name": "there are no modules; " + ownCommand, "args": ownCommand, "c": ownCommand,
		"K": noAsking, "k": noAsking, "ask-become-pass": noAsking, "ask-pass": noAsking, "askpass": noAsking,
		"become-user": "--become=ACCOUNT", "sudo": "--become", "become-method": "become: in the inventory sets the method",
		"C": "--dry-run shows what would run where, and --held runs it without letting it change anything", "check": "--dry-run shows what would run where, and --held runs it without letting it change anything",
		"limit": "intersect the hosts: fairlead run '@web & web01' -- COMMAND", "list-hosts": "fairlead hosts list SELECTOR lists them",
		"X": "--except SELECTOR", "exclude": "--except SELECTOR", "inline": "--fold prints identical output once",
		"n": "--pick N takes some of the hosts", "outdir": "--out-dir DIR", "errdir": "--out-dir DIR keeps both outputs", "tree": "--out-dir DIR",
		"v":       "Fairlead reports all that goes wrong; fairlead doctor HOST shows each step of a connection",
		"verbose": "Fairlead reports all that goes wrong; fairlead doctor HOST shows each step of a connection",
		"q":       "results go to standard output, and all else to standard error: 2>/dev/null", "quiet": "results go to standard output, and all else to standard error: 2>/dev/null",
		"background": "fairlead jobs start HOSTS -- COMMAND", "async": "fairlead jobs start HOSTS -- COMMAND",
	},
	"exec": {
		"t": "a terminal is fairlead shell HOST", "it": "a terminal is fairlead shell HOST", "tty": "a terminal is fairlead shell HOST",
		"interactive": "a terminal is fairlead shell HOST", "n": "name the host first: fairlead exec HOST -- COMMAND",
	},
	"": {
		"output": "--json prints JSON, where a command has it", "format": "--json prints JSON, where a command has it", "o": "--json prints JSON, where a command has it",
		"V": "fairlead --version", "u": "-l NAME or NAME@HOST logs in as another account", "remote-user": "-l NAME or NAME@HOST logs in as another account",
		"private-key": "-o IdentityFile=FILE", "identity": "-o IdentityFile=FILE", "ssh-common-args": "-o Keyword=value", "yes-to-all": "--yes",
		"force": "--yes, where a command asks", "f": "--yes, where a command asks",
	},
}

// unknownFlag says what does here what a flag means elsewhere, or which flags have nearly that name.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name, dashed := unknown.GetSpecifiedName(), "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashed = "-"
	}
	help := cmd.CommandPath() + " --help"
	flag := dashed + shown(name)
	for _, of := range []string{strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), ""} {
		if hint := flagHabits[of][name]; hint != "" && (dashed == "-") == (len(name) == 1) {
			return cmdutil.Usagef("unknown flag: %s (%s); see %s", flag, hint, help)
		}
	}
	if near := nearFlags(cmd, name); dashed == "--" && len(near) > 0 {
		return cmdutil.Usagef("unknown flag: %s (did you mean %s?); see %s", flag, strings.Join(near, " or "), help)
	}
	return cmdutil.Usagef("unknown flag: %s; see %s", flag, help)
}

// nearFlags are the flags of cmd that have nearly this name, as cobra finds commands.
func nearFlags(cmd *cobra.Command, name string) []string {
	list := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			list.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	near := list.SuggestionsFor(name)
	slices.Sort(near)
	near = slices.Compact(near)
	for i, n := range near {
		near[i] = "--" + n
	}
	return near[:min(len(near), 3)]
}
