package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// failingWriter takes nothing.
type failingWriter struct{ calls *int }

var errWriter = errors.New("nobody reads this")

func (w failingWriter) Write([]byte) (int, error) {
	if w.calls != nil {
		*w.calls++
	}
	return 0, errWriter
}

func TestWritersGetEveryByteInOrderWhateverIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		var want, wantErr strings.Builder
		for i := range 40_000 {
			fmt.Fprintf(&want, "o%d\n", i)
			fmt.Fprintf(&wantErr, "e%d\n", i)
		}
		d.On("flood", reply{Stdout: want.String(), Stderr: wantErr.String()})
		s := on(t, d, web1, permissive())
		for _, keep := range []int{0, -1, 10, 1 << 20} {
			var out, errs bytes.Buffer
			r, err := s.Run(t.Context(), session.Command{Script: "flood", Stdout: &out, Stderr: &errs, Keep: keep})
			require.NoError(t, err)
			require.True(t, out.String() == want.String(), "standard output")
			require.True(t, errs.String() == wantErr.String(), "standard error")
			assert.EqualValues(t, want.Len(), r.StdoutBytes)
			assert.EqualValues(t, wantErr.Len(), r.StderrBytes)
			for _, stream := range []struct {
				kept         []byte
				cut, omitted int64
				want         string
			}{
				{r.Stdout, r.CutStdout, r.OmittedStdout, want.String()},
				{r.Stderr, r.CutStderr, r.OmittedStderr, wantErr.String()},
			} {
				limit := max(keep, 0)
				if keep == 0 {
					limit = session.DefaultKeep
				}
				assert.LessOrEqual(t, len(stream.kept), limit)
				assert.EqualValues(t, len(stream.want), int64(len(stream.kept))+stream.omitted)
				assert.Equal(t, stream.want[:stream.cut]+stream.want[stream.cut+stream.omitted:], string(stream.kept))
			}
		}
	})
}

func TestWriterThatFailsGetsNothingMoreAndTheCommandGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("talk", func(c *sessiontest.Call) reply {
			for range 3 {
				c.Stdout.Write([]byte("x"))
				synctest.Wait()
			}
			return reply{Stdout: "end", Stderr: "err", Exit: 2}
		})
		s := on(t, d, web1, permissive())
		calls := 0
		var errs bytes.Buffer
		r, err := s.Run(t.Context(), session.Command{Script: "talk", Stdout: failingWriter{&calls}, Stderr: &errs})
		assert.ErrorIs(t, err, errWriter)
		assert.Equal(t, "write", asError(t, err).Code)
		assert.Equal(t, session.StatusError, r.Status)
		assert.Equal(t, 2, *r.ExitCode)
		assert.Equal(t, "xxxend", string(r.Stdout), "what is kept does not depend on the writer")
		assert.Equal(t, 1, calls)
		assert.Equal(t, "err", errs.String(), "the other writer goes on")
	})
}

func TestMergedStreamsAreOneInTheOrderOfWriting(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("both", func(c *sessiontest.Call) reply {
			assert.True(t, c.Merged)
			c.Stdout.Write([]byte("1"))
			c.Stderr.Write([]byte("2"))
			c.Stdout.Write([]byte("3"))
			return reply{}
		})
		s := on(t, d, web1, permissive())
		var out, errs bytes.Buffer
		r, err := s.Run(t.Context(), session.Command{Script: "both", Merged: true, Stdout: &out, Stderr: &errs})
		require.NoError(t, err)
		assert.Equal(t, "123", string(r.Stdout))
		assert.Equal(t, "123", out.String())
		assert.Empty(t, errs.String())
		assert.Equal(t, "merged", r.StderrMode)
	})
}

func TestStrayOutputIsTheNextCommandsNews(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("start a job", reply{Stdout: "out", Late: "late"})
		d.On("next", reply{Stdout: "own"})
		s := on(t, d, web1, permissive())
		r := runOK(t, s, "start a job")
		assert.Equal(t, "out", string(r.Stdout))
		synctest.Wait()
		r = runOK(t, s, "next")
		assert.Equal(t, "own", string(r.Stdout))
		assert.Equal(t, "late", string(r.Stray))
		r = runOK(t, s, "next")
		assert.Empty(t, r.Stray)
	})
}

func TestStrayOutputIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("flood", reply{Late: strings.Repeat("x", 1<<20)})
		d.On("next")
		s := on(t, d, web1, permissive())
		runOK(t, s, "flood")
		synctest.Wait()
		r := runOK(t, s, "next")
		assert.NotEmpty(t, r.Stray)
		assert.LessOrEqual(t, len(r.Stray), 128<<10)
	})
}

// Whatever takes the terminal's raw mode away is repaired before the next command, and what came late is still told.
func TestRepairOfTheTerminalKeepsStrayOutput(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("stty sane", reply{Wire: "^@FS^@FE0;h;/tmp^@FZ\r\nlate"})
		d.On("next", reply{Stdout: "a\nb"})
		s := on(t, d, web1, permissive())
		runOK(t, s, "stty sane")
		synctest.Wait()
		r := runOK(t, s, "next")
		assert.Equal(t, "a\nb", string(r.Stdout))
		assert.Equal(t, "late", string(r.Stray))
		assert.Equal(t, []string{"stty sane", "next"}, d.Ran("web1"), "the repair is not a command")
	})
}

func TestShellThatBreaksTheProtocolIsReplaced(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("garbage", reply{Wire: "^@FSout^@FS^@FE0;h;/^@FZ\n"})
		d.On("next")
		s := on(t, d, web1, permissive())
		r, err := s.Run(t.Context(), session.Command{Script: "garbage"})
		assert.ErrorIs(t, err, session.ErrUnknownOutcome)
		assert.Equal(t, session.StatusLost, r.Status)
		assert.Equal(t, "broken", asError(t, err).Code)
		r = runOK(t, s, "next")
		assert.True(t, r.ShellRestarted)
		assert.Equal(t, []string{"garbage", "next"}, d.Ran("web1"))
	})
}
