package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sameFacts fails a test where an answer's text lacks something that its structured content has. What is only in the text is
// the words between facts.
func sameFacts(t testing.TB, structured, text string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(structured))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		t.Fatalf("%v: %s", err, structured)
	}
	for _, missing := range lacks(text, "", tree) {
		t.Errorf("the text lacks %s\ntext: %s\nstructured: %s", missing, text, structured)
	}
}

// lacks lists the leaves of a tree that a text does not show.
func lacks(text, name string, tree any) (missing []string) {
	switch v := tree.(type) {
	case map[string]any:
		for k, sub := range v {
			if _, named := sub.(json.Number); named && (name == "redacted" || name == "omitted" || name == "cleaned" || name == "matched") && !strings.Contains(text, k) {
				missing = append(missing, name+"."+k)
			}
			missing = append(missing, lacks(text, k, sub)...)
		}
	case []any:
		for _, sub := range v {
			missing = append(missing, lacks(text, name, sub)...)
		}
	case string:
		if !shows(text, name, v) {
			missing = append(missing, fmt.Sprintf("%s %q", name, v))
		}
	case json.Number:
		if !strings.Contains(text, number(name, v)) {
			missing = append(missing, name+" "+v.String())
		}
	case bool:
		if v && !strings.Contains(text, wordFor[name]) {
			missing = append(missing, name)
		}
	}
	return missing
}

// shows reports whether a text has a value. Outputs are there as they are; facts are on one line.
func shows(text, name, value string) bool {
	if strings.Contains(text, value) {
		return true
	}
	if name == "statuses" {
		return false
	}
	switch name {
	case "state", "status":
		word := strings.ReplaceAll(value, "_", " ")
		if value == "awaiting_approval" {
			return strings.Contains(text, word) || strings.Contains(text, "waiting for approval")
		}
		switch value {
		case "done":
			return true // it says how it ended
		case "ok":
			return strings.Contains(text, "exit 0") || !strings.Contains(text, "exit ")
		case "exit":
			return strings.Contains(text, "exit ")
		}
		return strings.Contains(text, word)
	}
	return strings.Contains(text, strings.ReplaceAll(value, "\n", " ")) || strings.Contains(text, strings.ReplaceAll(value, "\n", "⏎"))
}

func number(name string, n json.Number) string {
	if strings.HasSuffix(name, "_ms") {
		ms, _ := n.Int64()
		return (time.Duration(ms) * time.Millisecond).String()
	}
	if f, err := n.Float64(); err == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return n.String()
}

// wordFor is how a text says what is true.
var wordFor = map[string]string{
	"retriable": "trying again may help", "may_run": "may still be running", "shell_restarted": "the shell was restarted", "reconnected": "reconnected",
	"known": "known prompt", "alternate": "full-screen program", "end": "end of the output", "with_input": "covers input", "closed": "closed",
	"reset": "new shell", "created": "created", "replaced": "replaced", "is_binary": "binary", "collected": "collected",
}
