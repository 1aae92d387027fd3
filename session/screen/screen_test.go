package screen_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/screen"
)

func TestModesAreFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want screen.Modes
	}{
		"none":                   {text: "text \x1b[1m\x1b[K"},
		"alternate":              {text: "\x1b[?1049h", want: screen.Modes{Alternate: true}},
		"alternate, older":       {text: "\x1b[?47h", want: screen.Modes{Alternate: true}},
		"alternate, left":        {text: "\x1b[?1047h\x1b[?1047l"},
		"several at once":        {text: "\x1b[?1049;1;25;7;2004h\x1b[?25;7l", want: screen.Modes{Alternate: true, AppCursor: true, CursorHidden: true, NoWrap: true, Paste: true}},
		"not private":            {text: "\x1b[1049h\x1b[>1049h"},
		"longer forms of keys":   {text: "\x1b[>4;2m\x1b[>1u\x1b[>5u\x1b[<u", want: screen.Modes{OtherKeys: true, KeyFlags: 1}},
		"keys as they were":      {text: "\x1b[>4;2m\x1b[>4;0m\x1b[>1u\x1b[<9u\x1b[>1;2m", want: screen.Modes{}},
		"region":                 {text: "\x1b[2;10r", want: screen.Modes{Top: 2, Bottom: 10}},
		"title":                  {text: "\x1b]0;ssh; web\a", want: screen.Modes{Title: "ssh; web"}},
		"title, ended by ST":     {text: "\x1b]2;t\x1b\\", want: screen.Modes{Title: "t"}},
		"title, never ended":     {text: "\x1b]2;t\x1b[?1h", want: screen.Modes{AppCursor: true}},
		"a long title":           {text: "\x1b]2;" + strings.Repeat("x", 100_000) + "\a", want: screen.Modes{Title: strings.Repeat("x", 256)}},
		"drawing":                {text: "\x1b)0\x0e", want: screen.Modes{Drawing: [2]bool{false, true}, Shifted: true}},
		"within other sequences": {text: "\x1b]52;c;\x1b?1049h\a\x1bP[?1h\x1b\\"},
		"reset":                  {text: "\x1b[?1049h\x1b]2;t\a\x1bc"},
		"soft reset":             {text: "\x1b[?1h\x1b[2;3r\x1b[!p"},
		"huge numbers":           {text: "\x1b[?99999999999999999999h\x1b[?1h", want: screen.Modes{AppCursor: true}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 1 << 20} {
				s := screen.New(screen.Config{Memory: 1})
				for text := c.text; text != ""; {
					n := min(size, len(text))
					_, _ = s.Write([]byte(text[:n]))
					text = text[n:]
				}
				assert.Equal(t, c.want, s.Modes(), "in pieces of %d", size)
			}
		})
	}
}

func FuzzModesDoNotDependOnTheCuts(f *testing.F) {
	f.Add([]byte("\x1b[?1049h\x1b]0;title\x1b\\日本\x1b(0"), 5, 9)
	f.Fuzz(func(t *testing.T, data []byte, a, b int) {
		whole, parts := screen.New(screen.Config{}), screen.New(screen.Config{})
		_, _ = whole.Write(data)
		a = min(max(a, 0), len(data))
		b = min(max(b, a), len(data))
		for _, p := range [][]byte{data[:a], data[a:b], data[b:]} {
			_, _ = parts.Write(p)
		}
		assert.Equal(t, whole.Modes(), parts.Modes())
	})
}

func TestWithoutARendererTheLastLinesAreShown(t *testing.T) {
	s := screen.New(screen.Config{Rows: 3, Memory: 1})
	_, _ = s.Write([]byte("\x1b]2;t\a1\r\n2\r\n\x1b[1m3\x1b[0m\r\n4\r\n"))
	v := s.Render()
	assert.Equal(t, screen.View{Lines: []string{"3", "4"}, Row: -1, Col: -1, Title: "t"}, v)
	assert.Equal(t, "3\n4\n", v.Text())
	for i := range 10_000 {
		_, _ = fmt.Fprintf(s, "line %d\r\n", i)
	}
	assert.Equal(t, []string{"line 9998", "line 9999"}, s.Render().Lines)
	v.Lines[0] = "x"
	assert.Equal(t, "line 9998", s.Render().Lines[0], "a view is its caller's")
	assert.Empty(t, screen.View{}.Text())
}

func TestARendererThatPanicsIsSurvived(t *testing.T) {
	s := screen.New(screen.Config{Memory: 1, Render: func(screen.Picture, []byte) screen.Picture { panic("no") }})
	for range 10_000 {
		_, _ = s.Write([]byte("\r50%"))
	}
	_, _ = s.Write([]byte("\r\nend"))
	lines := s.Render().Lines
	assert.Equal(t, "end", lines[len(lines)-1])
}

func TestAnUnchangedScreenIsDrawnOnce(t *testing.T) {
	drawn := 0
	s := screen.New(screen.Config{Render: func(p screen.Picture, _ []byte) screen.Picture {
		drawn++
		p.Main.Lines = []string{"x"}
		return p
	}})
	_, _ = s.Write([]byte("x"))
	s.Render()
	s.Render()
	assert.Equal(t, 1, drawn)
	s.Resize(10, 10)
	s.Resize(10, 10)
	s.Render()
	assert.Equal(t, 3, drawn, "once for the old size, once for the new")
}

func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s := screen.New(screen.Config{})
	for _, unit := range []string{"line\r\n", "\x1b]0;never ended ", "no line end "} {
		chunk := []byte(strings.Repeat(unit, 4096))
		for range 200 {
			_, err := s.Write(chunk)
			require.NoError(t, err)
		}
	}
	assert.Less(t, heap(), before+4<<20)
	s.Watch(time.Second, false)
	runtime.KeepAlive(s)
}

func TestWatchNeedsNoDrawing(t *testing.T) {
	s := screen.New(screen.Config{Memory: 1, Render: func(p screen.Picture, _ []byte) screen.Picture {
		t.Error("drawn")
		return p
	}})
	_, _ = s.Write([]byte("\x1b[1mmysql> \x1b[0m"))
	assert.Equal(t, screen.Running, s.Watch(0, false).Kind)
	w := s.Watch(time.Second, false)
	assert.Equal(t, screen.Waiting{Kind: screen.Input, Prompt: "mysql>", Known: true}, w)
	_, _ = s.Write([]byte("\x1b[?1049h\x1b[2J"))
	assert.Equal(t, screen.Fullscreen, s.Watch(0, false).Kind)
}

func ExampleKeys() {
	b, err := screen.Keys(screen.Modes{}, "C-c", "Up", "Enter")
	fmt.Printf("%q %v\n", b, err)
	_, err = screen.Keys(screen.Modes{}, "Entr")
	fmt.Println(strings.Split(err.Error(), " (")[0])
	// Output:
	// "\x03\x1b[A\r" <nil>
	// screen: no key is called "Entr"; did you mean Enter?
}

func ExampleRecognise() {
	w := screen.Recognise(screen.Look{Tail: []byte("Reading package lists...\r\n[sudo] password for ada: "), Silence: time.Second})
	fmt.Println(w.Kind, w.Prompt)
	// Output: password [sudo] password for ada:
}
