package screen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/screen"
)

func TestRecordingIsAsciicast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		r, err := screen.NewRecorder(&b, screen.CastHeader{Width: 100, Height: 30, Title: "a <b>"}, time.Now)
		require.NoError(t, err)
		_, err = r.Write([]byte("$ \x1b[1mls\r\n"))
		require.NoError(t, err)
		time.Sleep(1500 * time.Millisecond)
		_, err = r.Input([]byte("q"))
		require.NoError(t, err)
		require.NoError(t, r.Resize(80, 24))
		n, err := r.Write([]byte("caf\xc3"))
		require.NoError(t, err)
		assert.Equal(t, 4, n)
		time.Sleep(time.Second)
		_, err = r.Write([]byte("\xa9 \xff <>&"))
		require.NoError(t, err)
		_, err = r.Write([]byte("\xe6\x97"))
		require.NoError(t, err)
		require.NoError(t, r.Close())
		assert.Equal(t, fmt.Sprintf(`{"version":2,"width":100,"height":30,"timestamp":%d,"title":"a <b>"}`, time.Now().Add(-2500*time.Millisecond).Unix())+`
[0.000000, "o", "$ \u001b[1mls\r\n"]
[1.500000, "i", "q"]
[1.500000, "r", "80x24"]
[1.500000, "o", "caf"]
[2.500000, "o", "é \ufffd <>&"]
[2.500000, "o", "\ufffd\ufffd"]
`, b.String())
	})
}

func TestRecordingNeverGoesBackInTime(t *testing.T) {
	at := time.Unix(1000, 0)
	var b bytes.Buffer
	r, err := screen.NewRecorder(&b, screen.CastHeader{}, func() time.Time { return at })
	require.NoError(t, err)
	for _, s := range []int64{1005, 1002, 900} {
		at = time.Unix(s, 0)
		_, err = r.Write([]byte("x"))
		require.NoError(t, err)
	}
	assert.Equal(t, 3, strings.Count(b.String(), "[5.000000,"))
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestRecorderKeepsItsError(t *testing.T) {
	_, err := screen.NewRecorder(&failing{}, screen.CastHeader{}, time.Now)
	require.ErrorContains(t, err, "screen: writing the recording: disk full")
	r, err := screen.NewRecorder(&failing{after: 1}, screen.CastHeader{}, time.Now)
	require.NoError(t, err)
	for range 2 {
		_, err = r.Write([]byte("x"))
		assert.ErrorContains(t, err, "disk full")
	}
	assert.ErrorContains(t, r.Resize(1, 1), "disk full")
	assert.ErrorContains(t, r.Close(), "disk full")
}

const cast = `{"version": 2, "width": 80, "height": 24, "idle_time_limit": 3}
[0.5, "o", "a"]
[0.6, "i", "typed"]

[1.0, "r", "100x30"]
[11.0, "o", "b"]
[10.0, "x", {"unknown": 1}]
[12.0, "o", "c"]
`

func TestReplayKeepsTheTime(t *testing.T) {
	for name, c := range map[string]struct {
		o    screen.PlayOptions
		took time.Duration
	}{
		"the recording's own limit": {o: screen.PlayOptions{}, took: 5 * time.Second},
		"without a limit":           {o: screen.PlayOptions{IdleLimit: -1}, took: 12 * time.Second},
		"twice as fast":             {o: screen.PlayOptions{IdleLimit: -1, Speed: 2}, took: 6 * time.Second},
		"another limit":             {o: screen.PlayOptions{IdleLimit: time.Second}, took: 3 * time.Second},
		"a speed that is none":      {o: screen.PlayOptions{IdleLimit: -1, Speed: -3}, took: 12 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				c.o.Sleep = func(d time.Duration) error { time.Sleep(d); return nil }
				var sizes []string
				c.o.Resize = func(cols, rows int) { sizes = append(sizes, fmt.Sprint(cols, rows)) }
				var b strings.Builder
				h, err := screen.Play(strings.NewReader(cast), &b, c.o)
				require.NoError(t, err)
				assert.Equal(t, "abc", b.String())
				assert.Equal(t, []string{"80 24", "100 30"}, sizes)
				assert.Equal(t, 80, h.Width)
				assert.InDelta(t, c.took, time.Since(start), float64(time.Microsecond))
			})
		})
	}
}

func TestReplayStopsWhenSleepSaysSo(t *testing.T) {
	stop := errors.New("stop")
	var b strings.Builder
	_, err := screen.Play(strings.NewReader(cast), &b, screen.PlayOptions{Sleep: func(time.Duration) error { return stop }})
	assert.ErrorIs(t, err, stop)
	assert.Empty(t, b.String())
}

func TestBadRecordings(t *testing.T) {
	head := "{\"version\":2,\"width\":1,\"height\":1}\n"
	for text, want := range map[string]string{
		"":                                     "line 1 is not a header",
		"hello\n":                              "line 1 is not a header",
		"{\"version\":1}\n":                    "asciicast version 1",
		"{\"version\":3}\n":                    "asciicast version 3",
		head + "[1, \"o\"]\n":                  "line 2 is not an event",
		head + "[1, \"o\", \"a\"]\n{}\n":       "line 3 is not an event",
		head + "[\"1\", \"o\", \"a\"]\n":       "line 2 is not an event",
		head + "[1, \"o\", 7]\n":               "line 2 is not an event",
		head + strings.Repeat(" ", 17<<20):     "line 2: longer than 16 MiB",
		head + "[1, \"o\", \"a\"]\n[2, \"o\",": "line 3: the recording ends in the middle of a line",
	} {
		var b strings.Builder
		_, err := screen.Play(strings.NewReader(text), &b, screen.PlayOptions{})
		assert.ErrorContains(t, err, want)
		assert.Equal(t, strings.Contains(want, "ends in the middle"), errors.Is(err, screen.ErrTorn))
	}
	_, err := screen.Play(strings.NewReader(strings.TrimSuffix(head, "\n")), io.Discard, screen.PlayOptions{})
	assert.NoError(t, err, "nothing happened")
	_, err = screen.Play(strings.NewReader(head+"[1e300, \"o\", \"a\"]\n[-5, \"o\", \"b\"]"), io.Discard, screen.PlayOptions{
		Sleep: func(d time.Duration) error { assert.Positive(t, d); return nil }})
	assert.NoError(t, err)
}

func FuzzPlay(f *testing.F) {
	f.Add([]byte(cast))
	f.Fuzz(func(t *testing.T, p []byte) {
		_, _ = screen.Play(bytes.NewReader(p), io.Discard, screen.PlayOptions{
			Sleep:  func(d time.Duration) error { assert.GreaterOrEqual(t, d, time.Duration(0)); return nil },
			Resize: func(cols, rows int) { assert.True(t, cols > 0 && rows > 0) },
		})
	})
}

// What is recorded is replayed, however the bytes were cut.
func FuzzRecordAndReplay(f *testing.F) {
	f.Add([]byte("caf\xc3\xa9 \x1b[1m\xff"), 4)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		cut = min(max(cut, 0), len(p))
		var b, out bytes.Buffer
		r, err := screen.NewRecorder(&b, screen.CastHeader{}, time.Now)
		require.NoError(t, err)
		for _, part := range [][]byte{p[:cut], p[cut:]} {
			n, err := r.Write(part)
			require.NoError(t, err)
			require.Equal(t, len(part), n)
		}
		require.NoError(t, r.Close())
		for line := range bytes.Lines(b.Bytes()) {
			assert.True(t, json.Valid(line))
		}
		_, err = screen.Play(&b, &out, screen.PlayOptions{})
		require.NoError(t, err)
		assert.Equal(t, string([]rune(string(p))), out.String())
		assert.True(t, utf8.Valid(out.Bytes()))
	})
}
