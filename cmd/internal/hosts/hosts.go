// Package hosts implements "fairlead hosts".
package hosts

import (
	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/trust"
)

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hosts COMMAND",
		Short: "List, show, import, reach and trust hosts",
		Long: `List, show, import, reach and trust the hosts of the inventory.

The inventory is the file named by -i, else by FAIRLEAD_INVENTORY, else
$XDG_CONFIG_HOME/fairlead/inventory.yaml (~/.config where that is unset).
It may be an inventory of Ansible's as it is: hosts.ini, a YAML file, a directory
or a program. An inventory of Fairlead's takes such ones in with sources:.`,
		Args: cmdutil.Group,
		RunE: cmdutil.Help,
	}
	cmd.AddCommand(NewCmdList(f, nil), NewCmdShow(f, nil), NewCmdPing(f, nil), NewCmdImport(f, nil), trust.NewCmdTrust(f), trust.NewCmdForget(f))
	return cmd
}
