package session_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// The perl of a host does not start while its libraries are being replaced, or where somebody has put another program in its place.
func TestAPerlThatDoesNotStartIsDoneWithout(t *testing.T) {
	for name, program := range map[string]string{
		"code":    "echo perl: cannot open shared object file >&2; exit 127",
		"silent":  "exit 1",
		"success": "exit 0",
		"signal":  "kill -ILL $$",
	} {
		t.Run(name, func(t *testing.T) {
			host := bashHere
			path := withoutPerl(t)
			require.NoError(t, os.WriteFile(filepath.Join(path, "perl"), []byte("#!/bin/sh\n"+program+"\n"), 0o700))
			host.Env = []string{"PATH=" + path}
			s := onThisMachine(t, host, session.Config{Policy: policy.AllowAll})
			r, err := s.Run(t.Context(), session.Command{Script: "echo out; echo err >&2; X=kept; (exit 3)"})
			require.NoError(t, err)
			require.Equal(t, session.StatusExit, r.Status, r.Err)
			assert.Equal(t, []string{"out\n", "err\n"}, []string{string(r.Stdout), string(r.Stderr)})
			in := strings.Repeat("\x00\xff\n", 1000)
			r, err = s.Run(t.Context(), session.Command{Script: `cat; printf "$X"`, Stdin: strings.NewReader(in)})
			require.NoError(t, err)
			assert.Equal(t, in+"kept", string(r.Stdout))

			r, err = s.Run(t.Context(), session.Command{Script: "echo held", Held: true})
			require.Error(t, err)
			assert.Contains(t, err.Error(), "it has neither perl nor python3")
			require.NoError(t, os.Symlink(python(t), filepath.Join(path, "python3")))
			r, err = s.Run(t.Context(), session.Command{Script: "echo held", Held: true})
			require.NoError(t, err)
			assert.Equal(t, "held\n", string(r.Stdout))
		})
	}
}

// Without perl, errors are read by hexdump: one that does not start, or has no -e as that of toybox, is done without too.
func TestAHexdumpOfNoUseIsDoneWithout(t *testing.T) {
	for name, program := range map[string]string{"code": "exit 127", "no -e": `case $* in (*-e*) echo "hexdump: Unknown option 'e'" >&2; exit 1;; esac; cat >/dev/null`} {
		t.Run(name, func(t *testing.T) {
			host := bashHere
			path := withoutPerl(t)
			dump := filepath.Join(path, "hexdump")
			require.NoError(t, os.RemoveAll(dump)) // a link to the machine's
			require.NoError(t, os.WriteFile(dump, []byte("#!/bin/sh\n"+program+"\n"), 0o700))
			host.Env = []string{"PATH=" + path}
			s := onThisMachine(t, host, session.Config{Policy: policy.AllowAll})
			r, err := s.Run(t.Context(), session.Command{Script: "echo out; echo err >&2; (exit 3)", Timeout: 20 * time.Second})
			require.NoError(t, err)
			assert.Equal(t, []string{"out\n", "err\n", "exit"}, []string{string(r.Stdout), string(r.Stderr), string(r.Status)})
			assert.Equal(t, "lines", r.StderrMode)
		})
	}
}

// leavesAtOnce is an account whose login shell runs nothing.
type leavesAtOnce struct {
	session.Transport
	opened int
}

func (l *leavesAtOnce) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	l.opened++
	p.Line = "exit 1"
	return l.Transport.Open(ctx, p)
}

// What ends before it has asked for its programs is no matter of perl.
func TestAShellThatDoesNotBeginIsStartedOnce(t *testing.T) {
	tr, err := localpty.New(localpty.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	leaves := &leavesAtOnce{Transport: tr}
	s, err := session.Open(leaves, bashHere, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	_, err = s.Run(t.Context(), session.Command{Script: "true"})
	assert.ErrorContains(t, err, "the account's login shell ended with code 1")
	assert.Equal(t, 1, leaves.opened)
}

// A terminal that nothing can be set of makes signals of some bytes, so they are spelt then.
func TestStandardInputIsExactWithoutStty(t *testing.T) {
	path := withoutPerl(t)
	require.NoError(t, os.Remove(filepath.Join(path, "stty")))
	perl, err := exec.LookPath("perl")
	if err != nil {
		needs.Part(t, "perl is not installed")
	}
	require.NoError(t, os.Symlink(perl, filepath.Join(path, "perl")))
	for _, name := range []string{"mkdir", "mkfifo", "rm", "rmdir"} {
		program, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(program, filepath.Join(path, name)))
	}
	host := hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"env", "PATH=" + path, "sh"}}
	tr, err := localpty.Dial(t.Context(), host)
	require.NoError(t, err)
	defer tr.Close()
	s, err := session.Open(tr, host, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
	require.NoError(t, err)
	defer s.Close()
	in := make([]byte, 1<<16)
	for i := range in {
		in[i] = byte(i)
	}
	r, err := s.Run(t.Context(), session.Command{Script: "cat", Stdin: bytes.NewReader(in), Keep: 2 * len(in)})
	require.NoError(t, err)
	assert.True(t, bytes.Equal(in, r.Stdout), "%d bytes", len(r.Stdout))
}

// Without perl a shell takes programs that every system has; one that has not says so at once.
func TestAHostSaysWhatAShellTakesAndItLacks(t *testing.T) {
	for _, lacks := range []string{"cat", "head", "tr"} {
		path := withoutPerl(t)
		require.NoError(t, os.Remove(filepath.Join(path, lacks)))
		host := hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"env", "PATH=" + path, "sh"}}
		tr, err := localpty.Dial(t.Context(), host)
		require.NoError(t, err)
		s, err := session.Open(tr, host, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
		require.NoError(t, err)
		_, err = s.Run(t.Context(), session.Command{Script: "echo x"})
		assert.ErrorContains(t, err, "the host has no perl that starts, and lacks cat, head or tr", lacks)
		s.Close()
		tr.Close()
	}
}
