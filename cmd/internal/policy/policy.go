// Package policy implements "fairlead policy".
package policy

import (
	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy COMMAND",
		Short: "Check what may run, without running it",
		Long: `Check what may run, without running it and without connecting to a host.

The policy is the built-in one, changed by /etc/fairlead/policy.yaml and then by --policy FILE, else by
$XDG_CONFIG_HOME/fairlead/policy.yaml (~/.config by default). If root's file exists, the other one can only tighten it.
Fairlead reads a policy file only if its owner alone can write it.`,
		Args: cmdutil.Group,
		RunE: cmdutil.Help,
	}
	cmd.AddCommand(NewCmdCheck(f, nil), NewCmdExplain(f, nil), NewCmdTest(f, nil))
	return cmd
}
