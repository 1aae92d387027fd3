package ssh

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
)

// completeHost completes the destination; values of options and the command's words are files, as far as is known.
func completeHost(f *cmdutil.Factory) completion.Func {
	hosts := completion.Hosts(f)
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		behind, err := (&call{}).options(args)
		if err != nil || len(behind) > 0 || strings.HasPrefix(typed, "-") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		at := strings.LastIndexByte(typed, '@') + 1
		names, directive := hosts(cmd, nil, typed[at:])
		for i := range names {
			names[i] = typed[:at] + names[i]
		}
		return names, directive
	}
}
