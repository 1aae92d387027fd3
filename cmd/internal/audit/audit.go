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
		Short: "Read and check the audit log",
		Long: `Read and check the audit log: what was requested, decided and done.

Fairlead writes an entry for every command before it sends it, and another with the result. Each entry proves the one
before it, so "audit verify" finds any change. The log is in $XDG_STATE_HOME/fairlead/audit (~/.local/state by default).`,
		Args: cmdutil.Group,
		RunE: cmdutil.Help,
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", "", "read the audit log in this `directory`")
	cmd.AddCommand(NewCmdVerify(f, where, nil), NewCmdTail(f, where, nil), NewCmdSearch(f, where, nil), NewCmdShow(f, where, nil),
		NewCmdExport(f, where, nil), NewCmdReplay(f, where, nil), NewCmdPurge(f, where, nil))
	return cmd
}
