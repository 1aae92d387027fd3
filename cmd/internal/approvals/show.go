package approvals

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// ShowOptions is everything that "approvals show" needs.
type ShowOptions struct {
	Base
	JSON bool
	ID   string
}

// NewCmdShow builds the command. runF replaces the real work in tests of flags.
func NewCmdShow(b Base, runF func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{Base: b}
	if runF == nil {
		runF = showRun
	}
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Print everything about one request",
		Long: `Print everything about one request, and all of its command. Where the command holds anything that cannot be seen, all
of it is escaped. The beginning of an ID is enough where only one begins so.`,
		Args: oneID, ValidArgsFunction: completion.Words(1, b.ids),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ID = args[0]
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print a JSON object; its document is what the digest is of, byte for byte")
	return cmd
}

func showRun(ctx context.Context, o *ShowOptions) error {
	_, p, err := o.find(ctx, o.ID)
	if err != nil {
		return err
	}
	if o.JSON {
		return json.NewEncoder(o.IO.Out).Encode(object(p))
	}
	_, err = io.WriteString(o.IO.Out, text(p, o.Now()))
	return err
}

// shown is a request in JSON. Its texts are as JSON can hold them; the document and exact are to the byte.
type shown struct {
	ID          string          `json:"id"`
	Digest      approval.Digest `json:"digest"`
	Principal   string          `json:"principal"`
	Host        string          `json:"host"`
	Transport   string          `json:"transport,omitempty"`
	Address     string          `json:"address,omitempty"`
	Port        uint16          `json:"port,omitempty"`
	User        string          `json:"user,omitempty"`
	Via         []string        `json:"via,omitempty"`
	Tier        string          `json:"tier,omitempty"`
	Hosts       []shownHost     `json:"hosts,omitempty"` // all of them, where one question is about several; Host is their names then
	Shell       string          `json:"shell,omitempty"`
	CWD         string          `json:"cwd,omitempty"`
	Command     string          `json:"command"`
	Exact       []byte          `json:"exact"`
	Interactive bool            `json:"interactive"`
	Reason      string          `json:"reason,omitempty"` // as the asker gave it
	Class       string          `json:"class,omitempty"`
	Rule        string          `json:"rule,omitempty"`
	Because     string          `json:"because,omitempty"` // why the rule asks
	Hint        string          `json:"hint,omitempty"`
	LeastProof  approval.Proof  `json:"least_proof,omitempty"`
	StdinBytes  int64           `json:"stdin_bytes,omitempty"`
	StdinSHA256 string          `json:"stdin_sha256,omitempty"` // missing: no input
	StdinHead   []byte          `json:"stdin_head,omitempty"`   // the beginning of it, to the byte
	Session     string          `json:"session,omitempty"`
	Exec        string          `json:"exec,omitempty"`
	Asked       time.Time       `json:"asked,omitzero"`
	Expires     time.Time       `json:"expires,omitzero"` // missing: never
	Document    []byte          `json:"document"`

	Typed           []byte          `json:"typed,omitempty"`             // what is to be typed at the command, which runs already, to the byte
	DigestWithInput approval.Digest `json:"digest_with_input,omitempty"` // what a yes names that covers whatever is typed at the command
}

// shownHost is one of several hosts.
type shownHost struct {
	Name      string   `json:"name"`
	Transport string   `json:"transport,omitempty"`
	Address   string   `json:"address,omitempty"`
	Port      uint16   `json:"port,omitempty"`
	User      string   `json:"user,omitempty"`
	Via       []string `json:"via,omitempty"`
	Tier      string   `json:"tier,omitempty"`
}

func object(p approval.Pending) shown {
	q, h := p.Question, p.Question.Host
	var all []shownHost
	for _, h := range q.Hosts {
		all = append(all, shownHost{Name: h.Name, Transport: string(h.Transport), Address: h.Addr, Port: h.Port, User: h.User, Via: h.Via, Tier: h.Tier})
	}
	s := shown{
		Hosts: all,
		ID:    p.ID, Digest: p.Digest(), Principal: q.Principal,
		Host: h.Name, Transport: string(h.Transport), Address: h.Addr, Port: h.Port, User: h.User, Via: h.Via, Tier: h.Tier,
		Shell: q.Shell, CWD: q.Dir, Command: q.Command, Exact: []byte(q.Command), Interactive: q.Interactive, Reason: q.Reason,
		Class: string(q.Decision.Class), Rule: q.Decision.Rule, Because: q.Decision.Reason, Hint: q.Decision.Hint,
		LeastProof: q.Decision.LeastProof, StdinBytes: q.StdinBytes, StdinSHA256: q.StdinSHA256, StdinHead: []byte(q.StdinHead),
		Session: q.Session, Exec: q.Exec, Asked: q.Asked, Expires: q.Expires, Document: p.Document(),
	}
	if q.Typed != "" {
		s.Typed = []byte(q.Typed)
	}
	if p.TakesInput() {
		p.WithInput = true
		s.DigestWithInput = p.Digest()
	}
	return s
}
