package iostreams_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestTheStatusLineIsTakenAwayBeforeAnythingIsWritten(t *testing.T) {
	s, _, out, errOut := iostreams.Test()
	s.ErrTTY = true
	s.SetStatus("1/2 done")
	s.SetStatus("2/2 done")
	_, _ = s.Out.Write([]byte("result\n"))
	_, _ = s.Err.Write([]byte("warning\n"))
	s.SetStatus("again")
	s.SetStatus("")
	s.SetStatus("")
	assert.Equal(t, "result\n", out.String())
	assert.Equal(t, "1/2 done\r\x1b[K2/2 done\r\x1b[Kwarning\nagain\r\x1b[K", errOut.String())
}

func TestThereIsNoStatusLineWithoutATerminal(t *testing.T) {
	s, _, _, errOut := iostreams.Test()
	s.OutTTY = true
	s.SetStatus("1/2 done")
	assert.Empty(t, errOut.String())
}

func TestAQuestionIsAskedWithoutAStatusLine(t *testing.T) {
	s, _, _, errOut := iostreams.Test()
	s.ErrTTY = true
	s.SetStatus("1/2 done")
	s.Hold(func() { assert.Equal(t, "1/2 done\r\x1b[K", errOut.String()) })
}

type failing struct{ writes int }

func (f *failing) Write([]byte) (int, error) {
	f.writes++
	return 0, errors.New("gone")
}

func TestAStreamThatFailedStaysSo(t *testing.T) {
	f := &failing{}
	s := iostreams.New(strings.NewReader(""), f, f)
	assert.NoError(t, s.Out.Err())
	for range 3 {
		_, err := s.Out.Write([]byte("x"))
		assert.EqualError(t, err, "gone")
	}
	assert.EqualError(t, s.Out.Err(), "gone")
	assert.NoError(t, s.Err.Err(), "the other one is another one")
	assert.Equal(t, 1, f.writes)
}

func TestWritesOfManyArriveWhole(t *testing.T) {
	s, _, out, _ := iostreams.Test()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _, _ = s.Out.Write([]byte("0123456789\n")) })
	}
	wg.Wait()
	assert.Equal(t, strings.Repeat("0123456789\n", 20), out.String())
}

func TestColourNeedsATerminalAndNobodyAgainstIt(t *testing.T) {
	s, _, _, _ := iostreams.Test()
	assert.False(t, s.ColorOut() || s.ColorErr())
	s.OutTTY = true
	assert.True(t, s.ColorOut())
	assert.False(t, s.ColorErr())
	s.NoColor = true
	assert.False(t, s.ColorOut())
	none := iostreams.System(func(k string) string { return map[string]string{"NO_COLOR": "1"}[k] })
	assert.True(t, none.NoColor)
	unknown := iostreams.System(func(string) string { return "" })
	assert.True(t, unknown.NoColor)
	known := iostreams.System(func(k string) string { return map[string]string{"TERM": "xterm"}[k] })
	assert.False(t, known.NoColor)
	dumb := iostreams.System(func(k string) string { return map[string]string{"TERM": "dumb"}[k] })
	assert.True(t, dumb.NoColor)
	assert.Positive(t, dumb.Width())
}
