package serve

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// ConfineName is the command by which the keeper starts shells in sandboxes on the machine it runs on.
const ConfineName = "sandbox-exec"

// NewConfineCmd returns the command that becomes another one behind Landlock. It is for the keeper, and nobody's to type.
func NewConfineCmd() *cobra.Command {
	return &cobra.Command{
		Use: ConfineName + " DIR COMMAND…", Short: "Become a command that can change files in a directory only",
		Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cmdutil.Usagef("%s takes a directory and a command", ConfineName)
			}
			return sandbox.Confine(args[0], args[1:], os.Environ())
		},
	}
}
