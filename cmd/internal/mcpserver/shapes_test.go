package mcpserver_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shaped is a file with secrets in the shapes of many files, and what of it an agent must not see.
const shaped = `dsn: app:dsn-pw-7731@tcp(db:3306)/x
password: |
  block-pw-7732 and more
{"token":
  "next-line-7733-abcd"}
<password>element-pw-7734</password>
- name: DB_PASSWORD
  value: pair-pw-7735
data:
  any: a3ViZS1wdy03NzM2
kind: Secret
key "k" { algorithm hmac-md5; secret "bind-pw-7737=="; };
wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
ghp_abcdefghijKLMNOP
qrstuvwxyz0123456789
fairlead_KI77U4AF4JQZ3KX7MBV5TR2QZ3
` + "\x1b[34mpassword\x1b[0m:\x1b[0m \x1b[32mcolour-pw-7738\x1b[0m\n"

var shapedSecrets = []string{
	"dsn-pw-7731", "block-pw-7732", "next-line-7733", "element-pw-7734", "pair-pw-7735", "a3ViZS1wdy03NzM2", "bind-pw-7737",
	awsAlone, "abcdefghijKLMNOP", "qrstuvwxyz0123456789", "KI77U4AF4J", "colour-pw-7738",
}

const awsAlone = "lrXUtnFEMI/K7MDENG"

func TestNoSecretInTheShapeOfAFileReachesAnAgentOrTheRecord(t *testing.T) {
	w := &told{place: newPlace(t, here, "")}
	c := w.start(t, &mcp.ClientOptions{})
	path := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(path, []byte(shaped), 0o600))
	id := c.open("here")
	r := c.exec(id, "cat "+path+"; cat "+path+" >&2; base64 "+path+"; base64 -w0 "+path, args{"wait_s": 30})
	require.Equal(t, "ok", r.Status, r.Raw)
	assert.Contains(t, r.Stdout, "kind: Secret", "the rest is there")
	for at := int64(0); ; {
		page := c.call("session_output", args{"exec_id": r.Exec, "stream": "stdout", "offset": at}).Page
		require.NotNil(t, page)
		exact, err := base64.StdEncoding.DecodeString(page.Base64)
		require.NoError(t, err)
		for _, s := range shapedSecrets {
			assert.NotContains(t, string(exact), s)
		}
		if page.End || page.Next == at {
			break
		}
		at = page.Next
	}
	for offset := range len(shaped) / 16 { // a page that begins anywhere
		c.file("file_read", args{"host": "here", "path": path, "offset": 16 * offset})
	}
	c.call("run", args{"targets": "all", "command": "cat " + path + "; cat " + path + " >&2; exit 3"})
	left := w.left(t) // before a job leaves its output on the host, which is this machine
	j := c.job("job_start", args{"targets": "here", "command": "cat " + path + "; base64 " + path})
	require.Nil(t, j.Error, "%+v", j.Error)
	for at := int64(0); ; {
		o := c.job("job_output", args{"job_id": j.Jobs[0].JobID, "offset": at, "wait_s": 30})
		require.Nil(t, o.Error, "%+v", o.Error)
		if at = o.Page.Next; o.Page.End {
			break
		}
	}
	c.call("session_close", args{"session_id": id})
	require.NoError(t, c.Close())
	for _, s := range shapedSecrets {
		hidden := []string{s}
		for before := range 3 { // as base64 has it, wherever it begins
			if s == awsAlone {
				break // has no name: redact says that it is not found inside of base64
			}
			coded := base64.StdEncoding.EncodeToString([]byte("xyz"[:before] + s))
			hidden = append(hidden, coded[4:len(coded)-4])
		}
		for _, h := range hidden {
			assert.Empty(t, around(w.received(), h))
			assert.Empty(t, around(left, h))
			assert.Empty(t, around(w.log.String(), h))
		}
	}
}
