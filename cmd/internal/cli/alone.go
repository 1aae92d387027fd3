package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// alone is what the program prints without a command: the three things that people do.
const alone = `Fairlead runs commands on the machines you operate, exactly and audited.

Run a command on hosts of your inventory, or on any host:
  fairlead -i hosts.ini run '@web' -- uptime
  fairlead run root@10.0.0.5 -- uptime

Open a terminal on one host, recorded:
  fairlead shell web1

Let an AI agent use your hosts, within a policy:
  fairlead setup claude

All commands: fairlead --help. What works here and what does not: fairlead doctor
`

// runAlone prints it.
func runAlone(cmd *cobra.Command, _ []string) error {
	_, err := fmt.Fprint(cmd.OutOrStdout(), alone)
	return err
}
