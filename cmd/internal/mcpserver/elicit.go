package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// maxElicited bounds what a client is asked about, in bytes: more is not read in a dialog.
const maxElicited = 1 << 10

// Elicitor is an approver that puts questions to a desk, and to the client of the agent that asks besides, if that client
// can ask its user. A yes there is an answer like one at the desk, with no proof. All else there, a no among it, is no
// answer: the question waits on for a person. What is dangerous, privileged, forbidden or not to be seen at a glance goes to
// the desk alone. So does everything where the client speaks a version of the protocol in which servers cannot ask by
// themselves (from 2026-07-28 on).
type Elicitor struct {
	desk *approval.Desk
	by   string

	server atomic.Pointer[mcp.Server] // set by New
}

// NewElicitor returns an approver for the Config of a pool's sessions and for the one of the Server that they belong to.
func NewElicitor(desk *approval.Desk, principal string) *Elicitor {
	_, name, _ := strings.Cut(principal, "/")
	return &Elicitor{desk: desk, by: "client/" + name}
}

// Approve implements policy.Approver. The client is asked as soon as the question waits at the desk.
func (e *Elicitor) Approve(ctx context.Context, q policy.Question) (policy.Answer, error) {
	client := e.clientOf(ctx)
	if client == nil || !askable(q) {
		return e.desk.Approve(ctx, q)
	}
	w, err := e.desk.Ask(q)
	if err != nil {
		return policy.Answer{}, err
	}
	ectx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	if p := w.Pending(); askable(p.Question) { // what a yes would be to
		wg.Go(func() { e.ask(ectx, client, p) })
	}
	a, err := w.Wait(ctx)
	cancel()
	wg.Wait()
	return a, err
}

// ForSession implements policy.SessionApprover: the desk has what was approved for a session.
func (e *Elicitor) ForSession(_ context.Context, q policy.Question) (policy.Answer, bool) {
	return e.desk.ForSession(q)
}

// ask asks the client, and passes a yes on.
func (e *Elicitor) ask(ctx context.Context, client *mcp.ServerSession, p approval.Pending) {
	r, err := client.Elicit(ctx, &mcp.ElicitParams{Message: question(p.Question), RequestedSchema: map[string]any{
		"type": "object", "required": []string{"approve"},
		"properties": map[string]any{"approve": map[string]any{"type": "boolean", "title": "Let it run", "description": "Only approval counts here; to reject it, use fairlead approvals."}},
	}})
	if err != nil || r.Action != "accept" || r.Content["approve"] != true {
		return
	}
	// It may have been answered or have expired meanwhile: then this is too late.
	_ = e.desk.Answer(approval.Response{ID: p.ID, Digest: p.Digest(), By: e.by, Approved: true})
}

// askable reports whether a client may be asked: mild and short.
func askable(q policy.Question) bool {
	switch q.Decision.Class {
	case policy.ReadOnly, policy.SensitiveRead, policy.NetworkRead, policy.Write, policy.Unknown:
	default:
		return false
	}
	return !q.Interactive && q.Decision.Needs != policy.NeedsBreakGlass &&
		len(q.Command)+len(q.Dir)+len(q.Reason)+len(q.Decision.Reason) <= maxElicited
}

// question is what the client's user gets to read.
func question(q policy.Question) string {
	var b strings.Builder
	dir := "the account's home directory" // where a shell begins that nobody has sent elsewhere
	switch {
	case q.Dir != "":
		dir = plain(q.Dir)
	case q.Host.Transport == hosts.Command:
		dir = "the directory where its shells start"
	}
	fmt.Fprintf(&b, "%s requests to run this on %s (tier %s), in %s:\n\n%s\n\n", q.Principal, q.Host.Name, q.Host.TierName(), dir, plain(q.Command))
	if q.Reason != "" {
		fmt.Fprintf(&b, "Its reason: %s\n", plain(q.Reason))
	}
	fmt.Fprintf(&b, "It needs approval because: %s (%s)", plain(q.Decision.Reason), q.Decision.Class)
	return b.String()
}

// plain shows text as it is where all of it can be seen, else as a Go string.
func plain(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasSuffix(line, " ") || strings.ContainsFunc(line, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' || r == 0x7f }) {
			return strconv.QuoteToASCII(text)
		}
	}
	return text
}

// Asking is the approver of sessions that servers with and without an Elicitor share: it asks the Elicitor of the server
// whose client's call asks, and else is. Elicitors that it is to find put their questions to the same desk.
type Asking struct{ Else policy.Approver }

// Approve implements policy.Approver.
func (a Asking) Approve(ctx context.Context, q policy.Question) (policy.Answer, error) {
	if who, ok := ctx.Value(askerKey{}).(asker); ok && who.elicit != nil {
		return who.elicit.Approve(ctx, q)
	}
	return a.Else.Approve(ctx, q)
}

// ForSession implements policy.SessionApprover.
func (a Asking) ForSession(ctx context.Context, q policy.Question) (policy.Answer, bool) {
	if by, ok := a.Else.(policy.SessionApprover); ok {
		return by.ForSession(ctx, q)
	}
	return policy.Answer{}, false
}

// asker is whose call it is that starts something.
type asker struct {
	session *mcp.ServerSession
	label   string
	elicit  *Elicitor // of its server, if it has one
}

type askerKey struct{}

// asking notes whose call it is.
func (s *Server) asking(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, askerKey{}, asker{session: c.req.Session, label: labelOf(c), elicit: s.cfg.Elicit})
}

// clientOf is the client whose call asks, or the only one there is, if it can ask its user.
func (e *Elicitor) clientOf(ctx context.Context) *mcp.ServerSession {
	who, _ := ctx.Value(askerKey{}).(asker)
	s := who.session
	if srv := e.server.Load(); s == nil && srv != nil {
		n := 0
		for only := range srv.Sessions() {
			s = only
			n++
		}
		if n > 1 {
			return nil
		}
	}
	if s == nil {
		return nil
	}
	if p := s.InitializeParams(); p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return nil
	}
	return s
}
