package runs

import (
	"io"
	"path/filepath"
	"strings"

	consents "github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/bodies"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// sourceOf is the shell source of a request: for a copy, what would do the same.
func sourceOf(c *access.Caller, b *wire.NewRun) (string, error) {
	switch {
	case b.Copy == nil && b.Commands == nil:
		return b.Script()
	case b.Copy == nil && (b.Command != "" || b.CommandB64 != "" || b.Program != ""):
		return "", problem.Invalid("give commands or a command, not both")
	case b.Copy == nil:
		return strings.Join(b.Commands, "\n"), nil
	case b.Commands != nil, b.Command != "" || b.CommandB64 != "" || b.Program != "":
		return "", problem.Invalid("give copy or a command, not both")
	case (b.Copy.Op == copies.Upload && !b.Copy.DryRun) != b.Stdin:
		return "", problem.Invalid("stdin is for uploads, and they need it")
	case b.Quiet || b.Redact || b.Shell != "":
		return "", problem.Invalid("quiet, redact and shell have no effect on a copy: remove them")
	}
	if err := b.Copy.Check(); err != nil {
		return "", err
	}
	if rules.RoleOf(c.Principal) != rules.Operator && !b.Copy.Bound() {
		return "", problem.Invalid("an upload that may need approval has the sha256 of each file")
	}
	b.Copy.Guarded = rules.RoleOf(c.Principal) != rules.Operator
	return b.Copy.Script()
}

// copies makes the command one that copies files, where that is asked for.
func (x *fleet) copies() error {
	plan := x.in.Copy
	if plan == nil {
		return nil
	}
	copy := &copies.Copy{
		Plan:   *plan,
		Source: func(h hosts.Host) io.Reader { return x.inlets.Of(x.at[targets.KeyOf(h)]) },
		Sink:   func(h hosts.Host) io.Writer { return x.outlets.Of(x.at[targets.KeyOf(h)]) },
	}
	if x.rs.Store != nil {
		copy.Journal = copies.JournalIn(filepath.Dir(x.rs.Store.Dir), plan.Guarded)
	}
	if plan.Op == copies.Download {
		x.outlets = bodies.NewOutlets()
	}
	cmd, err := copy.Command()
	if err != nil {
		return problem.Invalid("%v", err)
	}
	cmd.Reason, cmd.Group, cmd.Timeout, cmd.Idle, cmd.Keep = x.cmd.Reason, x.cmd.Group, x.cmd.Timeout, x.cmd.Idle, x.cmd.Keep
	x.cmd = cmd
	return nil
}

// shown is what a person approves.
func (x *fleet) shown(asking []hosts.Host, cmd *session.Command) string {
	if x.in.Copy != nil {
		return x.in.Copy.Text(nil)
	}
	text := consents.Commands(asking, cmd.Script, cmd.Scripts)
	if x.job != nil {
		return x.job.Text(text)
	}
	return text
}

// approvedOn is the command of each host as it was approved; nil where all hosts get the same.
func (x *fleet) approvedOn(cmd *session.Command) func(hosts.Host) string {
	if x.job == nil || cmd.Scripts == nil {
		return cmd.Scripts
	}
	return func(h hosts.Host) string { return x.job.Text(cmd.Scripts(h)) }
}
