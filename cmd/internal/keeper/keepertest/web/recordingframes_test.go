package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
)

func TestALongRecordingIsPlayedFromAnyMoment(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	const n = 2500 // 5 MB
	id := made(w, 0, "web-1", keepertest.Long(n)...)
	whole, _ := cast(w, id)
	for _, at := range []int{n - 10, 700, n / 2, 1200, 2000, 100} {
		status, _, text := w.Send("GET", fmt.Sprintf("/v1/recordings/%s?at=%d", id, at), "")
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
	status, _, _ := w.Send("GET", "/v1/recordings/"+id+"?at=-1", "")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
}

// A key that never ends is taken out to its end, wherever one begins to look.
func TestARecordingIsNotPlayedFromTheMiddleOfASecret(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	lines := []string{keepertest.CastStart, `[0, "o", "-----BEGIN OPENSSH PRIVATE KEY-----\r\n"]`}
	for i := range 40000 {
		lines = append(lines, fmt.Sprintf(`[%d, "o", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAA%06d\r\n"]`, i, i))
	}
	id := made(w, 0, "web-1", append(lines, "")...)
	status, _, text := w.Send("GET", "/v1/recordings/"+id+"?at=39999", "")
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
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	made(w, 0, "long-1", append(keepertest.Long(3000)[:3001], `[4000.5, "o", "the \u001b[1mvery end\u001b[m\r\n"]`, "")...)
	v.does("enter", link(w))
	v.does("replay", map[string]string{"item": "web-1", "sees": "very end"})
}
