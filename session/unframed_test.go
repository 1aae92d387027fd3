package session_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// poolFor is a pool whose only host is a real server.
func poolFor(t *testing.T, sshd *sessiontest.SSHD) (*session.Pool, hosts.Host) {
	t.Helper()
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(t))
	require.NoError(t, err)
	p, err := session.NewPool(session.PoolConfig{
		Dial:    func(ctx context.Context, h hosts.Host) (session.Transport, error) { return d.Dial(ctx, h) },
		Session: session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: 500 * time.Millisecond},
	})
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p, sshd.Host(t, "sshd")
}

// authorizeWith puts options before the server's only key.
func authorizeWith(t *testing.T, sshd *sessiontest.SSHD, options string) {
	t.Helper()
	line := options + " " + string(ssh.MarshalAuthorizedKey(sshd.ClientKey.PublicKey()))
	require.NoError(t, os.WriteFile(sshd.Authorized, []byte(line), 0o600))
}

// withoutTerminal are the ways in which OpenSSH gives none.
var withoutTerminal = map[string]func(t *testing.T) *sessiontest.SSHD{
	"PermitTTY no": func(t *testing.T) *sessiontest.SSHD { return sessiontest.OpenSSHD(t, "PermitTTY no") },
	"PermitTTY no, MaxSessions 1": func(t *testing.T) *sessiontest.SSHD {
		return sessiontest.OpenSSHD(t, "PermitTTY no", "MaxSessions 1")
	},
	"no-pty": func(t *testing.T) *sessiontest.SSHD {
		sshd := sessiontest.OpenSSHD(t)
		authorizeWith(t, sshd, "no-pty")
		return sshd
	},
	"restrict": func(t *testing.T) *sessiontest.SSHD {
		sshd := sessiontest.OpenSSHD(t)
		authorizeWith(t, sshd, "restrict")
		return sshd
	},
}

func TestAHostThatGivesNoTerminalRunsOneOffCommands(t *testing.T) {
	for name, start := range withoutTerminal {
		t.Run(name, func(t *testing.T) {
			p, h := poolFor(t, start(t))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			var out, errOut bytes.Buffer
			r, err := p.Run(ctx, h, session.Command{Script: "printf 'o\\r\\0\\377'; printf 'e\\n' >&2; exit 3", Stdout: &out, Stderr: &errOut})
			require.NoError(t, err)
			assert.Equal(t, "o\r\x00\xff", string(r.Stdout))
			assert.Equal(t, "e\n", string(r.Stderr))
			assert.Equal(t, "o\r\x00\xff", out.String())
			assert.Equal(t, "e\n", errOut.String())
			assert.Equal(t, session.StatusExit, r.Status)
			assert.Equal(t, 3, *r.ExitCode)
			assert.Equal(t, "channel", r.StderrMode)
			assert.Empty(t, r.Dir, "there is no shell that stands anywhere")
			assert.Empty(t, r.Stray)

			r, err = p.Run(ctx, h, session.Command{Script: "cat; cat", Stdin: strings.NewReader(strings.Repeat("in\x00", 100_000))})
			require.NoError(t, err)
			assert.EqualValues(t, 300_000, r.StdoutBytes)
			assert.EqualValues(t, 300_000, r.StdinBytes)
			assert.Len(t, r.StdinSHA256, 64)

			r, err = p.Run(ctx, h, session.Command{Script: "echo a; echo b >&2; echo c", Merged: true, Dir: "/", Env: []string{"A=1"}})
			require.NoError(t, err)
			assert.Equal(t, "a\nb\nc\n", string(r.Stdout))
			assert.Equal(t, "merged", r.StderrMode)

			r, err = p.Run(ctx, h, session.Command{Script: "kill -TERM $$"})
			require.NoError(t, err)
			assert.Equal(t, session.StatusSignal, r.Status)
			assert.Equal(t, "TERM", r.Signal)

			r, err = p.Run(ctx, h, session.Command{Script: "printf %s -x", Program: false})
			require.NoError(t, err)
			assert.Equal(t, "-x", string(r.Stdout))

			n := 0
			for _, r := range p.Each(ctx, []hosts.Host{h, h, h}, session.Command{Script: "echo each"}) {
				assert.Nil(t, r.Err)
				assert.Equal(t, "each\n", string(r.Stdout))
				n++
			}
			assert.Equal(t, 3, n)
		})
	}
}

func TestACommandWithoutATerminalIsStopped(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "PermitTTY no")
	p, h := poolFor(t, sshd)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for name, c := range map[string]struct {
		script, by string
	}{
		"on INT":  {"echo $$; sleep 600; echo never", "INT"},
		"on TERM": {"trap '' INT; echo $$; sleep 600; echo never", "TERM"},
		"on KILL": {"trap '' INT TERM; echo $$; sleep 600; echo never", "KILL"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := p.Run(ctx, h, session.Command{Script: c.script, Timeout: time.Second})
			require.ErrorIs(t, err, session.ErrTimeout)
			assert.Equal(t, session.StatusTimeout, r.Status)
			assert.Equal(t, c.by, r.StoppedBy)
			assert.False(t, r.MayRun)
			assert.Empty(t, r.Signal)
			pid := strings.TrimSpace(string(r.Stdout))
			assert.NotContains(t, string(r.Stdout), "never")
			_, err = p.Run(ctx, h, session.Command{Script: "! kill -0 " + pid})
			require.NoError(t, err)
		})
	}

	t.Run("by its caller", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(ctx)
		left := errors.New("the user left")
		r, err := p.Run(ctx, h, session.Command{Script: "echo up; sleep 600", Stdout: calls(func([]byte) { cancel(left) })})
		require.ErrorIs(t, err, left)
		assert.Equal(t, session.StatusCanceled, r.Status)
		assert.False(t, r.MayRun)
	})

	t.Run("with its pool", func(t *testing.T) {
		p, h := poolFor(t, sshd)
		up, pid := make(chan struct{}), ""
		done := make(chan session.Result)
		go func() {
			r, _ := p.Run(context.Background(), h, session.Command{Script: "echo $$; sleep 600", Stdout: calls(func(b []byte) {
				pid = strings.TrimSpace(string(b))
				close(up)
			})})
			done <- r
		}()
		<-up
		require.NoError(t, p.Close())
		assert.Equal(t, session.StatusCanceled, (<-done).Status)
		other, h := poolFor(t, sshd)
		r, err := other.Run(ctx, h, session.Command{Script: "kill -0 " + pid})
		require.NoError(t, err)
		assert.Equal(t, session.StatusExit, r.Status, "nothing is left of it")
	})
}

// calls is a Writer that calls a function.
type calls func([]byte)

func (w calls) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

func TestACommandWithoutATerminalEndsBesideWhatItLeavesRunning(t *testing.T) {
	p, h := poolFor(t, sessiontest.OpenSSHD(t, "PermitTTY no"))
	r, err := p.Run(t.Context(), h, session.Command{Script: "sleep 600 & echo $!"})
	require.NoError(t, err)
	assert.Equal(t, session.StatusOK, r.Status)
	_, err = p.Run(t.Context(), h, session.Command{Script: "kill " + string(r.Stdout)})
	require.NoError(t, err)
}

func TestWhatNeedsATerminalSaysWhyAndWhatWorks(t *testing.T) {
	p, h := poolFor(t, sessiontest.OpenSSHD(t, "PermitTTY no"))
	s, err := p.Open(h)
	require.NoError(t, err)
	defer s.Close()
	r, err := s.Run(t.Context(), session.Command{Script: "true"})
	require.ErrorIs(t, err, session.ErrNoTerminal)
	assert.Equal(t, session.StatusError, r.Status)
	assert.Equal(t, "no_terminal", r.Err.Code)
	assert.False(t, r.Err.Sent)
	assert.False(t, r.Err.Retriable)
	assert.ErrorContains(t, err, "PermitTTY is off, or the key has no-pty or restrict")
	assert.NotContains(t, err.Error(), session.ErrNoTerminal.Error(), "it says that already")
	assert.ErrorContains(t, err, "single commands do not: use run")

	_, err = p.Run(t.Context(), h, session.Command{Script: "true", Interactive: true})
	require.ErrorIs(t, err, session.ErrNoTerminal)
	assert.ErrorContains(t, err, "an interactive command needs one")

	_, err = p.Run(t.Context(), h, session.Command{Script: strings.Repeat("#", 200<<10)})
	require.ErrorIs(t, err, session.ErrInvalid)
	assert.ErrorContains(t, err, "without a terminal a command can be about 127 KiB long")

	_, err = p.Run(t.Context(), h, session.Command{Script: "cat /etc/hostname", Held: true})
	assert.ErrorContains(t, err, "held")
}

// What stands in an account's way is named: here a forced command does what its login shell would.
func TestAccountsThatRunNoShellSayWhatTheyAre(t *testing.T) {
	for name, c := range map[string]struct{ config, want string }{
		"rbash":         {`ForceCommand bash -r -c "$SSH_ORIGINAL_COMMAND"`, "its login shell is restricted, as rbash is"},
		"nologin":       {`ForceCommand echo "This account is currently not available."; exit 1`, "its login shell is nologin"},
		"internal-sftp": {`ForceCommand internal-sftp`, "the server forces sftp (ForceCommand internal-sftp), so commands cannot run, and files can only be copied by programs that speak sftp"},
		"no sh":         {`ForceCommand echo "parse_mismatch: exec"; exit 1`, "its login shell understands no sh; fairlead ssh sends a command as it is"},
		"an old password": {`ForceCommand echo "WARNING: Your password has expired."; if [ -t 0 ]; then echo "You must change your password now and login again!"; exec cat; fi;` +
			` echo "Password change required but no TTY available."; exit 1`, "the account's password has expired; log in with ssh, change it there"},
		"a menu": {`ForceCommand echo "Menu: 1 2 3"; exit 5`, `it printed "Menu: 1 2 3`},
	} {
		for _, tty := range []string{"PermitTTY yes", "PermitTTY no"} {
			t.Run(name+" "+tty, func(t *testing.T) {
				p, h := poolFor(t, sessiontest.OpenSSHD(t, c.config, tty))
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				marker := filepath.Join(t.TempDir(), "ran")
				r, err := p.Run(ctx, h, session.Command{Script: "touch " + marker})
				require.Error(t, err)
				assert.Equal(t, session.StatusUnreachable, r.Status)
				assert.False(t, r.Err.Sent)
				assert.ErrorContains(t, err, c.want)
				if name == "a menu" {
					assert.ErrorContains(t, err, "may force a command (ForceCommand")
				}
				assert.NoFileExists(t, marker)
			})
		}
	}
}
