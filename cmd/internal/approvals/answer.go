package approvals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// AnswerOptions is everything that "approvals approve" and "approvals reject" need.
type AnswerOptions struct {
	Base
	Approve bool

	ID     string
	Yes    bool
	Reason string

	WithInput bool // what is typed at the command is approved, too

	Session bool          // more of the same command, until the session ends
	Prefix  string        // or commands of the session that begin with these words
	For     time.Duration // for so long; 0 is until the session ends
}

// NewCmdApprove builds the command. runF replaces the real work in tests of flags.
func NewCmdApprove(b Base, runF func(context.Context, *AnswerOptions) error) *cobra.Command {
	o := &AnswerOptions{Base: b, Approve: true}
	if runF == nil {
		runF = answerRun
	}
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Approve a pending command",
		Long: `Show a pending command and ask whether to approve it. Approval lets exactly what was shown run, once. A unique beginning
of the ID is enough.

--session also approves repeats of the exact command until the agent's session ends, at most 24 hours.
--session-prefix approves commands that begin with these literal words, on the same host, in the same session, directory
and class. Interpreters, wrappers, git and sudo have no prefix; dangerous and privileged commands need approval each time.
"list --session" prints session approvals, and "revoke" ends one.

Input to an interactive command needs approval each time. --with-input approves the command together with all its input.

If a key of yours is enrolled, it signs the approval: Fairlead asks for its passphrase, or the SSH agent for a touch of
the security key. --yes replaces neither.

The exit code is 0 if the command was approved, else 5; without approval it stays pending.`,
		Example: `  fairlead approvals approve a_3kq7
  fairlead approvals approve a_3kq7 --session
  fairlead approvals approve a_3kq7 --session-prefix 'systemctl restart' --for 30m
  fairlead approvals approve a_3kq7 --yes --reason 'as agreed'
  fairlead approvals approve a_3kq7 --with-input`,
		Args: oneID, ValidArgsFunction: completion.Words(1, b.ids),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ID = args[0]
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Yes, "yes", false, "approve without confirmation; a passphrase is still asked for")
	cmd.Flags().StringVar(&o.Reason, "reason", "", "reason to record in the audit log")
	cmd.Flags().BoolVar(&o.Session, "session", false, "approve the exact same command again until the session ends")
	cmd.Flags().StringVar(&o.Prefix, "session-prefix", "", "approve commands of the session that begin with these `WORDS`")
	cmd.Flags().DurationVar(&o.For, "for", 0, "with --session or --session-prefix: hold for this time, at most 24h")
	cmd.Flags().BoolVar(&o.WithInput, "with-input", false, "of an interactive command: approve whatever is typed at it while it runs, too")
	return cmd
}

// NewCmdReject builds the command. runF replaces the real work in tests of flags.
func NewCmdReject(b Base, runF func(context.Context, *AnswerOptions) error) *cobra.Command {
	o := &AnswerOptions{Base: b, Yes: true}
	if runF == nil {
		runF = answerRun
	}
	cmd := &cobra.Command{
		Use:     "reject ID --reason TEXT",
		Short:   "Reject a pending command",
		Long:    `Reject a pending command: it does not run, and the requester sees the reason. A unique beginning of the ID is enough.`,
		Example: `  fairlead approvals reject a_3kq7 --reason 'not during the day'`,
		Args:    oneID, ValidArgsFunction: completion.Words(1, b.ids),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.ID = args[0]; strings.TrimSpace(o.Reason) == "" {
				return cmdutil.Usagef("approvals reject needs --reason TEXT, which the requester sees")
			}
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Reason, "reason", "", "reason, shown to the requester and recorded in the audit log")
	return cmd
}

func answerRun(ctx context.Context, o *AnswerOptions) error {
	who := o.Caller()
	if !o.Yes && (!o.IO.InTTY || o.Terminal == nil) {
		return cmdutil.Usagef("approve asks for confirmation, and standard input is not a terminal: give --yes to approve without confirmation")
	}
	scope, err := o.scope()
	if err != nil {
		return err
	}
	c, p, err := o.find(ctx, o.ID)
	if err != nil {
		return err
	}
	if o.WithInput && !p.TakesInput() {
		return cmdutil.Usagef("%s is not interactive: omit --with-input", line(p.ID))
	}
	p.WithInput, p.ForSession = o.WithInput, scope
	var by *way
	if o.Approve {
		if by, err = o.signer(ctx, p); err != nil {
			return err // before anybody is asked
		}
	}
	if !o.Yes {
		said, err := o.ask(ctx, text(p, o.Now())+whether(p)+" [y/N] ")
		if err != nil {
			return err
		}
		if !yes(said) {
			return o.refuse("not approved; it stays pending until it is answered or expires; reject it with: fairlead approvals reject %s --reason TEXT", p.ID)
		}
	} else if o.Approve {
		if _, err := io.WriteString(o.IO.Out, text(p, o.Now())); err != nil {
			return err // what could not be shown is not approved
		}
	}
	r := approval.Response{ID: p.ID, Digest: p.Digest(), By: who.Principal, Approved: o.Approve, Reason: o.Reason, WithInput: p.WithInput, ForSession: p.ForSession}
	if by != nil {
		r.Proof = by.proof
		if r.Signature, err = o.sign(ctx, p, *by); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return o.refuse("not approved: %s; it stays pending", plain(err))
		}
	}
	if err := c.Answer(ctx, r); err != nil {
		return o.told(p.ID, err)
	}
	done := "rejected"
	if o.Approve {
		done = "approved"
	}
	_, err = fmt.Fprintf(o.IO.Out, "%s %s%s\n", done, p.ID, with(p))
	return err
}

// signer returns how the yes to p is signed; nil is a bare one. It refuses what would prove too little.
func (o *AnswerOptions) signer(ctx context.Context, p approval.Pending) (*way, error) {
	least := p.Question.Decision.LeastProof
	w, err := o.wayFor(ctx, p)
	switch {
	case errors.Is(err, errNoWay):
		return nil, o.refuse("%s %s", line(p.ID), err)
	case err != nil:
		return nil, errors.New(plain(err))
	case w == nil, o.Yes && approval.Unproven.AtLeast(least):
		return nil, nil
	case !w.agent && (o.Terminal == nil || !o.IO.InTTY):
		return nil, o.refuse("%s needs %s at the terminal, and standard input is not a terminal", line(p.ID), proves(least))
	}
	return w, nil
}
