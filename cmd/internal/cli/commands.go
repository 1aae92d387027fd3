package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/approvals"
	auditcmd "github.com/fairlead-ssh/fairlead/cmd/internal/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cp"
	"github.com/fairlead-ssh/fairlead/cmd/internal/doctor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exec"
	"github.com/fairlead-ssh/fairlead/cmd/internal/forward"
	"github.com/fairlead-ssh/fairlead/cmd/internal/history"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	jobscmd "github.com/fairlead-ssh/fairlead/cmd/internal/jobs"
	"github.com/fairlead-ssh/fairlead/cmd/internal/man"
	"github.com/fairlead-ssh/fairlead/cmd/internal/mcp"
	policycmd "github.com/fairlead-ssh/fairlead/cmd/internal/policy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/run"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runs"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sandbox"
	"github.com/fairlead-ssh/fairlead/cmd/internal/serve"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sessions"
	"github.com/fairlead-ssh/fairlead/cmd/internal/setup"
	"github.com/fairlead-ssh/fairlead/cmd/internal/shell"
	sshcmd "github.com/fairlead-ssh/fairlead/cmd/internal/ssh"
	"github.com/fairlead-ssh/fairlead/cmd/internal/version"
	"github.com/fairlead-ssh/fairlead/cmd/internal/web"
)

// command is a command of the program: its name, then its aliases, and what makes it.
type command struct {
	names []string
	make  func(*cmdutil.Factory) *cobra.Command
}

// allCommands are in the order of the help.
func allCommands() []command {
	return []command{
		{[]string{"run"}, func(f *cmdutil.Factory) *cobra.Command { return run.NewCmd(f, nil) }},
		{[]string{"runs"}, runs.NewCmd},
		{[]string{"history"}, history.NewCmd},
		{[]string{"exec"}, func(f *cmdutil.Factory) *cobra.Command { return exec.NewCmd(f, nil) }},
		{[]string{"shell"}, func(f *cmdutil.Factory) *cobra.Command { return shell.NewCmd(f, nil) }},
		{[]string{"sessions"}, sessions.NewCmd},
		{[]string{"jobs"}, jobscmd.NewCmd},
		{[]string{"cp"}, cp.NewCmd},
		{[]string{"fetch"}, cp.NewFetchCmd},
		{[]string{"edit"}, cp.NewEditCmd},
		{[]string{"forward"}, forward.NewCmd},
		{[]string{"ssh"}, sshcmd.NewCmd},
		{[]string{"hosts"}, hostscmd.NewCmd},
		{[]string{"approvals"}, approvals.NewCmd},
		{[]string{"audit"}, auditcmd.NewCmd},
		{[]string{"doctor"}, func(f *cmdutil.Factory) *cobra.Command { return doctor.NewCmd(f, nil) }},
		{[]string{"policy"}, policycmd.NewCmd},
		{[]string{"sandbox", "sandboxes"}, sandbox.NewCmd},
		{[]string{"mcp"}, func(f *cmdutil.Factory) *cobra.Command { return mcp.NewCmd(f, nil) }},
		{[]string{"setup"}, func(f *cmdutil.Factory) *cobra.Command { return setup.NewCmd(f, nil) }},
		{[]string{"serve"}, func(f *cmdutil.Factory) *cobra.Command { return serve.NewCmd(f, nil) }},
		{[]string{serve.ConfineName}, func(*cmdutil.Factory) *cobra.Command { return serve.NewConfineCmd() }},
		{[]string{"web"}, func(f *cmdutil.Factory) *cobra.Command { return web.NewCmd(f, nil) }},
		{[]string{"version"}, func(f *cmdutil.Factory) *cobra.Command { return version.NewCmd(f, nil) }},
		{[]string{"man"}, man.NewCmd},
	}
}

// made are the commands that cobra adds by itself.
var made = []string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// names are those of all commands, which an alias cannot have.
func names() []string {
	all := slices.Clone(made)
	for _, c := range allCommands() {
		all = append(all, c.names...)
	}
	return all
}

// NewRoot assembles the command tree.
func NewRoot(f *cmdutil.Factory) *cobra.Command {
	root := newRoot(f)
	for _, c := range allCommands() {
		root.AddCommand(c.make(f))
	}
	f.Commands, root.ValidArgsFunction = names(), aliasNames(f)
	return root
}

// rootFor is the tree as far as args need it: a command is most of what they cost before anything is done, and all but one of them
// would be for nothing.
func rootFor(f *cmdutil.Factory, args []string) *cobra.Command {
	if at := ownFlags(args); at < len(args) && args[at] != "man" { // which is about all of them
		for _, c := range allCommands() {
			if slices.Contains(c.names, args[at]) {
				root := newRoot(f)
				root.AddCommand(c.make(f))
				return root
			}
		}
	}
	return NewRoot(f)
}
