package run

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestLinesPrefixWholeLinesHoweverTheyArrive(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":                              {"", ""},
		"one line":                             {"a\n", "h | a\n"},
		"empty lines":                          {"\n\n", "h | \nh | \n"},
		"a last line without end":              {"a\nb", "h | a\nh | b\n"},
		"bytes that are not text":              {"\xff\x00\r\n", "h | \xff\x00\r\n"},
		"a line as long as may be":             {long + "\n", "h | " + long + "\n"},
		"a line that is longer":                {long + "yz\n", "h | " + long + "\nh + yz\n"},
		"much longer, and no end":              {long + long + "y", "h | " + long + "\nh + " + long + "\nh + y\n"},
		"after a broken line, the next is new": {long + "y\nb\n", "h | " + long + "\nh + y\nh | b\n"},
	} {
		for how, pieces := range map[string]func(s string) []string{
			"whole": func(s string) []string { return []string{s} },
			"halves": func(s string) []string {
				return []string{s[:len(s)/2], s[len(s)/2:]}
			},
			"small": func(s string) []string {
				if len(s) > 1000 {
					return []string{s[:1000], s[1000:]}
				}
				return strings.Split(s, "")
			},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				var out bytes.Buffer
				l := &lines{dst: &out, prefix: "h | ", cont: "h + "}
				for _, p := range pieces(tt.in) {
					n, err := l.Write([]byte(p))
					require.NoError(t, err)
					require.Equal(t, len(p), n)
				}
				require.NoError(t, l.Flush())
				require.NoError(t, l.Flush(), "twice")
				got := out.String()
				if len(got) > 1000 {
					assert.Equal(t, len(tt.want), len(got))
					assert.True(t, tt.want == got)
					return
				}
				assert.Equal(t, tt.want, got)
			})
		}
	}
}

func TestALineAsLongAsMayBeIsBrokenOnlyIfItGoesOn(t *testing.T) {
	var out bytes.Buffer
	l := &lines{dst: &out, prefix: "| ", cont: "+ "}
	_, err := l.Write(bytes.Repeat([]byte("x"), maxLine))
	require.NoError(t, err)
	assert.Zero(t, out.Len(), "held back until the line ends")
	_, err = l.Write([]byte("\n"))
	require.NoError(t, err)
	assert.Equal(t, maxLine+3, out.Len())
}

func TestLinesOfOnePieceAreWrittenAtOnce(t *testing.T) {
	writes := 0
	l := &lines{dst: writerFunc(func(p []byte) (int, error) { writes++; return len(p), nil }), prefix: "| "}
	_, err := l.Write([]byte("a\nb\nc\nd"))
	require.NoError(t, err)
	assert.Equal(t, 1, writes)
}

func TestLinesTellWhyTheyCannotBeWritten(t *testing.T) {
	l := &lines{dst: writerFunc(func([]byte) (int, error) { return 0, iotest.ErrTimeout })}
	_, err := l.Write([]byte("a\n"))
	assert.ErrorIs(t, err, iotest.ErrTimeout)
}

func FuzzLinesLoseNothing(f *testing.F) {
	f.Add([]byte("a\nb"), 1)
	f.Add([]byte("\n\n\xff"), 2)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		if size < 1 || size > len(in) {
			size = max(1, len(in))
		}
		var out bytes.Buffer
		l := &lines{dst: &out, prefix: "> "}
		for p := in; len(p) > 0; {
			n := min(size, len(p))
			l.Write(p[:n])
			p = p[n:]
		}
		l.Flush()
		var back bytes.Buffer
		for line := range bytes.Lines(out.Bytes()) {
			rest, ok := bytes.CutPrefix(line, []byte("> "))
			if len(in) < maxLine && !ok {
				t.Fatalf("a line without prefix: %q", line)
			}
			back.Write(rest)
		}
		want := in
		if len(in) > 0 && in[len(in)-1] != '\n' {
			want = append(bytes.Clone(in), '\n')
		}
		if len(in) < maxLine && !bytes.Equal(want, back.Bytes()) {
			t.Fatalf("%q became %q", in, back.Bytes())
		}
	})
}
