package completion

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// What help calls the value of a flag that is one of several words, and of one that is a file or directory here.
var (
	choice = lazyregexp.New(`^[a-z-]+(\|[a-z-]+)+$`)
	isFile = lazyregexp.New(`(?i)file|path|dir`)
)

// Flags completes the values of all flags below root that do not see to it themselves, by what help calls them: words to choose
// from, hosts, and files. Nothing is offered for others, where a shell would offer files.
func Flags(f *cmdutil.Factory, root *cobra.Command) {
	targets, names := Targets(f), Hosts(f)
	for _, cmd := range root.Commands() {
		Flags(f, cmd)
	}
	each := func(flag *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(flag)
		flag.Usage = usage // which shells show as it stands
		if _, own := root.GetFlagCompletionFunc(flag.Name); own || flag.Value.Type() == "bool" {
			return
		}
		var how Func
		switch {
		case choice.MatchString(value):
			how = cobra.FixedCompletions(strings.Split(value, "|"), cobra.ShellCompDirectiveNoFileComp)
		case value == "selector":
			how = withoutArgs(targets)
		case value == "host", flag.Name == "host":
			how = withoutArgs(names)
		case flag.Name != "cwd" && isFile.MatchString(value):
			return
		default:
			how = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveNoFileComp)
		}
		_ = root.RegisterFlagCompletionFunc(flag.Name, how)
	}
	root.LocalNonPersistentFlags().VisitAll(each)
	root.PersistentFlags().VisitAll(each)
}

// withoutArgs is f for the value of a flag, which the arguments before it do not matter for.
func withoutArgs(f Func) Func {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return f(cmd, nil, typed)
	}
}
