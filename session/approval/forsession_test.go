package approval_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// inSession is a question about a command of a session.
func inSession(command string) policy.Question {
	return policy.Question{
		Exec: "e_1", Session: "s_1", Principal: "agent/x", Shell: "bash", Command: command, Dir: "/srv", Host: hosts.Host{Name: "web1", Addr: "10.0.0.1", Tier: "dev"},
		Decision: policy.Decision{Verdict: policy.Ask, Class: policy.Write, Rule: "r", Reason: "it writes"}, Asked: time.Now(),
	}
}

// forSession gives an approval for the session, and returns what was approved.
func forSession(t *testing.T, d *approval.Desk, q policy.Question, s approval.Scope) approval.Pending {
	t.Helper()
	p, done := asks(t, t.Context(), d, q)
	p.ForSession = &s
	r := yes(p)
	r.ForSession = &s
	require.NoError(t, d.Answer(r))
	a := <-done
	require.NoError(t, a.err)
	assert.Equal(t, s.String(), a.ForSession)
	return p
}

func newDesk(t *testing.T, cfg approval.Config) *approval.Desk {
	t.Helper()
	cfg.Begins = rules.Begins
	d := approval.NewDesk(cfg)
	t.Cleanup(d.Close)
	return d
}

func TestAnApprovalForASessionCoversTheSameCommandAtTheSamePlace(t *testing.T) {
	d := newDesk(t, approval.Config{})
	first := forSession(t, d, inSession("./svcctl restart"), approval.Scope{})
	for name, tt := range map[string]struct {
		change func(q *policy.Question)
		want   bool
	}{
		"the same":                     {func(*policy.Question) {}, true},
		"another exec and reason":      {func(q *policy.Question) { q.Exec, q.Reason = "e_2", "again" }, true},
		"a blank more":                 {func(q *policy.Question) { q.Command += " " }, false},
		"another command":              {func(q *policy.Question) { q.Command = "./svcctl stop" }, false},
		"another session":              {func(q *policy.Question) { q.Session = "s_2" }, false},
		"no session":                   {func(q *policy.Question) { q.Session = "" }, false},
		"another principal":            {func(q *policy.Question) { q.Principal = "agent/y" }, false},
		"another directory":            {func(q *policy.Question) { q.Dir = "/srv/" }, false},
		"no directory":                 {func(q *policy.Question) { q.Dir = "" }, false},
		"another host":                 {func(q *policy.Question) { q.Host.Name = "web2" }, false},
		"a host of the same name":      {func(q *policy.Question) { q.Host.Addr = "10.0.0.2" }, false},
		"another environment":          {func(q *policy.Question) { q.Host.Env = []string{"A=1"} }, false},
		"another shell":                {func(q *policy.Question) { q.Shell = "zsh" }, false},
		"interactive":                  {func(q *policy.Question) { q.Interactive = true }, false},
		"typed":                        {func(q *policy.Question) { q.Interactive, q.Typed = true, "y\n" }, false},
		"with input":                   {func(q *policy.Question) { q.StdinBytes, q.StdinSHA256 = 1, "00" }, false},
		"many hosts":                   {func(q *policy.Question) { q.Hosts = []hosts.Host{q.Host} }, false},
		"a sandbox":                    {func(q *policy.Question) { q.Sandbox = "b_1" }, false},
		"judged worse":                 {func(q *policy.Question) { q.Decision.Class = policy.Dangerous }, false},
		"judged milder":                {func(q *policy.Question) { q.Decision.Class = policy.Unknown }, false},
		"a name that the session sets": {func(q *policy.Question) { q.Decision.Rests = "svcctl" }, false},
		"setting a name":               {func(q *policy.Question) { q.Decision.Sets = []string{"A"} }, false},
		"a better proof wanted":        {func(q *policy.Question) { q.Decision.LeastProof = policy.Passphrase }, false},
	} {
		q := inSession("./svcctl restart")
		tt.change(&q)
		a, ok := d.ForSession(q)
		assert.Equal(t, tt.want, ok, name)
		if tt.want {
			assert.Equal(t, first.ID, a.ID, name)
			assert.Equal(t, "operator/ada", a.By)
			assert.Equal(t, string(first.Digest()), a.Digest)
		}
	}
	list := d.ForSessions()
	require.Len(t, list, 1)
	assert.Equal(t, 2, list[0].Used)
	assert.Equal(t, "this command", list[0].Scope)
}

// An approval was given knowing what holds the commands of the sandbox.
func TestAnApprovalForASandboxIsForWhatHeldItThen(t *testing.T) {
	held := func(by string) policy.Question {
		q := inSession("./svcctl restart")
		q.Session, q.Sandbox, q.Enforcement = "", "b_1", by
		return q
	}
	d := newDesk(t, approval.Config{})
	forSession(t, d, held("kernel"), approval.Scope{})
	_, ok := d.ForSession(held("kernel"))
	assert.True(t, ok)
	for _, by := range []string{"checked", "account", ""} {
		_, ok = d.ForSession(held(by))
		assert.False(t, ok, by)
	}
}

func TestAPrefixIsRefusedWhereItIsNone(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(q *policy.Question)
		scope  approval.Scope
		want   string
	}{
		"a prefix of another command": {nil, approval.Scope{Prefix: []string{"systemctl", "stop"}}, "does not begin with these words"},
		"a program alone":             {nil, approval.Scope{Prefix: []string{"systemctl"}}, "at least one more word"},
		"sudo":                        {func(q *policy.Question) { q.Command = "sudo systemctl restart x" }, approval.Scope{Prefix: []string{"sudo", "systemctl"}}, "can run any program"},
		"two commands":                {func(q *policy.Question) { q.Command += "; touch x" }, approval.Scope{Prefix: []string{"systemctl", "restart"}}, "one simple command"},
		"too long":                    {nil, approval.Scope{For: 25 * time.Hour}, "at most 24h"},
		"a negative time":             {nil, approval.Scope{For: -1}, "whole seconds"},
		"dangerous":                   {func(q *policy.Question) { q.Decision.Class = policy.Dangerous }, approval.Scope{}, "each time"},
		"privileged":                  {func(q *policy.Question) { q.Decision.Class = policy.Privileged }, approval.Scope{}, "each time"},
		"forbidden":                   {func(q *policy.Question) { q.Decision.Class = policy.Forbidden }, approval.Scope{}, "each time"},
		"secrets":                     {func(q *policy.Question) { q.Decision.Class = policy.SensitiveRead }, approval.Scope{Prefix: []string{"systemctl", "restart"}}, "secrets"},
		"no session":                  {func(q *policy.Question) { q.Session = "" }, approval.Scope{}, "no session"},
		"no directory":                {func(q *policy.Question) { q.Dir = "" }, approval.Scope{}, "directory"},
		"with input":                  {func(q *policy.Question) { q.StdinBytes, q.StdinSHA256 = 1, "00" }, approval.Scope{}, "standard input"},
		"many hosts":                  {func(q *policy.Question) { q.Hosts = []hosts.Host{{Name: "a"}, {Name: "b"}} }, approval.Scope{}, "several hosts"},
		"typed":                       {func(q *policy.Question) { q.Interactive, q.Typed = true, "y\n" }, approval.Scope{}, "typed"},
		"interactive with a prefix":   {func(q *policy.Question) { q.Interactive = true }, approval.Scope{Prefix: []string{"systemctl", "restart"}}, "interactive"},
		"a name of the session":       {func(q *policy.Question) { q.Decision.Rests = "systemctl" }, approval.Scope{}, `has set "systemctl"`},
		"setting names":               {func(q *policy.Question) { q.Decision.Sets = []string{"A"} }, approval.Scope{}, "sets names"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, approval.Config{})
			q := inSession("systemctl restart nginx")
			if tt.change != nil {
				tt.change(&q)
			}
			w, err := d.Ask(q)
			require.NoError(t, err)
			p := d.List()[0]
			p.ForSession = &tt.scope
			r := yes(p)
			r.ForSession = &tt.scope
			require.ErrorIs(t, d.Answer(r), approval.ErrScope)
			assert.ErrorContains(t, d.Answer(r), tt.want)
			assert.Empty(t, d.ForSessions())
			require.NoError(t, d.Answer(yes(d.List()[0])), "it waits on, and can be approved once")
			_, err = w.Wait(t.Context())
			require.NoError(t, err)
		})
	}
}

func TestAnApprovalForASessionIsSignedWithItsScope(t *testing.T) {
	who := newPeople(t)
	gone := false
	d := newDesk(t, approval.Config{Approvers: func() ([]approval.Approver, error) {
		if gone {
			return nil, nil
		}
		return who.all, nil
	}})
	q := inSession("systemctl restart nginx")
	q.Host.Tier = "prod"
	p, done := asks(t, t.Context(), d, q)
	scope := &approval.Scope{Prefix: []string{"systemctl", "restart"}, For: time.Hour}
	once := signed(t, p, who.ada)
	p.ForSession = scope
	whole := signed(t, p, who.ada)
	whole.ForSession = scope
	for name, tt := range map[string]struct {
		change func(r approval.Response) approval.Response
		want   error
	}{
		"a yes for one command": {func(approval.Response) approval.Response { r := once; r.ForSession = scope; return r }, approval.ErrMismatch},
		"for the exact command": {func(r approval.Response) approval.Response { r.ForSession = &approval.Scope{For: time.Hour}; return r }, approval.ErrMismatch},
		"for longer": {func(r approval.Response) approval.Response {
			r.ForSession = &approval.Scope{Prefix: scope.Prefix}
			return r
		}, approval.ErrMismatch},
		"called one command":       {func(r approval.Response) approval.Response { r.ForSession = nil; return r }, approval.ErrMismatch},
		"with another's signature": {func(r approval.Response) approval.Response { r.Signature = once.Signature; return r }, approval.ErrProof},
		"a bare yes":               {func(r approval.Response) approval.Response { r.Signature = nil; return r }, approval.ErrProof},
	} {
		assert.ErrorIs(t, d.Answer(tt.change(whole)), tt.want, name)
	}
	once.ForSession = scope
	assert.ErrorContains(t, d.Answer(once), "names the digest of the document with its scope")
	require.NoError(t, d.Answer(whole))
	got := <-done
	back, err := approval.Parse([]byte(got.Document))
	require.NoError(t, err)
	assert.Equal(t, scope, back.ForSession, "the document that was signed says so")

	a, ok := d.ForSession(q)
	require.True(t, ok)
	assert.Equal(t, string(whole.Digest), a.Digest)
	gone = true
	_, ok = d.ForSession(q)
	assert.False(t, ok, "the approver is not enrolled any more")
}

func TestAnApprovalForASessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []approval.Ended
		d := approval.NewDesk(approval.Config{Begins: rules.Begins, Ended: func(e approval.Ended) { ended = append(ended, e) }})
		give := func(q policy.Question, s approval.Scope) string {
			w, err := d.Ask(q)
			require.NoError(t, err)
			p := d.List()[0]
			p.ForSession = &s
			r := yes(p)
			r.ForSession = &s
			require.NoError(t, d.Answer(r))
			_, err = w.Wait(t.Context())
			require.NoError(t, err)
			return p.ID
		}
		holds := func(command string) bool { _, ok := d.ForSession(inSession(command)); return ok }

		timed := give(inSession("touch a"), approval.Scope{For: 30 * time.Minute})
		day := give(inSession("touch b"), approval.Scope{})
		taken := give(inSession("touch c"), approval.Scope{})
		assert.True(t, holds("touch a") && holds("touch b") && holds("touch c"))
		assert.ErrorIs(t, d.Revoke(taken, "agent/x", ""), approval.ErrForbidden)
		assert.ErrorIs(t, d.Revoke("a_none", "operator/ada", ""), approval.ErrUnknown)
		require.NoError(t, d.Revoke(taken, "operator/bob", "enough"))
		assert.False(t, holds("touch c"))
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		assert.False(t, holds("touch a"))
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		assert.False(t, holds("touch b"))
		closed := give(inSession("touch d"), approval.Scope{})
		d.SessionClosed("s_2")
		assert.True(t, holds("touch d"))
		d.SessionClosed("s_1")
		assert.False(t, holds("touch d"))
		var how []string
		for _, e := range ended {
			how = append(how, e.ID+" "+e.How+" "+e.RevokedBy)
		}
		assert.Equal(t, []string{taken + " revoked operator/bob", timed + " expired ", day + " expired ", closed + " closed "}, how)
		assert.Empty(t, d.ForSessions())

		inBox := func(id string) policy.Question {
			q := inSession("touch e")
			q.Session, q.Sandbox = "", id
			return q
		}
		boxed, left := give(inBox("b_1"), approval.Scope{}), give(inSession("touch f"), approval.Scope{})
		d.SandboxClosed("b_2")
		d.SandboxClosed("") // that of what is in none
		d.SessionClosed("")
		assert.Len(t, d.ForSessions(), 2)
		_, ok := d.ForSession(inBox("b_1"))
		assert.True(t, ok)
		_, ok = d.ForSession(inBox("b_2"))
		assert.False(t, ok)
		d.SandboxClosed("b_1")
		_, ok = d.ForSession(inBox("b_1"))
		assert.False(t, ok)
		d.Close()
		assert.Empty(t, d.ForSessions())
		assert.False(t, holds("touch f"))
		require.Len(t, ended, 6)
		assert.Equal(t, []string{boxed, "closed", left, "closed"}, []string{ended[4].ID, ended[4].How, ended[5].ID, ended[5].How})
	})
}

// The timers of a machine stand still while it is suspended, and its clock does not.
func TestAnApprovalForASessionEndsAtItsTimeOnAMachineThatWasSuspended(t *testing.T) {
	var (
		asleep time.Duration
		ended  []string
	)
	d := newDesk(t, approval.Config{
		Now:   func() time.Time { return time.Now().Round(0).Add(asleep) },
		Ended: func(e approval.Ended) { ended = append(ended, e.How) },
	})
	p := forSession(t, d, inSession("./svcctl restart"), approval.Scope{For: time.Hour})
	asleep = time.Hour - time.Minute
	_, ok := d.ForSession(inSession("./svcctl restart"))
	assert.True(t, ok)
	require.Len(t, d.ForSessions(), 1)
	assert.Empty(t, ended)

	asleep = time.Hour
	assert.Empty(t, d.ForSessions(), "what is shown is what holds")
	_, ok = d.ForSession(inSession("./svcctl restart"))
	assert.False(t, ok)
	assert.Equal(t, []string{"expired"}, ended)
	assert.ErrorIs(t, d.Revoke(p.ID, "operator/ada", ""), approval.ErrUnknown)
}
