package mcpserver_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planted are secrets that an agent must not see, each in a text that gives it away or that was learned before. They are
// never in what the agent itself sends, except where it says so.
var planted = map[string]struct{ text, hidden string }{
	"a learned value":  {"it is open-sesame-42 then", "open-sesame-42"},
	"a token":          {"t=ghp_" + strings.Repeat("aB3x", 9) + " then", "ghp_" + strings.Repeat("aB3x", 9)},
	"a URL":            {"postgres://app:s3cr3t-word@db:5432/app", "s3cr3t-word"},
	"an assignment":    {"API_TOKEN=q9w8e7r6t5y4; then", "q9w8e7r6t5y4"},
	"a header":         {"Authorization: Bearer 0123456789abcdefABCDEF01", "0123456789abcdefABCDEF01"},
	"an access key":    {"AKIA" + strings.Repeat("Q7", 8), "AKIA" + strings.Repeat("Q7", 8)},
	"what a host sets": {"got from-the-inventory-7", "from-the-inventory-7"},
}

const withSecret = "version: 1\nhosts:\n  - {name: here, transport: local, tier: dev, env: [INVENTORY_PASSWORD=from-the-inventory-7]}\n"

// octal is a printf command that prints text without naming it.
func octal(text, to string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, `\%03o`, text[i])
	}
	return fmt.Sprintf("printf '%s' %s", b.String(), to)
}

// told is everything that was sent to a client, and everything a server left on the disk or said in its log.
type told struct {
	place
	wire, log bytes.Buffer
}

func (w *told) start(t *testing.T, opts *mcp.ClientOptions) *client {
	cmd := w.command("--allow-all")
	cmd.Stderr = &w.log
	tmp := t.TempDir()
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp, "XDG_RUNTIME_DIR="+filepath.Join(w.home, "run"))
	return connect(t, &mcp.LoggingTransport{Transport: &mcp.CommandTransport{Command: cmd}, Writer: &w.wire}, opts)
}

// received is what the client got; what it sent itself is left out.
func (w *told) received() string {
	var b strings.Builder
	for line := range strings.SplitSeq(w.wire.String(), "\n") {
		if strings.HasPrefix(line, "read") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// left is all that lies in the server's directories.
func (w *told) left(t *testing.T) string {
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(filepath.Join(w.home, ".local"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		b.WriteString(path + "\n")
		b.Write(text)
		return err
	}))
	require.Contains(t, b.String(), ".jsonl", "there is a record")
	return b.String()
}

// around is where text holds a secret.
func around(text, secret string) (found []string) {
	for at := 0; len(found) < 5; {
		i := strings.Index(text[at:], secret)
		if i < 0 {
			break
		}
		i += at
		found = append(found, text[max(0, i-150):min(len(text), i+len(secret)+60)])
		at = i + len(secret)
	}
	return found
}

func TestNoSecretReachesAnAgentOrTheRecord(t *testing.T) {
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &told{place: newPlace(t, withSecret, "")}
			c := w.start(t, &mcp.ClientOptions{})
			dir := t.TempDir()
			r := c.call("session_open", args{"host": "here", "cwd": dir, "env": args{"MY_PASSWORD": "open-sesame-42"}})
			require.Nil(t, r.Error, "%+v", r.Error)
			id := r.SessionID

			// Its output, cut at every place, on both streams.
			var script strings.Builder
			for n := range len(p.text) {
				fmt.Fprintf(&script, "%s; %s; echo\n", octal(p.text[:n], ""), octal(p.text[n:], ""))
				fmt.Fprintf(&script, "%s; %s; echo >&2\n", octal(p.text[:n], ">&2"), octal(p.text[n:], ">&2"))
			}
			r = c.exec(id, script.String(), args{"wait_s": 50})
			require.Equal(t, "ok", r.Status, r.Raw)
			assert.Equal(t, len(p.text), strings.Count(r.Stdout, "«redacted:"), r.Stdout)
			total := 0
			for _, n := range r.Redacted {
				total += n
			}
			assert.GreaterOrEqual(t, total, 2*len(p.text), "it is told how much was taken out")
			for _, stream := range []string{"stdout", "stderr"} {
				for at := int64(0); ; {
					page := c.call("session_output", args{"exec_id": r.Exec, "stream": stream, "offset": at}).Page
					require.NotNil(t, page)
					exact, err := base64.StdEncoding.DecodeString(page.Base64)
					require.NoError(t, err)
					assert.NotContains(t, string(exact), p.hidden)
					if page.End || page.Next == at {
						break
					}
					at = page.Next
				}
			}

			// Slowly, while the agent looks on.
			half := len(p.text) / 2
			r = c.callWith(t.Context(), &mcp.CallToolParams{Meta: mcp.Meta{"progressToken": "x"}, Name: "session_exec", Arguments: args{
				"session_id": id, "interactive": true, "wait_s": 0.2,
				"command": octal(p.text[:half], "") + "; sleep 0.4; " + octal(p.text[half:], "") + "; sleep 0.4",
			}})
			for range 3 {
				c.call("session_output", args{"session_id": id, "screen": true, "wait_s": 0.2})
			}
			require.Equal(t, "done", c.call("session_output", args{"exec_id": r.Exec, "wait_s": 30}).State)

			// In a directory's name, in what a shell complains about, on many hosts at once, and in what cannot be opened.
			odd := "eval \"( $(" + octal(p.text, "") + ")\""
			if strings.HasSuffix(name, " value") || strings.HasSuffix(name, " sets") { // without a name nobody knows the others
				c.exec(id, "d=$("+octal(p.hidden, "")+"); mkdir -p \"$d\"; cd \"$d\"; \"./$d\"")
				c.exec(id, "pwd; cd ..; rmdir \"$d\"")
			}
			c.exec(id, odd, args{"wait_s": 20})
			c.call("run", args{"targets": "all", "command": octal(p.text, "") + "; " + octal(p.text, ">&2") + "; exit 3"})
			if p.text == planted["what a host sets"].text {
				c.exec(id, "env; echo $INVENTORY_PASSWORD; export -p")
			}
			c.call("session_close", args{"session_id": id})
			require.NoError(t, c.Close())

			hidden := p.hidden
			assert.Empty(t, around(w.received(), hidden))
			assert.Empty(t, around(w.left(t), hidden))
			assert.Empty(t, around(w.log.String(), hidden))
		})
	}
}

// What an agent names itself is not told back, and not put on record.
func TestASecretInACommandIsInNoAnswer(t *testing.T) {
	const secret = "open-sesame-42"
	w := &told{place: newPlace(t, here, "")}
	c := w.start(t, &mcp.ClientOptions{})
	id := c.open("here")
	for _, command := range []string{
		"DB_PASSWORD=" + secret + "; export DB_PASSWORD; echo $DB_PASSWORD; echo $DB_PASSWORD >&2; printenv DB_PASSWORD",
		"echo " + secret + " | base64; echo " + secret + " | od -An -tx1 | tr -d ' '",
		"cat <<EOF\n" + secret + "\nEOF",
		"/nonexistent/" + secret,
		"cd /nonexistent/" + secret,
		"mkdir -p " + w.home + "/" + secret + " && cd " + w.home + "/" + secret,
		"( " + secret,
	} {
		c.exec(id, command, args{"wait_s": 20, "reason": "because of " + secret})
	}
	c.call("run", args{"targets": "all", "command": "echo " + secret, "reason": secret})
	c.call("run", args{"targets": "all", "command": "echo " + secret, "cwd": "/nonexistent/" + secret})
	c.call("session_open", args{"host": "here", "cwd": "/nonexistent/" + secret})
	c.call("session_open", args{"host": "no-" + secret})
	c.call("session_exec", args{"session_id": "s_" + secret, "command": "x"})
	c.call("session_output", args{"exec_id": "e_" + secret})
	c.call("session_exec", args{"session_id": id, "command": "x", "output": args{"grep": "(" + secret}})
	c.call("hosts_list", args{"selector": "~(" + secret})
	r := c.exec(id, "printf 'Password: '; stty -echo; read p; stty echo; echo \"<$p>\"; read q; echo \"$q\"", args{"interactive": true, "wait_s": 20})
	require.Equal(t, "running", r.State, r.Raw)
	c.call("session_input", args{"session_id": id, "text": "typed-in-the-dark-9\n", "wait_s": 2})
	c.call("session_input", args{"session_id": id, "text": "typed-in-the-dark-9\n", "wait_s": 20})
	require.NoError(t, c.Close())
	for _, s := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))[:16], "6f70656e2d736573616d65", "typed-in-the-dark-9"} {
		assert.Empty(t, around(w.received(), s))
		assert.Empty(t, around(w.left(t), s))
		assert.Empty(t, around(w.log.String(), s))
	}
}
