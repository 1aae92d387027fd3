package redact_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// What says quickly that a line has no frame says so of none that has one.
func TestNoFrameIsPassedOver(t *testing.T) {
	frames := []string{"+", "- x", "-", "< ", "> ", "  # ", "//", "; ", " web-1  | ", "2026-11-28T01:02:03.5Z ", "2026-11-28 01:02:03,123+01:00 ", "Nov 28 01:02:03 web1 app/x[12]: ",
		"  12\t", "12:", "/etc/a.conf:3:", "a/b-12-", "x.y-", "a.b:"}
	for _, f := range frames {
		require.True(t, redact.Framed([]byte(f)), f)
	}
	check := func(line []byte) {
		for to := range line {
			if redact.Framed(line[:to]) {
				require.True(t, redact.MayBeFramed(line[:to]), "%q", line[:to])
			}
		}
	}
	r := rand.New(rand.NewPCG(28, 11))
	const bytesOfFrames = "+-<>#/;|:. \t_aN0123456789TZ,[]\"x"
	passed := 0
	for range 20000 {
		line := []byte(frames[r.IntN(len(frames))])
		for range r.IntN(4) {
			line[r.IntN(len(line))] = bytesOfFrames[r.IntN(len(bytesOfFrames))]
		}
		for range r.IntN(20) {
			line = append(line, bytesOfFrames[r.IntN(len(bytesOfFrames))])
		}
		check(line)
		if !redact.MayBeFramed(line) {
			passed++
		}
	}
	assert.NotZero(t, passed)
	for _, name := range []string{"testdata/shapes.txt", "testdata/harmless.txt"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			check(line[:min(len(line), 200)])
		}
	}
}
