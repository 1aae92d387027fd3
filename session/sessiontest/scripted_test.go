package sessiontest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// scripted is a session on a host of d.
func scripted(t *testing.T, d *sessiontest.Dialer, h hosts.Host) *session.Session {
	t.Helper()
	tr, err := d.Dial(t.Context(), h)
	require.NoError(t, err)
	s, err := session.Open(tr, h, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close(); tr.Close() })
	return s
}

func TestScriptedShellGivesWhatTheReplySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sessiontest.NewDialer(t)
		odd := "it's \x03 a \x1e \"script\"\n\\ of 'many' bytes\xff\n" + string(make([]byte, 0))
		d.On(odd, sessiontest.Reply{Stdout: "o\x1e\x00", Stderr: "e\x1e", Exit: 3, Dir: "/tmp"})
		d.On("", sessiontest.Reply{})
		s := scripted(t, d, hosts.Host{Name: "web1"})

		r, err := s.Run(t.Context(), session.Command{Script: odd})
		require.NoError(t, err)
		assert.Equal(t, "o\x1e\x00", string(r.Stdout))
		assert.Equal(t, "e\x1e", string(r.Stderr))
		assert.Equal(t, 3, *r.ExitCode)
		assert.Equal(t, "/tmp", r.Dir)

		r, err = s.Run(t.Context(), session.Command{Merged: true})
		require.NoError(t, err)
		assert.Equal(t, "/tmp", r.Dir, "the directory is kept")
		assert.Equal(t, []string{odd, ""}, d.Ran("web1"))
	})
}

func TestAScriptedOneOffWithATrapIsTheCommandThatWasGiven(t *testing.T) {
	d := sessiontest.NewDialer(t)
	script := "trap 'rm -f it\\'s' EXIT\necho hi"
	d.On(script, sessiontest.Reply{Stdout: "hi\n"})
	pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}})
	require.NoError(t, err)
	defer pool.Close()
	r, err := pool.Run(t.Context(), hosts.Host{Name: "web1"}, session.Command{Script: script})
	require.NoError(t, err)
	assert.Equal(t, "hi\n", string(r.Stdout))
	assert.Equal(t, []string{script}, d.Ran("web1"))
}

func TestScriptedShellTellsErrorsApartUnlessTheyAreMerged(t *testing.T) {
	d := sessiontest.NewDialer(t)
	d.On("both", sessiontest.Reply{Stdout: "o", Stderr: "e"})
	s := scripted(t, d, hosts.Host{Name: "web1"})
	r, err := s.Run(t.Context(), session.Command{Script: "both", Merged: true})
	require.NoError(t, err)
	assert.Equal(t, "oe", string(r.Stdout))
	assert.Empty(t, r.Stderr)
}

func TestScriptedRepliesComeInTurnAndTheLastOneStays(t *testing.T) {
	d := sessiontest.NewDialer(t)
	d.On("next", sessiontest.Reply{Stdout: "1"}, sessiontest.Reply{Stdout: "2"})
	s := scripted(t, d, hosts.Host{Name: "web1"})
	for _, want := range []string{"1", "2", "2"} {
		r, err := s.Run(t.Context(), session.Command{Script: "next"})
		require.NoError(t, err)
		assert.Equal(t, want, string(r.Stdout))
	}
}

func TestScriptedCommandHangsUntilASignalThatItDoesNotIgnore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sessiontest.NewDialer(t)
		d.On("sleep", sessiontest.Reply{Stdout: "…", Hang: true})
		s := scripted(t, d, hosts.Host{Name: "web1"})
		r, err := s.Run(t.Context(), session.Command{Script: "sleep", Timeout: time.Hour})
		require.Error(t, err)
		assert.Equal(t, session.StatusTimeout, r.Status)
		assert.Equal(t, 130, *r.ExitCode)
		assert.Equal(t, "…", string(r.Stdout))
	})
}

func TestScriptedFunctionWritesWhileItRunsAndHearsTheInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sessiontest.NewDialer(t)
		d.OnFunc("work", func(c *sessiontest.Call) sessiontest.Reply {
			c.Stdout.Write([]byte("on " + c.Host))
			c.Stderr.Write([]byte("in " + c.Dir))
			select {
			case <-c.Interrupted:
				return sessiontest.Reply{Exit: 130}
			case <-c.HungUp:
				return sessiontest.Reply{}
			}
		})
		s := scripted(t, d, hosts.Host{Name: "web1"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, _ := s.Run(ctx, session.Command{Script: "work"})
		assert.Equal(t, session.StatusCanceled, r.Status)
		assert.Equal(t, "INT", r.StoppedBy)
		assert.Equal(t, "on web1", string(r.Stdout))
		assert.Equal(t, "in /home/test", string(r.Stderr))
	})
}

func TestScriptedDialerReportsWhatATestForgot(t *testing.T) {
	f := &failures{T: t}
	d := sessiontest.NewDialer(f)
	d.On("never asked for")
	tr, err := d.Dial(t.Context(), hosts.Host{Name: "web1"})
	require.NoError(t, err)
	s, err := session.Open(tr, hosts.Host{Name: "web1"}, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
	require.NoError(t, err)
	_, err = s.Run(t.Context(), session.Command{Script: "unforeseen"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	f.end()
	require.NoError(t, tr.Close())
	assert.Equal(t, []string{
		`sessiontest: web1 was sent "unforeseen", for which there is no reply`,
		`sessiontest: at the end of the test 1 connections to web1 are open`,
		`sessiontest: nothing ran "never asked for"`,
	}, f.said)
}
