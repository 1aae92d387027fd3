package mcpserver_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/screen"
)

// breakers are what may stand in the middle of a secret, so that nothing is left of them when they were cleaned away.
var breakers = map[string]string{
	"colours":           "\x1b[m\x1b[K\x1b[01;31m",
	"a title":           "\x1b]0;title\a",
	"a zero-width":      "\u200b",
	"a backspace":       "X\b",
	"a bell":            "\a",
	"an eight-bit mark": "\u009b1m",
}

// breakersFor are all of them for a value and a pattern, and one of each way to vanish for the other secrets, which are found
// in the same text.
func breakersFor(secret string) map[string]string {
	if secret == "a learned value" || secret == "a token" {
		return breakers
	}
	return map[string]string{"colours": breakers["colours"], "a backspace": breakers["a backspace"]}
}

// cleaned is what somebody makes of exact bytes who knows how.
func cleaned(t *testing.T, page string) string {
	exact, err := base64.StdEncoding.DecodeString(page)
	require.NoError(t, err)
	text, _ := screen.Clean(string(exact))
	return text
}

func TestCleaningPutsNoSecretTogether(t *testing.T) {
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &told{place: newPlace(t, withSecret, "")}
			c := w.start(t, &mcp.ClientOptions{})
			dir := t.TempDir()
			r := c.call("session_open", args{"host": "here", "cwd": dir, "env": args{"MY_PASSWORD": "open-sesame-42"}})
			require.Nil(t, r.Error, "%+v", r.Error)
			id := r.SessionID
			at := strings.Index(p.text, p.hidden) + len(p.hidden)/2
			for how, b := range breakersFor(name) {
				text := p.text[:at] + b + p.text[at:]
				r := c.exec(id, octal(text, "")+"; "+octal(text, ">&2")+"; echo >&2; false")
				require.Equal(t, "exit", r.Status, r.Raw)
				assert.NotContains(t, r.Stdout+r.Stderr, p.hidden, how)
				assert.NotEmpty(t, r.Redacted, "%s: %s", how, r.Raw)
				for _, stream := range []string{"stdout", "stderr"} {
					page := c.call("session_output", args{"exec_id": r.Exec, "stream": stream}).Page
					require.NotNil(t, page)
					assert.NotContains(t, page.Text, p.hidden, how)
					assert.NotContains(t, cleaned(t, page.Base64), p.hidden, how)
				}
				r = c.call("run", args{"targets": "all", "command": octal(text, "") + "; exit 3"})
				require.Len(t, r.Groups, 1, r.Raw)
				assert.NotContains(t, r.Groups[0].Stdout, p.hidden, how)

				require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte(text+"\n"), 0o600))
				f := c.call("file_read", args{"session_id": id, "path": "file"})
				require.Nil(t, f.Error, f.Raw)
				assert.NotContains(t, f.Content, p.hidden, how)
				assert.NotContains(t, cleaned(t, f.Base64), p.hidden, how)
				assert.NotEmpty(t, f.Redacted, f.Raw)

				// What a program asks with, and what its terminal shows.
				r = c.exec(id, octal(text, "")+"; printf ' Password: '; read x", args{"interactive": true, "wait_s": 20})
				require.Equal(t, "running", r.State, r.Raw)
				require.NotNil(t, r.WaitingFor, r.Raw)
				assert.NotContains(t, r.WaitingFor.Prompt, p.hidden, how)
				s := c.call("session_output", args{"session_id": id, "screen": true, "wait_s": 0}).Screen
				require.NotNil(t, s)
				assert.NotContains(t, strings.Join(s.Lines, "\n"), p.hidden, how)
				r = c.call("session_input", args{"session_id": id, "keys": []string{"Enter"}})
				require.Equal(t, "done", r.State, r.Raw)
			}
			require.NoError(t, c.Close())
			assert.Empty(t, around(w.received(), p.hidden))
		})
	}
}

func TestACommandIsToldBackWithWhatNobodySees(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, "printf %s 'a\u200bb\bc'\r\nprintf 'd\\r\\n'")
	assert.Equal(t, "printf %s 'a<U+200B>b␈c'␍\nprintf 'd\\r\\n'", r.Command, r.Raw)
	r = c.call("run", args{"targets": "here", "command": "echo 'a\x1b[1mb'"})
	assert.Equal(t, "echo 'a␛[1mb'", r.Command, r.Raw)

	// Unless that would tell a secret.
	token := "ghp_" + strings.Repeat("aB3x", 9)
	r = c.exec(id, "echo '"+token[:20]+"\u200b"+token[20:]+"'")
	assert.NotContains(t, strings.ReplaceAll(r.Raw, "<U+200B>", ""), token)
	assert.Equal(t, map[string]int{"github-token": 2}, r.Redacted)
}

func TestWhatCleaningTakesOutIsCounted(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, `printf 'a\r\nb\r\n'; printf 'ab\bc\n' >&2`)
	assert.Equal(t, "a\nb\n", r.Stdout)
	assert.Equal(t, "ac\n", r.Stderr)
	assert.Equal(t, map[string]int{"stdout": 2, "stderr": 1}, r.Cleaned)
	page := c.call("session_output", args{"exec_id": r.Exec, "stream": "stdout"}).Page
	exact, err := base64.StdEncoding.DecodeString(page.Base64)
	require.NoError(t, err)
	assert.Equal(t, "a\r\nb\r\n", string(exact))
}

// A page with hidden characters ends where a line does, so that no secret among them is in two pages by half.
func TestPagesDoNotCutWhatIsHidden(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	token := "ghp_" + strings.Repeat("aB3x", 9)
	dir := t.TempDir()
	line := "x=\x1b[1m" + token[:20] + "\x1b[m" + token[20:] + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte(strings.Repeat(line, 50)), 0o600))
	var all strings.Builder
	for at := int64(0); ; {
		r := c.call("file_read", args{"host": "here", "path": filepath.Join(dir, "file"), "offset": at, "max_bytes": 100})
		require.Nil(t, r.Error, r.Raw)
		all.WriteString(r.Content)
		exact, err := base64.StdEncoding.DecodeString(r.Base64) // the secret is taken out of it too
		require.NoError(t, err)
		assert.NotContains(t, string(exact), token[:10])
		assert.NotContains(t, string(exact), token[30:])
		if r.NextOffset == 0 {
			break
		}
		at = r.NextOffset
	}
	assert.NotContains(t, all.String(), token[:10])
	assert.NotContains(t, all.String(), token[30:])
	assert.Equal(t, 50, strings.Count(all.String(), "«redacted:github-token:"))
}
