package mcpserver_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

var update = flag.Bool("update", false, "write the golden files")

// TestARepairAsEachKindOfClientShowsIt repairs a service with a broken configuration on a real sshd. The golden files are what
// a model gets from clients that show it the text alone, and from those that show it the structured content alone.
func TestARepairAsEachKindOfClientShowsIt(t *testing.T) {
	p := newPlace(t, sshdInventory(sessiontest.OpenSSHD(t)), "")
	c := p.start(t, nil, "--allow-all")
	dir := brokenShop(t)
	var commands []string
	raw, err := os.ReadFile("testdata/repair/steps.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &commands))
	type step struct {
		tool string
		args args
	}
	steps := []step{{"session_open", args{"host": "sshd", "name": "fix", "cwd": dir}}}
	for _, command := range commands {
		steps = append(steps, step{"session_exec", args{"session_id": "fix", "command": command}})
	}
	steps = append(steps,
		step{"file_read", args{"session_id": "fix", "path": "shop.conf"}},
		step{"file_edit", args{"session_id": "fix", "path": "shop.conf", "old": "workers = 4", "new": "workers = 8"}},
		step{"look", args{"targets": "sshd", "command": "cat " + dir + "/shop.pid"}},
		step{"session_close", args{"session_id": "fix"}},
	)
	var text, structured strings.Builder
	for _, s := range steps {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: s.tool, Arguments: s.args})
		require.NoError(t, err)
		require.False(t, res.IsError)
		in, content := plainJSON(t, s.args), plainJSON(t, res.StructuredContent)
		shown := res.Content[0].(*mcp.TextContent).Text
		sameFacts(t, content, shown)
		sameOutput(t, content, shown)
		fmt.Fprintf(&text, "> %s %s\n%s\n\n", s.tool, in, strings.TrimSuffix(shown, "\n"))
		fmt.Fprintf(&structured, "> %s %s\n%s\n\n", s.tool, in, content)
	}
	golden(t, "testdata/repair/text.golden", stable(text.String(), dir))
	golden(t, "testdata/repair/structured.golden", stable(structured.String(), dir))
}

// plainJSON writes JSON as people read it.
func plainJSON(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

// sameOutput fails a test where a line of output is in the text and not in the structured content.
func sameOutput(t *testing.T, structured, text string) {
	t.Helper()
	var all strings.Builder
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, sub := range v {
				collect(sub)
			}
		case []any:
			for _, sub := range v {
				collect(sub)
			}
		case string:
			all.WriteString(v + "\n")
		}
	}
	var tree any
	require.NoError(t, json.Unmarshal([]byte(structured), &tree))
	collect(tree)
	lines := strings.Split(text, "\n")
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "[") {
			assert.Contains(t, all.String(), line, "the structured content lacks a line of the text")
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(filepath.FromSlash(file), []byte(got), 0o644))
	}
	want, err := os.ReadFile(filepath.FromSlash(file))
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "go test -run Repair -update writes %s", file)
}

var unstable = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\b([esr])_[a-z2-7]{13}\b`), "${1}_ID"},
	{regexp.MustCompile(`(-[rwx-]{9}) +\d+ \S+ \S+ +(\d+) \w{3} +\d+ +[\d:]+`), "$1 1 owner group $2 DATE"},
	{regexp.MustCompile(`total \d+`), "total N"},
	{regexp.MustCompile(`, \d[\dms.]*s\b`), ""},
	{regexp.MustCompile(`"duration_ms":\d+,?`), ""},
}

// stable takes out of a transcript what differs from run to run, and from machine to machine.
func stable(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "/srv/shop")
	for _, u := range unstable {
		text = u.re.ReplaceAllString(text, u.by)
	}
	return text
}
