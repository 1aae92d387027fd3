// Package audit implements "fairlead audit".
package audit

import (
	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	dir := ""
	where := func() (string, error) {
		if dir != "" {
			return dir, nil
		}
		return f.AuditDir()
	}
	cmd := &cobra.Command{
		Use:   "audit COMMAND",
		Short: "Read and check the record of what was asked and done",
		Long: `Read and check the record of what was asked, decided and done.

Every command is on record before it is sent, and its result after. The record is a chain: each line proves the one
before, so that a change anywhere is found. It is kept in $XDG_STATE_HOME/fairlead/audit (~/.local/state where that is
unset).`,
		Args: cmdutil.Group,
		RunE: cmdutil.Help,
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", "", "read the record in this `directory`")
	cmd.AddCommand(NewCmdVerify(f, where, nil), NewCmdTail(f, where, nil), NewCmdSearch(f, where, nil), NewCmdShow(f, where, nil),
		NewCmdExport(f, where, nil), NewCmdReplay(f, where, nil), NewCmdPurge(f, where, nil))
	return cmd
}
