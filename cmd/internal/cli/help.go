package cli

import (
	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// helpOf makes help about a command that does not exist an error: "fairlead help rnu", "fairlead hosts import --help". The
// function that it returns gives the error after root has run.
func helpOf(root *cobra.Command) (failed func() error) {
	var err error
	print := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(words) > 0 {
			if err = cmdutil.Group(cmd, words); err != nil {
				return
			}
		}
		print(cmd, args)
	})
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			of, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range of.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cmdutil.Group(of, rest)
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	})
	return func() error { return err }
}

// usageLines is how cobra's help says how a command is called, and groupUsage is that without a line that says it twice for
// commands that only hold others.
const (
	usageLines = `{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}`
	groupUsage = `{{if and .Runnable (not .HasAvailableSubCommands)}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND [flags]{{end}}`
)
