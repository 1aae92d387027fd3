package session_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Fields of a Command that cannot have their effect are refused before anything is sent.
func TestFieldsWithoutEffectAreRefused(t *testing.T) {
	p, err := session.NewPool(session.PoolConfig{Dial: localpty.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}})
	require.NoError(t, err)
	defer p.Close()
	host := hosts.Host{Name: "here", Transport: hosts.Local}
	s, err := p.Open(host)
	require.NoError(t, err)
	defer s.Close()

	streams := func(hosts.Host) (io.Writer, io.Writer) { return io.Discard, io.Discard }
	for name, c := range map[string]struct {
		cmd  session.Command
		want string
	}{
		"scripts":  {session.Command{Scripts: func(hosts.Host) string { return "echo other" }}, "Command.Scripts"},
		"stdins":   {session.Command{Stdins: func(hosts.Host) io.Reader { return strings.NewReader("x") }}, "Command.Stdins"},
		"streams":  {session.Command{Streams: streams}, "Command.Streams"},
		"size":     {session.Command{Size: session.Size{Rows: 5, Cols: 5}}, "Command.Interactive"},
		"rows":     {session.Command{Interactive: true, Size: session.Size{Rows: 5}}, "from 1 to 65535"},
		"columns":  {session.Command{Interactive: true, Size: session.Size{Cols: 5}}, "from 1 to 65535"},
		"negative": {session.Command{Interactive: true, Size: session.Size{Rows: -1, Cols: 5}}, "from 1 to 65535"},
		"large":    {session.Command{Interactive: true, Size: session.Size{Rows: 5, Cols: 65536}}, "from 1 to 65535"},
	} {
		c.cmd.Script = "echo script"
		r, err := s.Run(t.Context(), c.cmd)
		assert.ErrorIs(t, err, session.ErrInvalid, name)
		assert.ErrorContains(t, err, c.want, name)
		assert.Empty(t, r.Stdout, name)
	}

	r, err := p.Run(t.Context(), host, session.Command{Script: "echo x", Streams: streams})
	assert.ErrorIs(t, err, session.ErrInvalid)
	assert.Empty(t, r.Stdout)
	each := session.Command{Scripts: func(h hosts.Host) string { return "cat; echo " + h.Name }, Streams: streams,
		Stdins: func(hosts.Host) io.Reader { return strings.NewReader("in\n") }}
	for h, r := range p.Each(t.Context(), []hosts.Host{host}, each) {
		require.Nil(t, r.Err)
		assert.Equal(t, "in\n"+h.Name+"\n", string(r.Stdout))
	}
}

func TestATerminalIsNotMadeASizeThatItCannotHave(t *testing.T) {
	s, err := session.Open(dialLocal(t), hosts.Host{Name: "here", Transport: hosts.Local}, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
	require.NoError(t, err)
	defer s.Close()
	x, err := s.Start(t.Context(), session.Command{Script: "read x; stty size", Interactive: true, Size: session.Size{Rows: 7, Cols: 9}})
	require.NoError(t, err)
	for _, size := range []session.Size{{}, {Rows: 5}, {Rows: -1, Cols: -1}, {Rows: 65536, Cols: 65536}} {
		assert.ErrorContains(t, x.Resize(size), "from 1 to 65535")
	}
	require.NoError(t, x.Input(t.Context(), []byte("\n")))
	<-x.Done()
	assert.Contains(t, string(x.Result().Stdout), "7 9")
}

func dialLocal(t *testing.T) session.Transport {
	c, err := localpty.Dial(context.Background(), hosts.Host{Name: "here", Transport: hosts.Local})
	require.NoError(t, err)
	return c
}

// What an embedder's own parts leave unsaid is said.
func TestErrorsOfPartsThatSayNothingAreWhole(t *testing.T) {
	run := func(cfg session.PoolConfig) error {
		cfg.Session.Audit = audit.Discard{}
		p, err := session.NewPool(cfg)
		require.NoError(t, err)
		defer p.Close()
		_, err = p.Run(t.Context(), hosts.Host{Name: "here", Transport: hosts.Local}, session.Command{Script: "true"})
		return err
	}
	decide := func(v policy.Verdict) session.Config {
		return session.Config{Policy: policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
			return policy.Decision{Verdict: v}, nil
		}), Approver: silent{}}
	}
	assert.EqualError(t, run(session.PoolConfig{Dial: localpty.Dial, Session: decide(policy.Deny)}), "run here: session: denied: the policy gives no reason")
	assert.EqualError(t, run(session.PoolConfig{Dial: localpty.Dial, Session: decide(policy.Ask)}), "run here: session: the approval was refused by the Approver")
	late := func(ctx context.Context, _ hosts.Host) (session.Transport, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	err := run(session.PoolConfig{Dial: late, DialTimeout: 1, Session: session.Config{Policy: policy.AllowAll}})
	assert.EqualError(t, err, "run here: no connection within 1ns: context deadline exceeded")
	assert.ErrorIs(t, err, session.ErrUnreachable)
}

// silent is an Approver that refuses without a word.
type silent struct{}

func (silent) Approve(context.Context, policy.Question) (policy.Answer, error) {
	return policy.Answer{}, nil
}
