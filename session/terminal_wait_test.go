package session_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// likeSudo does what sudo does: it opens the terminal itself, turns its echo off, asks there and reads.
const likeSudo = `#!/bin/sh
exec 3<>/dev/tty
stty -echo <&3
printf '%s' "$PROMPT" >&3
read -r answer <&3
echo "got $answer"
`

func stopsForTerminal(t *testing.T, s *session.Session, script string) *session.Error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := s.Run(ctx, session.Command{Script: script})
	e := asError(t, err)
	require.Equal(t, "needs_terminal", e.Code, "%v: %s", err, r.Stdout)
	assert.Equal(t, session.StatusTimeout, r.Status)
	assert.NotEmpty(t, r.StoppedBy)
	assert.ErrorIs(t, err, session.ErrNeedsTerminal)
	assert.ErrorContains(t, err, "fairlead shell host")
	assert.False(t, e.Retriable)
	assert.NotContains(t, string(r.Stdout), "got")
	next, err := s.Run(t.Context(), session.Command{Script: "echo next"})
	require.NoError(t, err)
	assert.Equal(t, "next\n", string(next.Stdout))
	return e
}

func TestACommandThatWaitsForTheTerminalIsStopped(t *testing.T) {
	t.Parallel()
	needShell(t, "python3")
	dir := t.TempDir()
	fake := filepath.Join(dir, "asker")
	require.NoError(t, os.WriteFile(fake, []byte(likeSudo), 0o755))
	for _, via := range transports {
		t.Run(via.name, func(t *testing.T) {
			t.Parallel()
			tr := via.open(t)
			for _, shell := range shells {
				if shell != "bash" && via.name != "local" {
					continue
				}
				t.Run(shell, func(t *testing.T) {
					needShell(t, shell)
					t.Parallel()
					s := open(t, tr, shell)
					defer s.Close()
					for name, script := range map[string]string{
						"a program that asks for a password": "PROMPT='[sudo] password for ada: ' " + fake,
						"the shell's own read":               "read x </dev/tty",
						"python's getpass":                   `python3 -c 'import getpass; print("got", getpass.getpass())'`,
					} {
						t.Run(name, func(t *testing.T) { stopsForTerminal(t, s, script) })
					}
				})
				if shell == "bash" {
					t.Run("bash without a prompt", func(t *testing.T) {
						t.Parallel()
						s := open(t, tr, shell)
						defer s.Close()
						assert.Contains(t, stopsForTerminal(t, s, "(PROMPT= "+fake+"); true").Error(), "waits for input")
						stopsForTerminal(t, s, "read -s x </dev/tty")
						stopsForTerminal(t, s, "sleep 1; cat </dev/tty | cat")
					})
				}
			}
		})
	}
}

func TestACommandThatOnlyLooksLikeAPromptRunsOn(t *testing.T) {
	t.Parallel()
	for _, via := range transports {
		t.Run(via.name, func(t *testing.T) {
			t.Parallel()
			tr := via.open(t)
			for i, script := range []string{
				"printf 'Password: '; sleep 4; echo ok", "sleep 5", "printf '[sudo] password for ada: ' >&2; sleep 4",
				"cat <(sleep 4)", "read -t 4 x < <(sleep 4); true", "(sleep 4 & wait)",
			} {
				if i > 1 && via.name != "local" {
					break
				}
				t.Run(script, func(t *testing.T) {
					t.Parallel()
					s := open(t, tr, "bash")
					defer s.Close()
					r, err := s.Run(t.Context(), session.Command{Script: script})
					assert.NoError(t, err)
					assert.Equal(t, session.StatusOK, r.Status)
				})
			}
		})
	}
}

// An account that is not root, and so may not look into what runs as root.
func TestSudoThatAsksForAPasswordIsStopped(t *testing.T) {
	for _, program := range []string{"sudo", "runuser", "useradd"} {
		if _, err := exec.LookPath(program); err != nil || os.Geteuid() != 0 {
			if os.Getenv("CI") == "true" {
				t.Fatalf("this needs root and %s", program)
			}
			t.Skipf("this needs root and %s", program)
		}
	}
	const account = "fairleadsudo"
	if _, err := user.Lookup(account); err != nil {
		out, err := exec.Command("useradd", "--no-create-home", "--shell", "/bin/sh", "--password", "*", account).CombinedOutput()
		require.NoError(t, err, string(out))
		t.Cleanup(func() { exec.Command("userdel", account).Run() })
	}
	h := hosts.Host{Name: "host", Transport: hosts.Command, Command: []string{"runuser", "-u", account, "--", "sh"}}
	tr, err := localpty.Dial(t.Context(), h)
	require.NoError(t, err)
	defer tr.Close()
	s, err := session.Open(tr, h, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: 500 * time.Millisecond})
	require.NoError(t, err)
	defer s.Close()
	e := stopsForTerminal(t, s, "cd /; sudo id")
	assert.Contains(t, e.Error(), "waits for a password")
	assert.Contains(t, e.Error(), "NOPASSWD")
	assert.Contains(t, stopsForTerminal(t, s, "sudo -p 'Tell me: ' id").Error(), "sudo waits")
	r, err := s.Run(t.Context(), session.Command{Script: "sudo -n id"})
	require.NoError(t, err)
	assert.Equal(t, session.StatusExit, r.Status)

	// su reads its password from stdin, which is empty, and fails after a pause of one to three seconds (pam_fail_delay(3)).
	// Until then it looks like one that waits, and which of the two comes first is no matter.
	if r, err = s.Run(t.Context(), session.Command{Script: "su -c id root"}); err != nil {
		assert.ErrorIs(t, err, session.ErrNeedsTerminal)
	} else {
		assert.Equal(t, session.StatusExit, r.Status)
		assert.Contains(t, string(r.Stderr), "Password:")
	}
}

// overtakes is a transport on which something is printed before the next start of a command is known.
type overtakes struct {
	session.Transport
	prompt *atomic.Pointer[string]
}

func (o overtakes) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	stream, err := o.Transport.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	return &overtaken{Stream: stream, prompt: o.prompt}, nil
}

type overtaken struct {
	session.Stream
	prompt *atomic.Pointer[string]
	rest   []byte
}

func (o *overtaken) Read(p []byte) (int, error) {
	if len(o.rest) == 0 {
		n, err := o.Stream.Read(p)
		prompt := o.prompt.Swap(nil)
		if prompt == nil || n == 0 {
			return n, err
		}
		o.rest = append([]byte(*prompt), p[:n]...)
	}
	n := copy(p, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// sudo and doas write to the terminal, and the start of the command comes by way of a pipe.
func TestAPromptBeforeTheStartOfItsCommandIsSeen(t *testing.T) {
	tr := overtakes{transports[0].open(t), &atomic.Pointer[string]{}}
	s := open(t, tr, "bash")
	defer s.Close()
	_, err := s.Run(t.Context(), session.Command{Script: "true"})
	require.NoError(t, err)
	prompt := "doas (ada@web1) password: "
	tr.prompt.Store(&prompt)
	e := stopsForTerminal(t, s, "stty -echo </dev/tty; read x </dev/tty; stty echo </dev/tty")
	assert.Contains(t, e.Error(), "waits for a password")
}

func TestAnInteractiveCommandMayWait(t *testing.T) {
	s := open(t, transports[0].open(t), "bash")
	defer s.Close()
	_, err := s.Run(t.Context(), session.Command{Script: "printf 'Password: '; read -s x", Interactive: true, Timeout: 5 * time.Second})
	var e *session.Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, "timeout", e.Code)
}
