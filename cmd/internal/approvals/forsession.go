package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// scope is what the flags of "approvals approve" say about more commands of the session; nil is one command.
func (o *AnswerOptions) scope() (*approval.Scope, error) {
	switch {
	case !o.Session && o.Prefix == "" && o.For == 0:
		return nil, nil
	case !o.Session && o.Prefix == "":
		return nil, cmdutil.Usagef("--for needs --session or --session-prefix: an approval of one command has no time")
	case o.Session && o.Prefix != "":
		return nil, cmdutil.Usagef("give --session (this exact command) or --session-prefix WORDS, not both")
	case o.For < 0 || o.For > approval.MaxFor || o.For%time.Second != 0:
		return nil, cmdutil.Usagef("--for takes whole seconds up to %v, such as 30m, not %v", approval.MaxFor, o.For)
	}
	return scopeOf(o.Prefix, o.For)
}

// scopeOf is an approval for the session, of the exact command where there is no prefix.
func scopeOf(prefix string, limit time.Duration) (*approval.Scope, error) {
	s := &approval.Scope{For: limit}
	if prefix == "" {
		return s, nil
	}
	words, err := rules.ParsePrefix(prefix)
	if err != nil {
		return nil, cmdutil.Usagef("--session-prefix: %s", plain(err))
	}
	s.Prefix = words
	return s, nil
}

// RevokeOptions is everything that "approvals revoke" needs.
type RevokeOptions struct {
	Base
	ID     string
	Reason string
}

// NewCmdRevoke builds the command. runF replaces the real work in tests of flags.
func NewCmdRevoke(b Base, runF func(context.Context, *RevokeOptions) error) *cobra.Command {
	o := &RevokeOptions{Base: b}
	if runF == nil {
		runF = revokeRun
	}
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a session approval",
		Long: `Revoke an approval that holds for a session. The next command needs an approval of its own; a command that runs is not
stopped. "fairlead approvals list --session" prints the IDs; the beginning of one is enough.`,
		Example: `  fairlead approvals list --session
  fairlead approvals revoke a_3kq7 --reason 'the deployment is over'`,
		Args: oneID, ValidArgsFunction: completion.Words(1, b.sessionIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ID = args[0]
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Reason, "reason", "", "reason to record in the audit log")
	return cmd
}

func revokeRun(ctx context.Context, o *RevokeOptions) error {
	who := o.Caller()
	c, err := o.Client()
	if err != nil {
		return errors.New(plain(err))
	}
	id, err := c.Revoke(ctx, o.ID, who.Principal, o.Reason)
	switch {
	case errors.Is(err, approval.ErrUnknown):
		return cmdutil.Usagef("%s: no session approval has this ID; fairlead approvals list --session prints them", line(o.ID))
	case errors.Is(err, approval.ErrForbidden):
		return o.refuse("%s: %s", line(o.ID), plain(err))
	case errors.Is(err, approval.ErrAmbiguous):
		return cmdutil.Usagef("several session approvals begin with %s: give more of the ID", line(o.ID))
	case err != nil:
		return errors.New(plain(err))
	}
	_, err = fmt.Fprintf(o.IO.Out, "revoked %s\n", line(id))
	return err
}

// listForSessions prints the approvals that hold for sessions.
func listForSessions(ctx context.Context, o *ListOptions) error {
	c, err := o.Client()
	if err != nil {
		return errors.New(plain(err))
	}
	list, lerr := c.ForSessions(ctx)
	now := o.Now()
	t := table.New("ID", "ENDS", "USED", "WHO", "HOST", "SESSION", "CWD", "BY", "COVERS")
	t.Fit, t.Keep, t.Drop = true, []string{"HOST", "COVERS"}, []string{"USED", "BY", "CWD", "WHO", "SESSION", "ENDS"}
	for _, g := range list {
		if o.JSON {
			if err := json.NewEncoder(o.IO.Out).Encode(g); err != nil {
				return err
			}
			continue
		}
		covers := line(g.Scope)
		if len(g.Prefix) == 0 {
			covers = line(g.Command)
		}
		session := g.Session
		if session == "" {
			session = "sandbox " + g.Sandbox
		}
		t.Add(line(g.ID), "in "+span(g.Until.Sub(now)), fmt.Sprint(g.Used), line(g.Owner), line(g.Host), line(session), line(g.CWD), line(g.By), covers)
	}
	return o.print(ctx, t, len(list), lerr, "session approvals")
}
