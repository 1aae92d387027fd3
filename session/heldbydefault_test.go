package session_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"

	"golang.org/x/crypto/ssh"
)

// Without a word in a policy, what an agent may run without approval runs held; what changes the session, or was approved, runs in its
// own shell. The two share a directory, and what rests on a name that was set asks.
func TestAnAgentsReadsRunHeldByDefault(t *testing.T) {
	holding(t, bashHere, session.Config{Policy: heldReads}) // skips where that cannot be
	eachShell(t, func(t *testing.T, tr session.Transport, shell string) {
		s := asAgentUnder(t, "", tr, shell)
		run := func(script, lane, held, out string) session.Result {
			t.Helper()
			r, err := s.Run(t.Context(), session.Command{Script: script})
			require.NoError(t, err, script)
			assert.Equal(t, []string{lane, held, out}, []string{r.Lane, r.Held, string(r.Stdout)}, "%s: %s", script, r.NotHeld)
			return r
		}
		run("cd /usr && pwd", "held", "kernel", "/usr\n")
		run("pwd", "held", "kernel", "/usr\n")
		run("touch /dev/null; pwd", "session", "", "/usr\n")
		run("cd /etc; touch /dev/null", "session", "", "")
		run("pwd", "held", "kernel", "/etc\n")
		loop := "for f in a b; do echo $f; done; read -r g <<E\n$f\nE\necho $g"
		run(loop, "held", "kernel", "a\nb\nb\n")
		run(loop, "held", "kernel", "a\nb\nb\n")
		for _, script := range []string{"echo $f", "touch /dev/null $f", "ls; rm -rf " + t.TempDir() + "/$g"} {
			_, err := s.Run(t.Context(), session.Command{Script: script})
			require.ErrorIs(t, err, session.ErrDenied, script)
			assert.Regexp(t, `it rests on [fg], which an earlier command set in another shell \(lane held\)`, err.Error())
		}
		run("f=1; touch /dev/null; echo $f", "session", "", "1\n")
		run("touch /dev/null; echo $f", "session", "", "1\n")
		_, err := s.Run(t.Context(), session.Command{Script: "echo $f"})
		require.ErrorIs(t, err, session.ErrDenied)
		r := run("ulimit -n >/dev/null", "clean", "no", "")
		assert.Contains(t, r.NotHeld, "ulimit")
		require.NoError(t, s.Close())
	})
}

// The poisonings of a session's shell do not reach a held one.
func TestNothingThatASessionRanChangesWhatAHeldReadMeans(t *testing.T) {
	holding(t, bashHere, session.Config{Policy: heldReads})
	eachShell(t, func(t *testing.T, tr session.Transport, shell string) {
		s := asAgentUnder(t, "", tr, shell)
		mark := filepath.Join(t.TempDir(), "mark")
		_, err := s.Run(t.Context(), session.Command{Script: "pwd() { touch " + mark + "; }; PS4='$(touch " + mark + ")'; touch /dev/null"})
		require.NoError(t, err)
		r, err := s.Run(t.Context(), session.Command{Script: "test -d / && id -u"})
		require.NoError(t, err)
		assert.Equal(t, "held", r.Lane)
		assert.NoFileExists(t, mark)
	})
}

// A host that cannot hold runs an agent's read as it is judged, and nobody is asked.
func TestAHostThatCannotHoldRunsAnAgentsReadsAsJudged(t *testing.T) {
	perl, err := exec.LookPath("perl")
	if err != nil {
		needs.Part(t, "perl is not installed")
	}
	for _, lacks := range []string{"seccomp", "landlock, listener"} {
		tr, err := localpty.New(localpty.Config{Command: []string{perl, "testdata/mask.pl", lacks, "/bin/sh"}})
		require.NoError(t, err)
		t.Cleanup(func() { tr.Close() })
		s, err := session.Open(tr, bashHere, session.Config{Principal: "agent/a", Policy: rules.New(rules.Config{}), Audit: audit.Discard{}})
		require.NoError(t, err)
		for range 2 {
			r, err := s.Run(t.Context(), session.Command{Script: "echo a"})
			require.NoError(t, err)
			assert.Equal(t, []string{"a\n", "session", "no"}, []string{string(r.Stdout), r.Lane, r.Held})
			assert.NotEmpty(t, r.NotHeld)
		}
		require.NoError(t, s.Close())
	}
	host := bashHere
	host.Env = []string{"PATH=" + withoutPerl(t)} // and without python3
	s := onThisMachine(t, host, session.Config{Principal: "agent/a", Policy: rules.New(rules.Config{})})
	r, err := s.Run(t.Context(), session.Command{Script: "echo a"})
	require.NoError(t, err)
	assert.Equal(t, "no", r.Held)
	assert.Contains(t, r.NotHeld, "perl")
}

// Where a connection has room for one shell and there is no other connection, the held shell gives way to the session's own.
func TestAHeldShellTakesNoRoomThatTheSessionNeeds(t *testing.T) {
	holding(t, bashHere, session.Config{Policy: heldReads})
	sshd := sessiontest.OpenSSHD(t, "MaxSessions 1")
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(t))
	require.NoError(t, err)
	p, err := session.NewPool(session.PoolConfig{
		Dial:            func(ctx context.Context, h hosts.Host) (session.Transport, error) { return d.Dial(ctx, h) },
		Session:         session.Config{Principal: "agent/a", Policy: agentApproved(t, ""), Audit: audit.Discard{}},
		MaxConnsPerHost: 1,
	})
	require.NoError(t, err)
	defer p.Close()
	s, err := p.Open(sshd.Host(t, "sshd"))
	require.NoError(t, err)
	for _, c := range []struct{ script, lane, held string }{
		{"pwd", "held", "kernel"},
		{"touch /dev/null", "session", ""},
		{"touch /dev/null", "session", ""},
	} {
		r, err := s.Run(t.Context(), session.Command{Script: c.script, SlotWait: time.Minute})
		require.NoError(t, err, c.script)
		assert.Equal(t, []string{c.lane, c.held}, []string{r.Lane, r.Held}, "%s: %s", c.script, r.NotHeld)
	}
	// What another command has shaped the session's shell for needs one more, held or not: that is told.
	_, err = s.Run(t.Context(), session.Command{Script: "pwd", SlotWait: time.Millisecond})
	require.ErrorIs(t, err, session.ErrFull)
}
