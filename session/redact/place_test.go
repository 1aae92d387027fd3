package redact_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// What looks at the bytes of a frame finds what an expression finds.
func TestFramesAreFoundAsAnExpressionFindsThem(t *testing.T) {
	frame := regexp.MustCompile(`^(?:\+|-(?:\b\w\w|[ \t"'\[{<#;:%*.]|$)|[<>] |[ \t]*(?:#+|//|;)[ \t]?| *[\w.-]{1,40} +\| |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)? |` +
		`[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: | *\d+(?:\t|:)|[\w./-]*[/.][\w./-]*[:-](?:\d+[:-])?)`)
	want := func(line []byte) int {
		if len(line) == 0 || bytes.IndexByte([]byte("\"{\t"), line[0]) >= 0 {
			return 0
		}
		n := len(frame.Find(line))
		if line[0] == '+' || line[0] == '-' {
			n = min(1, n)
		}
		return n
	}
	frames := []string{"+", "- x", "-", "--pass", "-a | ", "-./x:", "< ", "> ", "  # ", "//", "; ", " web-1  | ", "2026-11-28T01:02:03.5Z ", "2026-11-28 01:02:03,123+01:00 ", "2026-11-28 01:02:03-0100 ",
		"Nov 28 01:02:03 web1 app/x[12]: ", "Nov  8 01:02:03 web1 app: ", "  12\t", "12:", "/etc/a.conf:3:", "/etc/a.conf-3-", "a/b-12-", "x.y-", "a.b:", "a-b/c-d.e-f", "a-b.c:12-",
		"abcdefghijklmnopqrstuvwxyz-0123456789.abc | ", "abcdefghijklmnopqrstuvwxyz-0123456789.abcd | "}
	found, none := 0, 0
	check := func(line []byte) {
		for to := range len(line) + 1 {
			n := want(line[:to])
			require.Equal(t, n, redact.FrameOf(line[:to]), "%q", line[:to])
			if n > 0 {
				found++
			} else {
				none++
			}
		}
	}
	for _, f := range frames {
		check([]byte(f + "password"))
	}
	r := rand.New(rand.NewPCG(28, 11))
	const bytesOfFrames = "+-<>#/;|:. \t_aN0123456789TZ,[]\"x\x00ä"
	for range 3000 {
		line := []byte(frames[r.IntN(len(frames))])
		for range r.IntN(4) {
			line[r.IntN(len(line))] = bytesOfFrames[r.IntN(len(bytesOfFrames))]
		}
		for range r.IntN(20) {
			line = append(line, bytesOfFrames[r.IntN(len(bytesOfFrames))])
		}
		check(line)
	}
	assert.Greater(t, found, 3000)
	assert.Greater(t, none, 3000)
	for _, name := range []string{"testdata/shapes.txt", "testdata/harmless.txt"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			check(line[:min(len(line), 200)])
		}
	}
}
