package run_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// noise is n bytes of everything.
func noise(n int) []byte {
	p := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(p)
	return p
}

func sum(p []byte) string {
	s := sha256.Sum256(p)
	return hex.EncodeToString(s[:])
}

// input makes in the world's standard input.
func (w *world) input(in io.Reader) { w.IO = iostreams.New(in, w.out, w.err) }

// pipe makes a pipe the world's standard input, with text in it.
func (w *world) pipe(t *testing.T, text string) *os.File {
	t.Helper()
	r, wr, err := os.Pipe()
	require.NoError(t, err)
	_, err = wr.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, wr.Close())
	t.Cleanup(func() { r.Close() })
	w.input(r)
	return r
}

func TestStandardInputReachesTheOneHostExactly(t *testing.T) {
	w := newWorld(t, "web1")
	in := noise(300_000)
	w.input(bytes.NewReader(in))
	code, err := w.run(t.Context(), "web1", "--stdin", "--", "cat")
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.True(t, bytes.Equal(in, w.out.Bytes()))
	assert.Empty(t, w.err.String())
}

func TestStandardInputForSeveralHostsMustBeACopy(t *testing.T) {
	w := newWorld(t, "web1", "web2")
	w.input(strings.NewReader("x"))
	_, err := w.run(t.Context(), "all", "--stdin", "--", "cat")
	var usage *cmdutil.UsageError
	require.ErrorAs(t, err, &usage)
	assert.EqualError(t, err, "--stdin gives standard input to one host, and all picks 2: --stdin=copy gives each of them a copy")
}

func TestEachHostGetsACopyOfAllOfStandardInput(t *testing.T) {
	for name, size := range map[string]int{"nothing": 0, "what fits in memory": 70_000, "what goes to a file": 3 << 20} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			w := newWorld(t, "web1", "web2", "web3")
			in := noise(size)
			w.input(bytes.NewReader(in))
			code, err := w.run(t.Context(), "all", "--stdin=copy", "--forks", "2", "--", "sha256sum; ls "+tmp)
			require.NoError(t, err)
			assert.Zero(t, code, w.err.String())
			for _, h := range []string{"web1", "web2", "web3"} {
				assert.Contains(t, w.out.String(), h+" | "+sum(in)+"  -\n")
			}
			assert.Equal(t, 3, strings.Count(w.out.String(), "\n"), "no name is left in the directory, not even while it runs")
		})
	}
}

func TestAHostThatReadsNothingHoldsNobodyBack(t *testing.T) {
	w := newWorld(t, "web1", "web2")
	in := noise(2 << 20)
	w.input(bytes.NewReader(in))
	code, err := w.run(t.Context(), "all", "--stdin=copy", "--", "if [ $HOST = web1 ]; then exit 0; fi; sha256sum")
	require.NoError(t, err)
	assert.Zero(t, code, w.err.String())
	assert.Equal(t, "web2 | "+sum(in)+"  -\n", w.out.String())
}

func TestASingleHostsCopyIsItsStandardInput(t *testing.T) {
	w := newWorld(t, "web1")
	w.input(strings.NewReader("x"))
	_, err := w.run(t.Context(), "web1", "--stdin=copy", "--", "cat")
	require.NoError(t, err)
	assert.Equal(t, "x", w.out.String())
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

func TestStandardInputThatCannotBeReadSendsNoHalfOfIt(t *testing.T) {
	w := newWorld(t, "web1", "web2")
	w.input(io.MultiReader(strings.NewReader("half"), failingReader{syscall.EIO}))
	_, err := w.run(t.Context(), "all", "--stdin=copy", "--", "cat")
	assert.EqualError(t, err, "standard input cannot be read: input/output error")
	assert.Empty(t, w.out.String())
}

func TestStandardInputThatCannotBeKeptSaysWhere(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	w := newWorld(t, "web1", "web2")
	w.input(bytes.NewReader(noise(2 << 20)))
	_, err := w.run(t.Context(), "all", "--stdin=copy", "--", "cat")
	assert.ErrorContains(t, err, "standard input cannot be kept for all hosts: open ")
}

func TestInterruptEndsTheWaitForStandardInput(t *testing.T) {
	w := newWorld(t, "web1", "web2")
	r, wr := io.Pipe()
	defer wr.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	w.input(readerFunc(func(p []byte) (int, error) {
		cancel(&cmdutil.SignalError{Signal: syscall.SIGINT, Number: 2})
		return r.Read(p)
	}))
	_, err := w.run(ctx, "all", "--stdin=copy", "--", "cat")
	var sig *cmdutil.SignalError
	assert.ErrorAs(t, err, &sig)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

const leftAlone = "fairlead: standard input is left alone: --stdin gives it to the command on one host, --stdin=copy to each\n"

func TestStandardInputThatNobodyAskedForIsLeftAloneAndTold(t *testing.T) {
	w := newWorld(t, "web1", "web2")
	in := w.pipe(t, "abc")
	code, err := w.run(t.Context(), "all", "--", "cat")
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Empty(t, w.out.String())
	assert.Equal(t, leftAlone, w.err.String(), "once")
	rest, err := io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, "abc", string(rest))
}

func TestStandardInputThatComesWhileTheCommandRunsIsToldAtItsEnd(t *testing.T) {
	w := newWorld(t, "web1")
	r, wr, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer wr.Close()
	out := &trigger{w: w.out, at: "ready", do: func() { _, _ = wr.WriteString("late") }}
	w.IO = iostreams.New(r, out, w.err)
	_, err = w.run(t.Context(), "web1", "--", "echo ready")
	require.NoError(t, err)
	assert.Equal(t, leftAlone, w.err.String())
}

func TestNothingIsSaidOfStandardInputWithoutBytesOrWithAReader(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	w := newWorld(t, "web1")
	w.input(null)
	_, err = w.run(t.Context(), "web1", "--", "true")
	require.NoError(t, err)
	w.pipe(t, "")
	_, err = w.run(t.Context(), "web1", "--", "true")
	require.NoError(t, err)
	w.pipe(t, "web1\n")
	_, err = w.run(t.Context(), "-", "--", "true")
	require.NoError(t, err)
	w.pipe(t, "true\n")
	_, err = w.run(t.Context(), "web1", "--script", "-")
	require.NoError(t, err)
	w.pipe(t, "more than it reads")
	_, err = w.run(t.Context(), "web1", "--stdin", "--", "true")
	require.NoError(t, err)
	assert.Empty(t, w.err.String())
}

func TestStandardInputHasOneReader(t *testing.T) {
	w := newWorld(t, "web1")
	for _, args := range [][]string{{"-", "--stdin", "--", "true"}, {"-", "--script", "-"}, {"all", "-x", "-", "--stdin", "--", "true"}} {
		w.pipe(t, "web1\n")
		_, err := w.run(t.Context(), args...)
		var usage *cmdutil.UsageError
		require.ErrorAs(t, err, &usage)
		assert.ErrorContains(t, err, "has standard input already")
	}
}

func TestAScriptRunsWholeWithItsArguments(t *testing.T) {
	w := newWorld(t, "web1")
	file := filepath.Join(t.TempDir(), "s.sh")
	text := "#!/bin/sh -u\n" + strings.Repeat(": a line that does 'nothing' at all\n", 5000) + "printf '%s|' \"$#\" \"$@\"; cat; exit 4\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	w.input(strings.NewReader("in"))
	code, err := w.run(t.Context(), "web1", "--script", file, "--stdin", "--", "a b", "it's", "", "-x", "*")
	require.NoError(t, err)
	assert.Equal(t, 4, code)
	assert.Equal(t, "5|a b|it's||-x|*|in", w.out.String())
	assert.Empty(t, w.err.String())
}

func TestAScriptComesFromStandardInput(t *testing.T) {
	w := newWorld(t, "web1", "web2")
	w.input(strings.NewReader("echo $1 $HOST\n"))
	_, err := w.run(t.Context(), "all", "--script", "-", "--", "hello")
	require.NoError(t, err)
	assert.Contains(t, w.out.String(), "web1 | hello web1\n")
	assert.Contains(t, w.out.String(), "web2 | hello web2\n")
}

func TestTheShellIsTheOneThatTheScriptNames(t *testing.T) {
	w := newWorld(t, "web1") // has sh
	w.input(strings.NewReader("#!/bin/bash -e\na=(1 2 3)\necho ${a[1]}\nfalse\necho not reached\n"))
	code, err := w.run(t.Context(), "web1", "--script", "-")
	require.NoError(t, err)
	assert.Equal(t, 1, code)
	assert.Equal(t, "2\n", w.out.String())
}

func TestAScriptThatIsNoneIsRefused(t *testing.T) {
	w := newWorld(t, "web1")
	for text, want := range map[string]string{
		"#!/usr/bin/python3\nprint(1)\n": `--script: standard input begins with "#!/usr/bin/python3", and only scripts for sh and its family are sent as shell source: ` +
			`give it to its own interpreter, as in fairlead run TARGETS --stdin -- python3 - < FILE`,
		"echo \x00": "--script: standard input is not a shell script: it has a NUL byte at offset 5",
	} {
		w.input(strings.NewReader(text))
		_, err := w.run(t.Context(), "web1", "--script", "-")
		var usage *cmdutil.UsageError
		require.ErrorAs(t, err, &usage)
		assert.EqualError(t, err, want)
	}
	_, err := w.run(t.Context(), "web1", "--script", filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	var usage *cmdutil.UsageError
	assert.True(t, errors.As(err, &usage))
}

func TestACommandThatFallsSilentIsStopped(t *testing.T) {
	w := newWorld(t, "web1")
	code, err := w.run(t.Context(), "web1", "--idle", "100ms", "--", "echo one; sleep 60")
	require.NoError(t, err)
	assert.Equal(t, 4, code)
	assert.Equal(t, "one\n", w.out.String())
	assert.Equal(t, "fairlead: web1: timeout: the command was stopped because it printed nothing for 100ms\n", w.err.String())
}
