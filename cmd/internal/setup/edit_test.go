package setup_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/setup"
)

func TestAnEntryIsAddedAndAllElseStays(t *testing.T) {
	for name, c := range map[string]struct{ client, before, after string }{
		"no file": {"cursor", "", `{
  "mcpServers": {
    "fairlead": {
      "command": "/bin/f",
      "args": [
        "mcp"
      ]
    }
  }
}
`},
		"other servers, tabs, no line at the end": {"cursor", "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"url\": \"x\"}\n\t}\n}", `{
	"mcpServers": {
		"other": {"url": "x"},
		"fairlead": {
			"command": "/bin/f",
			"args": [
				"mcp"
			]
		}
	}
}`},
		"comments, commas at the end, big numbers": {"gemini", `// mine
{
  "n": 12345678901234567890123, // exact
  "mcpServers": {
    "other": {"env": {"T": "a,}//b"}}, /* keep */
    // the last line
  },
}
`, `// mine
{
  "n": 12345678901234567890123, // exact
  "mcpServers": {
    "other": {"env": {"T": "a,}//b"}}, /* keep */
    // the last line
    "fairlead": {
      "command": "/bin/f",
      "args": [
        "mcp"
      ]
    },
  },
}
`},
		"all on one line": {"claude", `{"a":1}`, `{"a":1,
  "mcpServers": {
    "fairlead": {
      "type": "stdio",
      "command": "/bin/f",
      "args": [
        "mcp"
      ]
    }
  }
}`},
		"an older entry with more in it": {"vscode", `{
  "servers": {
    "fairlead": {"type": "stdio", "command": "/old", "args": [], "env": {"A": "b"}}
  }
}`, `{
  "servers": {
    "fairlead": {"type": "stdio", "command": "/bin/f", "args": [
      "mcp"
    ], "env": {"A": "b"}}
  }
}`},
		"TOML": {"codex", "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"c\"", "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"c\"\n\n[mcp_servers.fairlead]\ncommand = '/bin/f'\nargs = ['mcp']\n"},
		"an older TOML entry": {"codex",
			"[mcp_servers.fairlead] # ours\nargs = [\n  \"a\", # one\n]\nenabled = false\n\n# about the next\n[mcp_servers.fairlead.env]\nA = 'b'\n[x]\n",
			"[mcp_servers.fairlead] # ours\ncommand = '/bin/f'\nargs = ['mcp']\nenabled = false\n\n# about the next\n[mcp_servers.fairlead.env]\nA = 'b'\n[x]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := setup.With(c.client, c.before, "/bin/f", []string{"mcp"})
			require.NoError(t, err)
			assert.Equal(t, c.after, got)
			again, err := setup.With(c.client, got, "/bin/f", []string{"mcp"})
			require.NoError(t, err)
			assert.Equal(t, got, again, "doing it twice is doing it once")
			gone, err := setup.Without(c.client, got)
			require.NoError(t, err)
			assert.NotContains(t, gone, "/bin/f")
			twice, err := setup.Without(c.client, gone)
			require.NoError(t, err)
			assert.Equal(t, gone, twice)
		})
	}
}

func TestTakingItAwayRestoresTheFile(t *testing.T) {
	for client, before := range map[string]string{
		"cursor": "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"url\": \"x\"}\n\t}\n}",
		"claude": "{\n  \"mcpServers\": {\n    \"other\": {}, // mine\n  },\n  \"z\": 1\n}\n",
		"codex":  "model = \"x\"\n\n[mcp_servers.other]\ncommand = \"c\"\n",
	} {
		with, err := setup.With(client, before, "/bin/f", []string{"mcp"})
		require.NoError(t, err)
		after, err := setup.Without(client, with)
		require.NoError(t, err)
		assert.Equal(t, before, after, client)
	}
}

func TestWhatCannotBeEditedIsRefused(t *testing.T) {
	for client, texts := range map[string][]string{
		"cursor": {"[]", "{", `{"mcpServers": []}`, `{"mcpServers": {}, "mcpServers": {}}`, `{"mcpServers": {"fairlead": 1}}`, `{"a": }`, "{} {}", `{"a" 1}`},
		"codex": {"x = ", "mcp_servers = {other = {command = \"c\"}}\n", "[mcp_servers]\nfairlead = {command = \"old\"}\n",
			"s = '''\n[mcp_servers.fairlead]\ncommand = 'x'\n'''\n"},
	} {
		for _, text := range texts {
			_, err := setup.With(client, text, "/bin/f", []string{"mcp"})
			assert.Error(t, err, text)
		}
	}
}

// Whatever is in a file, an edit adds the entry and changes nothing else, or is refused.
func FuzzEditsKeepAllElse(f *testing.F) {
	for _, s := range []string{"{}", `{"a":[1,{"b":"}"}],}`, "// x\n{\"mcpServers\":{\"o\":{} /*,*/ }}", `{"mcpServers":{"fairlead":{"command":"c","x":1}}}`,
		"a = 1\n[mcp_servers.fairlead]\ncommand = 'x'\n", "[[t]]\nx='''\n[mcp_servers.fairlead]\n'''"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for client, parse := range map[string]func(string) (map[string]any, error){"cursor": setup.PlainJSON, "codex": setup.PlainTOML} {
			out, err := setup.With(client, text, "/bin/f", []string{"mcp"})
			if err != nil {
				continue
			}
			v, err := parse(out)
			require.NoError(t, err)
			table := map[string]string{"cursor": "mcpServers", "codex": "mcp_servers"}[client]
			ours := v[table].(map[string]any)["fairlead"].(map[string]any)
			require.Equal(t, "/bin/f", ours["command"])
			back, err := setup.Without(client, out)
			require.NoError(t, err)
			if strings.TrimSpace(text) == "" {
				continue
			}
			was, err := parse(text)
			require.NoError(t, err)
			is, err := parse(back)
			if strings.TrimSpace(back) == "" {
				is, err = map[string]any{}, nil
			}
			require.NoError(t, err)
			for _, m := range []map[string]any{was, is} {
				servers, _ := m[table].(map[string]any)
				delete(servers, "fairlead")
				if len(servers) == 0 {
					delete(m, table)
				}
			}
			require.True(t, reflect.DeepEqual(was, is), "%q\n%q", text, back)
		}
	})
}
