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
		Long: `Show a pending command, ask whether to approve it, and let it run: exactly what was shown, once. The beginning of an ID
is enough where only one begins so.

--session approves the exact same command again, without asking, until the agent's session ends (at most 24 hours), and
--session-prefix the commands that begin with these words: one simple command of literal words, on the same host, in the
same session and directory, of the same class. Interpreters, wrappers, git and sudo have no prefix; dangerous and
privileged commands are approved each time. "list --session" prints these approvals, and "revoke" ends one.

What an agent types at an interactive command that runs waits for a yes of its own, each time. --with-input approves such a
command together with all that is typed at it, which is signed with the rest and ends with the command.

Whoever is enrolled signs it: the passphrase of the key is asked at the terminal, or the ssh-agent asks for a touch of the
security key. --yes replaces neither.

Exits 0 when it was approved, and 5 when it was not: it waits on after a no here; "reject" ends its waiting.`,
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
	cmd.Flags().BoolVar(&o.Yes, "yes", false, "do not ask whether; a passphrase that is needed is asked all the same")
	cmd.Flags().StringVar(&o.Reason, "reason", "", "why, for the record")
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
		Use:   "reject ID --reason TEXT",
		Short: "Refuse a command that waits",
		Long: `Refuse a command that waits: it is not run, and who asked is told the reason. The beginning of an ID is enough where
only one begins so.`,
		Example: `  fairlead approvals reject a_3kq7 --reason 'not during the day'`,
		Args:    oneID, ValidArgsFunction: completion.Words(1, b.ids),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.ID = args[0]; strings.TrimSpace(o.Reason) == "" {
				return cmdutil.Usagef("approvals reject needs --reason: who asked is told why")
			}
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Reason, "reason", "", "why, for who asked and for the record")
	return cmd
}

func answerRun(ctx context.Context, o *AnswerOptions) error {
	who := o.Caller()
	if !o.Yes && (!o.IO.InTTY || o.Terminal == nil) {
		return cmdutil.Usagef("approve asks at the terminal, and standard input is none: give --yes to approve without being asked")
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
		return cmdutil.Usagef("%s asks for nothing that could be typed at: approve it without --with-input", line(p.ID))
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
			return o.refuse("not approved; it waits on until it is answered or expires: fairlead approvals reject %s --reason TEXT ends that", p.ID)
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
			return o.refuse("not approved: %s; it waits on", plain(err))
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
		return nil, o.refuse("%s needs %s, which is asked at the terminal, and standard input is none", line(p.ID), proves(least))
	}
	return w, nil
}
