package keepertest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// CastStart is the first line of a recording.
const CastStart = `{"version":2,"width":80,"height":24,"timestamp":1000,"title":"web-1","env":{"TERM":"xterm","SECRET_TOKEN":"ghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"}}`

// Long returns the lines of a recording: each has a moment, and a secret now and then.
func Long(n int) (lines []string) {
	lines = []string{CastStart}
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
