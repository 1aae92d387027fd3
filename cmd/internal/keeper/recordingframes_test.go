package keeper_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long returns the lines of a recording: each has a moment, and a secret now and then.
func long(n int) (lines []string) {
	lines = []string{castStart}
	for i := range n {
		text := fmt.Sprintf("%s\r\nline %d \r\n", strings.Repeat("x", 1990), i)
		if i%7 == 0 {
			text = fmt.Sprintf("PGPASSWORD=hunter2hunter2 \x1b[3%dmline %d \r\n", i%8, i)
		}
		b, _ := json.Marshal([]any{float64(i), "o", text})
		lines = append(lines, string(b))
		if i == n/2 {
			lines = append(lines, fmt.Sprintf(`[%d.5, "r", "100x40"]`, i))
		}
	}
	return append(lines, "")
}

func TestALongRecordingIsPlayedFromAnyMoment(t *testing.T) {
	w := start(t, withRecordings(t))
	const n = 2500 // 5 MB
	id := w.made(0, "web-1", long(n)...)
	whole, _ := w.cast(id)
	for _, at := range []int{n - 10, 700, n / 2, 1200, 2000, 100} {
		status, _, text := w.send("GET", fmt.Sprintf("/v1/recordings/%s?at=%d", id, at), "")
		require.Equal(t, http.StatusOK, status)
		lines := strings.Split(strings.TrimSpace(text), "\n")
		var head struct {
			Width, Height int
			Duration      float64
		}
		require.NoError(t, json.Unmarshal([]byte(lines[0]), &head))
		assert.InDelta(t, n-1, head.Duration, 0)
		first := moment(t, lines[1])
		assert.LessOrEqual(t, first, float64(at))
		assert.Greater(t, first, float64(at-1200), "not from the beginning")
		assert.NotContains(t, text, "hunter2")
		if first > 0 {
			assert.Contains(t, lines[1], fmt.Sprintf("line %d", int(first)), "what the screen shows then")
			assert.Equal(t, first > n/2, head.Width == 100, "the size that it has then")
			assert.True(t, strings.HasSuffix(whole, strings.Join(lines[3:], "\n")+"\n"), "and then all that follows")
		}
	}
	status, _, _ := w.send("GET", "/v1/recordings/"+id+"?at=-1", "")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
}

// A key that never ends is taken out to its end, wherever one begins to look.
func TestARecordingIsNotPlayedFromTheMiddleOfASecret(t *testing.T) {
	w := start(t, withRecordings(t))
	lines := []string{castStart, `[0, "o", "-----BEGIN OPENSSH PRIVATE KEY-----\r\n"]`}
	for i := range 40000 {
		lines = append(lines, fmt.Sprintf(`[%d, "o", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAA%06d\r\n"]`, i, i))
	}
	id := w.made(0, "web-1", append(lines, "")...)
	status, _, text := w.send("GET", "/v1/recordings/"+id+"?at=39999", "")
	require.Equal(t, http.StatusOK, status)
	assert.NotContains(t, text, "b3Blbn")
}

func moment(t *testing.T, line string) (at float64) {
	t.Helper()
	var event []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(line), &event), line)
	require.NoError(t, json.Unmarshal(event[0], &at))
	return at
}

func TestALongRecordingPlaysOnThePage(t *testing.T) {
	v := browse(t)
	w := start(t, withRecordings(t))
	w.made(0, "long-1", append(long(3000)[:3001], `[4000.5, "o", "the \u001b[1mvery end\u001b[m\r\n"]`, "")...)
	v.does("enter", w.link())
	v.does("replay", map[string]string{"item": "web-1", "sees": "very end"})
}
