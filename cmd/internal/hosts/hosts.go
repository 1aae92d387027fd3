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
		Short: "List, show, reach and trust the hosts of the inventory",
		Long: `List, show, reach and trust the hosts of the inventory.

The inventory is the file named by -i, else by FAIRLEAD_INVENTORY, else
$XDG_CONFIG_HOME/fairlead/inventory.yaml (~/.config where that is unset).`,
		Args: cmdutil.Group,
		RunE: cmdutil.Help,
	}
	cmd.AddCommand(NewCmdList(f, nil), NewCmdShow(f, nil), NewCmdPing(f, nil), trust.NewCmdTrust(f), trust.NewCmdForget(f))
	return cmd
}
