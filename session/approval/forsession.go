package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// maxForSession bounds the approvals for sessions of one principal.
const maxForSession = 256

// ForSession is an approval for a session that holds.
type ForSession struct {
	ID      string    `json:"id"` // of the approval
	Scope   string    `json:"scope"`
	Command string    `json:"command"` // the one that was approved, truncated
	Prefix  []string  `json:"prefix,omitempty"`
	Owner   string    `json:"principal"` // whose commands it covers
	Host    string    `json:"host"`
	Session string    `json:"session,omitempty"`
	Sandbox string    `json:"sandbox,omitempty"`
	CWD     string    `json:"cwd"`
	Class   string    `json:"class,omitempty"`
	By      string    `json:"approved_by"`
	Proof   Proof     `json:"proof"`
	Input   bool      `json:"with_input,omitempty"`
	Given   time.Time `json:"given"`
	Until   time.Time `json:"until"` // or the end of the session, if that comes first
	Used    int       `json:"used"`  // how often it let a command run, besides the first
}

// Ended says how an approval for a session has ended.
type Ended struct {
	ForSession
	How       string // "revoked", "expired" or "closed"
	RevokedBy string // "" where nobody did
	Reason    string
}

// given is an approval for a session, with what it is bound to.
type given struct {
	ForSession
	q      policy.Question
	scope  Scope
	answer policy.Answer
	timer  *time.Timer
}

// give keeps an approval for a session. d.mu is held.
func (d *Desk) give(p Pending, a policy.Answer) {
	q, s, now := p.Question, *p.ForSession, d.now()
	a.ForSession = s.String()
	a.Document = "" // on record with the answer, and large
	g := &given{q: q, scope: s, answer: a, ForSession: ForSession{
		ID: p.ID, Scope: a.ForSession, Command: clip(q.Command), Prefix: slices.Clone(s.Prefix), Owner: q.Principal, Host: q.Host.Name,
		Session: q.Session, Sandbox: q.Sandbox, CWD: q.Dir, Class: string(q.Decision.Class), By: a.By, Proof: a.Proof, Input: a.WithInput,
		Given: now, Until: now.Add(cmp.Or(s.For, MaxFor)),
	}}
	g.timer = time.AfterFunc(g.Until.Sub(now), func() { d.end(p.ID, Ended{How: "expired"}) })
	d.forSession[p.ID] = g
}

// ForSession returns the answer of an approval for a session that covers q, and counts its use; false where there is none.
func (d *Desk) ForSession(q policy.Question) (policy.Answer, bool) {
	d.mu.Lock()
	var found []*given
	for _, g := range d.forSession {
		if g.q.Principal == q.Principal && g.q.Session == q.Session && g.q.Sandbox == q.Sandbox {
			found = append(found, g)
		}
	}
	d.mu.Unlock()
	if len(found) == 0 {
		return policy.Answer{}, false
	}
	slices.SortFunc(found, func(a, b *given) int { return a.Given.Compare(b.Given) })
	least := d.least(q)
	for _, g := range found {
		if !g.answer.Proof.AtLeast(least) || !d.stillProven(g.answer) || !g.covers(q, d.begins) {
			continue
		}
		late := !d.now().Before(g.Until)
		d.mu.Lock()
		holds := d.forSession[g.ID] == g && !late // it may have been revoked meanwhile
		if holds {
			g.Used++
		}
		d.mu.Unlock()
		if holds {
			return g.answer, true
		}
		if late { // the timer stood still while this machine was suspended
			d.end(g.ID, Ended{How: "expired"})
		}
	}
	return policy.Answer{}, false
}

// covers reports whether q, of the same principal and session, is what was approved: the same command or one with the prefix,
// at the same place, held by the same, judged alike.
func (g *given) covers(q policy.Question, begins func(policy.Question, []string) error) bool {
	if g.scope.check(Pending{Question: q}, begins) != nil {
		return false
	}
	return q.Dir == g.q.Dir && q.Shell == g.q.Shell && q.Interactive == g.q.Interactive && hostText(q.Host) == hostText(g.q.Host) &&
		q.Enforcement == g.q.Enforcement &&
		q.Decision.Class == g.q.Decision.Class && (len(g.scope.Prefix) > 0 || q.Command == g.q.Command)
}

// stillProven reports whether an answer that was signed would be taken today.
func (d *Desk) stillProven(a policy.Answer) bool {
	if a.Signature == "" {
		return true
	}
	all, err := d.approvers()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(who Approver) bool {
		return who.Name == a.Approver && ssh.FingerprintSHA256(who.Key) == a.Key && who.validAt(time.Now()) == nil
	})
}

// ForSessions returns the approvals for sessions that hold, the oldest first.
func (d *Desk) ForSessions() []ForSession {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]ForSession, 0, len(d.forSession))
	for _, g := range d.forSession {
		if now.Before(g.Until) {
			out = append(out, g.ForSession)
		}
	}
	slices.SortFunc(out, func(a, b ForSession) int { return cmp.Or(a.Given.Compare(b.Given), strings.Compare(a.ID, b.ID)) })
	return out
}

// Revoke ends an approval for a session: the next command needs an approval of its own. It returns an ErrUnknown where none
// holds under the id, and an ErrForbidden where by may not answer.
func (d *Desk) Revoke(id, by, reason string) error {
	if err := mayAnswer(by); err != nil {
		return err
	}
	if err := checkReason(reason); err != nil {
		return err
	}
	if !d.end(id, Ended{How: "revoked", RevokedBy: by, Reason: reason}) {
		return fmt.Errorf("%w, as an approval for a session", ErrUnknown)
	}
	return nil
}

// SessionClosed ends the approvals for a session. Sandboxes are ended by SandboxClosed.
func (d *Desk) SessionClosed(id string) {
	d.endAll(func(g *given) bool { return id != "" && g.Session == id })
}

// SandboxClosed ends the approvals for a sandbox's commands.
func (d *Desk) SandboxClosed(id string) {
	d.endAll(func(g *given) bool { return id != "" && g.Sandbox == id })
}

// Close ends all approvals for sessions. What waits is not touched.
func (d *Desk) Close() { d.endAll(func(*given) bool { return true }) }

func (d *Desk) endAll(which func(*given) bool) {
	d.mu.Lock()
	var ids []string
	for id, g := range d.forSession {
		if which(g) {
			ids = append(ids, id)
		}
	}
	d.mu.Unlock()
	slices.Sort(ids)
	for _, id := range ids {
		d.end(id, Ended{How: "closed"})
	}
}

// end ends one, and reports whether it held.
func (d *Desk) end(id string, how Ended) bool {
	d.mu.Lock()
	g := d.forSession[id]
	delete(d.forSession, id)
	d.mu.Unlock()
	if g == nil {
		return false
	}
	g.timer.Stop()
	how.ForSession = g.ForSession
	if d.ended != nil {
		d.ended(how)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tell(Event{Kind: Revoked, ID: id, Principal: g.Owner})
	return true
}
