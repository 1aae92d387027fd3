package emulate_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/screen/emulate"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func newScreen(cols, rows int) *screen.Screen {
	return screen.New(screen.Config{Cols: cols, Rows: rows, Memory: 1, Render: emulate.Render})
}

func write(t testing.TB, s *screen.Screen, text string) {
	t.Helper()
	n, err := s.Write([]byte(text))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
}

func TestScreenShowsWhatATerminalShows(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		want     []string
		row, col int
	}{
		"nothing":             {},
		"lines":               {text: "one\r\ntwo", want: []string{"one", "two"}, row: 1, col: 3},
		"colours":             {text: "\x1b[31mred\x1b[0m  ", want: []string{"red"}, col: 5},
		"overwriting":         {text: "abc\rx", want: []string{"xbc"}, col: 1},
		"placing":             {text: "\x1b[3;5Hx", want: []string{"", "", "    x"}, row: 2, col: 5},
		"erasing":             {text: "abc\x1b[2J\x1b[Hx", want: []string{"x"}, col: 1},
		"scrolling":           {text: "1\r\n2\r\n3\r\n4\r\n5\r\n6", want: []string{"2", "3", "4", "5", "6"}, row: 4, col: 1},
		"wrapping":            {text: "0123456789abcdefghijkl", want: []string{"0123456789abcdefghij", "kl"}, row: 1, col: 2},
		"wide characters":     {text: "日本 x\x1b[1;5Hy", want: []string{"日本yx"}, col: 5},
		"emoji":               {text: "a🚀b", want: []string{"a🚀b"}, col: 4},
		"combining":           {text: "e\u0301x", want: []string{"e\u0301x"}, col: 2},
		"line drawing":        {text: "\x1b(0lqk\x1b(B", want: []string{"┌─┐"}, col: 3},
		"a region scrolls":    {text: "a\r\nb\r\nc\x1b[1;2r\x1b[2;1H\n\nx", want: []string{"", "x", "c"}, row: 1, col: 1},
		"the other screen":    {text: "main\x1b[?1049halt\x1b[?1049l!", want: []string{"main!"}, col: 5},
		"its older name":      {text: "main\x1b[?47h\x1b[Halt\x1b[?47l", want: []string{"main"}, col: 4},
		"tabs and backspaces": {text: "a\tb\b\bc", want: []string{"a      cb"}, col: 8},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(20, 5)
			write(t, s, c.text)
			v := s.Render()
			if c.want == nil {
				assert.Empty(t, v.Lines)
			} else {
				assert.Equal(t, c.want, v.Lines)
			}
			assert.Equal(t, []int{c.row, c.col}, []int{v.Row, v.Col}, "cursor")
			assert.False(t, v.Alternate)
		})
	}
}

// Each of these makes an emulator answer, and one that waits for a reader hang.
func TestQueriesAreNeverAnsweredAndNeverBlock(t *testing.T) {
	queries := "\x1b[5n\x1b[6n\x1b[?6n\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1b[?25$p\x1b[4$p\x1b]10;?\a\x1b]11;?\x1b\\\x1b]12;?\a\x1b]4;1;?\a" +
		"\x1b[18t\x1b[14t\x1b[?2048h\x1b[>q\x1bP+q544e\x1b\\\x1bP$qm\x1b\\\x1b[?u\x1b[?1004h\x1bZ\x05"
	s := newScreen(40, 5)
	write(t, s, "before "+strings.Repeat(queries, 500)+"\x1b[1;8Hafter")
	s.Resize(41, 6)
	assert.Equal(t, "before after", s.Render().Lines[0])
}

func TestAlternateScreenEnteredLongAgoIsStillKnown(t *testing.T) {
	s := newScreen(40, 6)
	write(t, s, "$ vim\r\n\x1b[?1h\x1b]2;vim x\a\x1b[?1049h\x1b[2J\x1b[Hthe first line\x1b[6;1Hstatus")
	for i := range 20_000 {
		write(t, s, fmt.Sprintf("\x1b[3;5H%06d", i))
	}
	v := s.Render()
	assert.Equal(t, []string{"the first line", "", "    019999", "", "", "status"}, v.Lines)
	assert.True(t, v.Alternate)
	assert.Equal(t, "vim x", v.Title)
	assert.Equal(t, screen.Fullscreen, s.Watch(0, false).Kind)
	up, err := screen.Keys(s.Modes(), "Up")
	require.NoError(t, err)
	assert.Equal(t, "\x1bOA", string(up))

	write(t, s, "\x1b[?1049l\x1b[?1l$ ")
	v = s.Render()
	assert.Equal(t, []string{"$ vim", "$"}, v.Lines, "what was there before comes back")
	assert.False(t, v.Alternate)
	assert.Equal(t, screen.Input, s.Watch(time.Second, false).Kind)
}

func TestProgressThatNeverEndsItsLineStays(t *testing.T) {
	s := newScreen(40, 6)
	write(t, s, "downloading:\r\n")
	for i := range 10_000 {
		write(t, s, fmt.Sprintf("\r\x1b[K%d of 10000 日本", i+1))
	}
	assert.Equal(t, []string{"downloading:", "10000 of 10000 日本"}, s.Render().Lines)
}

func TestFloodOfLinesIsNotDrawn(t *testing.T) {
	s := newScreen(80, 24)
	chunk := []byte(strings.Repeat("a line of a flood, not drawn until somebody looks\r\n", 1000))
	for range 2000 { // 100 MB, which would take an emulator half a minute
		_, err := s.Write(chunk)
		require.NoError(t, err)
	}
	write(t, s, "last")
	v := s.Render()
	assert.Len(t, v.Lines, 24)
	assert.Equal(t, "last", v.Lines[23])
}

// What is skipped, because it has scrolled away, makes no difference.
func TestSkippingChangesNothing(t *testing.T) {
	parts := []string{"line\r\n", "\x1b[31mred\x1b[0m\r\n", "\r\n", "日本語日本語日本語\r\n", "\x1b]0;t\a\r\n", "a\nb\r\n", "\x1b[?25l", "tab\tx\x1b[K\r\n",
		"\x1b[2A", "\x1b[H", "\x1b[2;4r", "\x1b[r", "\x1bM", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?7l", "\x1b[?7h", "\x1b(0", "\x1b(B", "no end"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			many := parts[r.IntN(8)]
			for range r.IntN(20) {
				b.WriteString(many)
			}
			b.WriteString(parts[r.IntN(len(parts))])
		}
		p := screen.Picture{Cols: 10, Rows: 4}
		data := []byte(b.String())
		want := emulate.Render(p, data)
		s := newScreen(10, 4)
		write(t, s, b.String())
		v := s.Render()
		page := want.Main
		if want.Modes.Alternate {
			page = want.Alt
		}
		require.Equal(t, strings.TrimRight(strings.Join(page.Lines, "\n"), "\n"), strings.Join(v.Lines, "\n"), "%q", data)
		require.Equal(t, []int{page.Row, page.Col}, []int{v.Row, v.Col}, "%q", data)
	}
}

func TestResizeKeepsWhatWasDrawn(t *testing.T) {
	s := newScreen(20, 5)
	write(t, s, "1\r\n2\r\n3\r\n4\r\nfive")
	s.Resize(10, 3)
	v := s.Render()
	assert.Equal(t, []string{"3", "4", "five"}, v.Lines)
	assert.Equal(t, []int{2, 4}, []int{v.Row, v.Col})
	write(t, s, "\x1b[999;999Hx")
	assert.Equal(t, "five     x", s.Render().Lines[2])
	s.Resize(200, 50)
	write(t, s, "\x1b[999;999Hx")
	v = s.Render()
	assert.Equal(t, []int{49, 199}, []int{v.Row, v.Col})
}

// A few bytes may ask for a lot of work; the answer comes all the same.
func TestOutputMadeToBeSlow(t *testing.T) {
	if testing.Short() || needs.Detector {
		t.Skip("seconds, and a minute under the race detector, which looks for more than one goroutine")
	}
	for _, unit := range []string{"x\x1b[65535b", "\x1b[65535S", "\x1b[65535I", "\n", "\r\n", "x", "\x1bD", "\x1bc\x1b[2J\x1b[?1049h"} {
		s := screen.New(screen.Config{Cols: 500, Rows: 200, Memory: 1 << 20, Render: emulate.Render})
		write(t, s, strings.Repeat(unit, 200<<10/len(unit)))
		s.Render()
	}
}

func TestManyLookWhileOneWrites(t *testing.T) {
	s := newScreen(40, 5)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 500 {
			_, _ = fmt.Fprintf(s, "\x1b[?1049h%d \x1b[6n\x1b[?1049l\r\n%d", i, i)
		}
	})
	for range 3 {
		wg.Go(func() {
			for range 20 {
				s.Render()
				s.Watch(time.Second, true)
				s.Modes()
			}
		})
	}
	wg.Go(func() {
		for i := range 20 {
			s.Resize(20+i, 5)
		}
	})
	wg.Wait()
	assert.Equal(t, "499", s.Render().Lines[4])
}

func TestRealPrograms(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		needs.Part(t, "no script(1) to make a terminal with")
	}
	if _, err := exec.LookPath("less"); err != nil {
		needs.Part(t, "no less")
	}
	file := t.TempDir() + "/notes.txt"
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("a line\n", 100)), 0o600))
	cmd := exec.Command(script, "-qec", "stty cols 40 rows 10; TERM=xterm-256color LESS= less "+file, "/dev/null")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() }).Stop()
	s := newScreen(40, 10)
	buf := make([]byte, 4096)
	asked := false
	for {
		n, err := out.Read(buf)
		_, _ = s.Write(buf[:n])
		if err != nil {
			break
		}
		if w := s.Watch(0, false); w.Kind == screen.Pager && !asked {
			asked = true
			v := s.Render()
			assert.Equal(t, "a line", v.Lines[0])
			assert.Len(t, v.Lines, 10)
			_, _ = in.Write([]byte("q"))
		}
	}
	assert.True(t, asked, "less was not recognised")
	assert.False(t, s.Modes().Alternate)
}

func FuzzRender(f *testing.F) {
	f.Add([]byte("\x1b[?1049h\x1b[2;3r\x1b[5n日本\x1b[65535b"), 10, 3, 5)
	f.Add([]byte("a\x1b[1000000Z\x1b[-1;-1H\x1b[0;0r\x1bD\x1bM\x1b#8\x1b[69h\x1b[2;1s"), 1, 1, 2)
	f.Fuzz(func(t *testing.T, data []byte, cols, rows, cut int) {
		cols, rows = min(max(cols, -1), 100), min(max(rows, -1), 50)
		cut = min(max(cut, 0), len(data))
		s := newScreen(cols, rows)
		for _, p := range [][]byte{data[:cut], data[cut:]} {
			_, err := s.Write(p)
			require.NoError(t, err)
		}
		v := s.Render()
		if rows <= 0 {
			rows = screen.DefaultRows
		}
		assert.LessOrEqual(t, len(v.Lines), rows)
		for _, l := range v.Lines {
			assert.NotContains(t, l, "\x1b")
			assert.NotContains(t, l, "\n")
		}
		s.Resize(7, 3)
		s.Render()
		s.Watch(time.Second, false)
	})
}
