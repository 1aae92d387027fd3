package session_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestWhatACommandReadsIsPartOfWhatIsApproved(t *testing.T) {
	for name, input := range map[string]string{
		"nothing at all":     "",
		"a little":           "one\n\x00\xfftwo",
		"more than is shown": strings.Repeat("0123456789abcdef", 1000),
		"more than memory":   strings.Repeat("0123456789abcdef\n", 40000),
	} {
		t.Run(name, func(t *testing.T) {
			s, d, rec := asking(t)
			sum := sha256.Sum256([]byte(input))
			want := hex.EncodeToString(sum[:])
			x, err := s.Start(t.Context(), session.Command{Script: "cat", Stdin: iotest.HalfReader(strings.NewReader(input)), Keep: 4 << 20})
			require.NoError(t, err)
			q := <-d.asked
			assert.EqualValues(t, len(input), q.StdinBytes)
			assert.Equal(t, want, q.StdinSHA256)
			assert.Equal(t, input[:min(len(input), policy.StdinShown)], q.StdinHead)
			d.answers <- policy.Answer{Approved: true, ID: "a_1", By: "operator/ada"}
			r, err := x.Wait(t.Context())
			require.NoError(t, err)
			require.Nil(t, r.Err)
			assert.Equal(t, input, string(r.Stdout))
			assert.Equal(t, want, r.StdinSHA256, "what was approved is what was given")
			for range 4 {
				if e := <-rec.c; e.Kind == audit.ApprovalRequest {
					assert.Equal(t, want, e.StdinSHA256)
					assert.EqualValues(t, len(input), e.StdinBytes)
				}
			}
		})
	}
}

func TestNobodyIsAskedAboutInputThatCannotBeRead(t *testing.T) {
	s, d, rec := asking(t)
	broken := errors.New("the disk is gone")
	r, err := s.Run(t.Context(), session.Command{Script: "cat", Stdin: io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))})
	require.ErrorIs(t, err, broken)
	assert.Equal(t, session.StatusError, r.Status)
	assert.Equal(t, "stdin", r.Err.Code)
	assert.False(t, r.Err.Sent)

	// One that never ends holds nobody up.
	pr, pw := io.Pipe()
	x, err := s.Start(t.Context(), session.Command{Script: "cat", Stdin: pr})
	require.NoError(t, err)
	_, err = pw.Write([]byte("x"))
	require.NoError(t, err)
	assert.Equal(t, session.AwaitingApproval, x.Result().State)
	x.Stop()
	assert.Equal(t, session.StatusCanceled, x.Result().Status)
	require.NoError(t, pw.Close())
	assert.Empty(t, d.asked)
	assert.Empty(t, rec.kinds())
}

// mixed asks about commands that say so, and allows the rest.
var mixed = policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
	if strings.Contains(req.Command, "asked") {
		return policy.Decision{Verdict: policy.Ask, Class: policy.Write}, nil
	}
	return policy.Decision{Verdict: policy.Allow, Class: policy.Write}, nil
})

// standing opens a session whose shell stands in a directory of its own, and returns the shell's process.
func standing(t *testing.T) (s *session.Session, d desk, pid int, dir string) {
	d = desk{asked: make(chan policy.Question, 1), answers: make(chan policy.Answer, 1)}
	s, err := session.Open(transports[0].open(t), hosts.Host{Name: "host"}, session.Config{Principal: "agent/x", Policy: mixed, Approver: d, Audit: audit.Discard{}})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	dir, err = filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir = filepath.Join(dir, "here")
	require.NoError(t, os.Mkdir(dir, 0o700))
	r, err := s.Run(t.Context(), session.Command{Script: "cd " + dir + "; echo $$"})
	require.NoError(t, err)
	pid, err = strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
	require.NoError(t, err)
	return s, d, pid, dir
}

// ends kills the session's shell and waits until the session knows.
func ends(t *testing.T, s *session.Session, pid int) {
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Eventually(t, func() bool { return !s.ShellLives() }, time.Minute, time.Millisecond)
}

func yesTo(t *testing.T, s *session.Session, d desk, script string, meanwhile func()) (policy.Question, session.Result) {
	x, err := s.Start(t.Context(), session.Command{Script: script})
	require.NoError(t, err)
	q := <-d.asked
	meanwhile()
	d.answers <- policy.Answer{Approved: true, ID: "a_1", By: "operator/ada"}
	r, err := x.Wait(t.Context())
	require.NoError(t, err)
	return q, r
}

func TestAnApprovalIsVoidOnceTheShellItWasForHasEnded(t *testing.T) {
	s, d, pid, dir := standing(t)
	q, r := yesTo(t, s, d, "touch asked", func() { ends(t, s, pid) })
	assert.Equal(t, dir, q.Dir)
	require.NotNil(t, r.Err)
	require.ErrorIs(t, r.Err, session.ErrVoid)
	assert.Equal(t, session.StatusDenied, r.Status)
	assert.Equal(t, "void", r.Err.Code)
	assert.False(t, r.Err.Sent)
	assert.NoFileExists(t, filepath.Join(dir, "asked"))

	q, r = yesTo(t, s, d, "touch asked", func() {})
	require.Nil(t, r.Err, "asked again, it holds")
	assert.Equal(t, dir, q.Dir)
	assert.FileExists(t, filepath.Join(dir, "asked"))
}

func TestAnApprovalForADirectoryIsVoidInAnother(t *testing.T) {
	s, d, pid, dir := standing(t)
	ends(t, s, pid)
	require.NoError(t, os.Remove(dir))
	q, r := yesTo(t, s, d, ": asked", func() {})
	assert.Equal(t, dir, q.Dir)
	require.ErrorIs(t, r.Err, session.ErrVoid)
	q, r = yesTo(t, s, d, "pwd # asked", func() {})
	require.Nil(t, r.Err)
	assert.Equal(t, q.Dir+"\n", string(r.Stdout), "it runs where whoever approved it was told")
	assert.NotEqual(t, dir, q.Dir)
}

func TestAnApprovalHoldsWhereTheShellHadEndedBefore(t *testing.T) {
	s, d, pid, dir := standing(t)
	ends(t, s, pid)
	q, r := yesTo(t, s, d, "pwd # asked", func() {})
	require.Nil(t, r.Err)
	assert.Equal(t, dir, q.Dir)
	assert.Equal(t, dir+"\n", string(r.Stdout))
}
