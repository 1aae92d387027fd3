package audit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// stamp is a time for people, in their own zone and with its offset.
func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -0700") }

// printEvent writes one record as one line.
func printEvent(ios *iostreams.IOStreams, e audit.Event, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(ios.Out).Encode(e)
	}
	parts := []string{stamp(e.Time), strconv.FormatUint(e.Seq, 10), string(e.Kind)}
	for _, p := range []string{e.ID, e.Principal, e.Host, e.Verdict, e.Status, e.Subject, e.Change} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if e.ExitCode != nil {
		parts = append(parts, fmt.Sprintf("exit=%d", *e.ExitCode))
	}
	if e.Signal != "" {
		parts = append(parts, "SIG"+e.Signal)
	}
	if strings.HasSuffix(string(e.Kind), ".result") {
		parts = append(parts, fmt.Sprintf("%dms", e.DurationMS))
	}
	if e.Typed {
		parts = append(parts, "typed")
	}
	if e.WithInput {
		parts = append(parts, "with input")
	}
	if e.ForSession != "" {
		parts = append(parts, "for the session: "+e.ForSession)
	}
	if e.Error.Message != "" {
		parts = append(parts, e.Error.Message)
	}
	if e.Command != "" {
		parts = append(parts, quoted(e.Command))
	}
	_, err := fmt.Fprintln(ios.Out, table.Clean(strings.Join(parts, "  ")))
	return err
}

// quoted shows a command in one line: as it is where that is clear, else as a Go string.
func quoted(command string) string {
	if table.Clean(command) == command && strings.TrimSpace(command) == command {
		return command
	}
	return strconv.Quote(command)
}

// fields lists what a record says, in the order of its JSON.
func fields(e audit.Event) [][2]string {
	line, err := json.Marshal(e)
	if err != nil {
		panic("audit: internal error: " + err.Error()) // an Event can always be written
	}
	var out [][2]string
	dec := json.NewDecoder(strings.NewReader(string(line)))
	dec.UseNumber()
	dec.Token() // {
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		text := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
			if key == "command" {
				text = quoted(s)
			}
		}
		out = append(out, [2]string{key.(string), text})
	}
	return out
}

// cleanLines makes text fit for a page: lines stay, what nobody can see does not.
func cleanLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest, ended := strings.CutSuffix(line, "\n")
		b.WriteString(table.Clean(rest))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
