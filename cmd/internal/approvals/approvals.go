// Package approvals implements "fairlead approvals".
package approvals

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// Base is what every one of the commands needs.
type Base struct {
	IO     *iostreams.IOStreams
	Client func() (*approval.Client, error)
	Now    func() time.Time

	Caller        func() cmdutil.Caller
	Terminal      func() (cmdutil.Terminal, error) // nil means that there is none
	Getenv        func(string) string
	ApproversFile func() (string, error)
	Approvers     func() ([]approval.Approver, error)
	Audit         func() (audit.Sink, error) // nil means that there is no audit log
}

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	base := Base{IO: f.IO, Now: time.Now, Caller: f.Caller, Terminal: f.Terminal, Getenv: f.Getenv,
		ApproversFile: f.ApproversFile, Approvers: f.Approvers, Audit: f.Audit}
	base.Client = func() (*approval.Client, error) {
		dirs, err := f.ApprovalsDirs()
		if err != nil {
			return nil, err
		}
		return approval.Dial(dirs...)
	}
	cmd := &cobra.Command{
		Use:   "approvals COMMAND",
		Short: "List, approve and reject requests",
		Long: `List and answer the commands that need a person's approval.

A command that an agent may not run by itself stays pending for 15 minutes, or as long as approvals: {expire: …} in
config.yaml says. An approval is for exactly what was shown: these bytes, on this host, in this directory, once. The audit
log records who gave it.

Requesters cannot answer their own requests. Agents cannot answer any, nor can a terminal inside the program that runs the
agent. This is a safeguard, not a security boundary, against programs that run as your account.

With an enrolled key, an approval is a signature that takes a passphrase or a touch: see enroll --help.`,
		Example: `  fairlead approvals watch
  fairlead approvals list
  fairlead approvals approve a_3kq7
  fairlead approvals reject a_3kq7 --reason 'not during the day'
  fairlead approvals enroll --new`,
		Args: cmdutil.Group,
		RunE: cmdutil.Help,
	}
	enroll := NewCmdEnroll(base, nil)
	listing := func() bool { return enroll.Flags().Changed("list") }
	cmd.AddCommand(NewCmdList(base, nil), NewCmdShow(base, nil),
		f.ForPeople(NewCmdApprove(base, nil), answers), f.ForPeople(NewCmdReject(base, nil), answers),
		f.ForPeople(NewCmdRevoke(base, nil), answers), f.ForPeople(enroll, "enroll or remove approvers", listing),
		f.ForPeople(NewCmdWatch(base, nil), answers))
	return cmd
}

// answers is what agents may not do with approvals.
const answers = "answer approvals"

// find returns what waits under id.
func (b *Base) find(ctx context.Context, id string) (*approval.Client, approval.Pending, error) {
	c, err := b.Client()
	if err != nil {
		return nil, approval.Pending{}, b.told(id, err)
	}
	p, err := c.Get(ctx, id)
	return c, p, b.told(id, err)
}

// told turns what went wrong with a question into what ends the program.
func (b *Base) told(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, approval.ErrUnknown), errors.Is(err, approval.ErrAmbiguous):
		return cmdutil.Usagef("%s: %s; list the pending approvals with: fairlead approvals list", line(id), plain(err))
	case errors.Is(err, approval.ErrSettled), errors.Is(err, approval.ErrForbidden), errors.Is(err, approval.ErrMismatch),
		errors.Is(err, approval.ErrProof), errors.Is(err, approval.ErrScope):
		return b.refuse("%s: %s", line(id), plain(err))
	}
	return errors.New(plain(err))
}

// refuse tells why something is not done, and ends the program as what is denied does.
func (b *Base) refuse(format string, args ...any) error {
	fmt.Fprintf(b.IO.Err, "fairlead: "+format+"\n", args...)
	return cmdutil.Exit(exitcode.Denied)
}

// plain is the text of an error for a line, without the name of the package.
func plain(err error) string {
	return cmdutil.OneLine(strings.ReplaceAll(err.Error(), "approval: ", ""))
}

// oneID is the Args of a command about one question.
var oneID = cmdutil.Args(1, 1, "the ID of one request")
