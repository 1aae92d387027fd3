package runs_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestWhatIsNoTextIsRefusedAndNotReplaced(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "work")
	other, meant := filepath.Join(w.Dir, "a\ufffdb"), filepath.Join(w.Dir, "a\xffb")
	for _, name := range []string{other, meant} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Skipf("no such names here: %v", err)
		}
	}
	for name, in := range map[string]struct{ text, where string }{
		"a byte":          {"\xff", "is not UTF-8"},
		"half a pair":     {`\ud800`, "is half of a character"},
		"the other half":  {`\udc80`, "is half of a character"},
		"a CESU-8 half":   {"\xed\xa0\x80", "is not UTF-8"},
		"halves in a row": {`\ud83d\ud83d\ude00`, "is half of a character"},
	} {
		command := "rm " + w.Dir + "/a" + in.text + "b"
		for path, body := range map[string]string{
			"/v1/sessions/" + s.ID + "/execs": `{"command":"` + command + `"}`,
			"/v1/runs":                        `{"id":"r_no_text_","host":"here","command":"` + command + `"}`,
			"/v1/execs/x/input":               `{"text":"` + command + `"}`,
			"/v1/jobs":                        `{"hosts":["here"],"command":"` + command + `"}`,
			keepertest.CommandsPath:           `{"sandbox_id":"x","command":"` + command + `"}`,
		} {
			status, p, _ := w.Send("POST", path, body)
			assert.Equal(t, http.StatusBadRequest, status, "%s: %s", name, path)
			assert.Equal(t, "invalid", p.Code)
			assert.Contains(t, p.Detail, in.where)
			assert.Contains(t, p.Detail, fmt.Sprintf("byte %d ", strings.Index(body, in.text)), name)
			assert.Contains(t, p.Detail, "command_b64")
			assert.NotContains(t, p.Detail, w.Dir)
		}
	}
	assert.FileExists(t, other)
	assert.FileExists(t, meant)

	end, _, _ := live(w, w.Client, wire.NewRun{Host: "here", CommandB64: base64.StdEncoding.EncodeToString([]byte("rm '" + meant + "'"))})
	assert.Equal(t, "ok", end.Result.Status)
	assert.FileExists(t, other)
	assert.NoFileExists(t, meant)
}

// What was checked would not be what is used.
func TestAMemberThatIsThereTwiceOrInAnotherCaseIsRefused(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "work")
	made := filepath.Join(w.Dir, "made")
	for path, in := range map[string]struct{ body, name, another string }{
		"/v1/sessions/" + s.ID + "/execs": {`{"command":"ls","NAME":"touch ` + made + `"}`, "command", "Command"},
		"/v1/execs/x/input":               {`{"keys":["C-c"],"NAME":["C-d"]}`, "keys", "Keys"},
		"/v1/runs":                        {`{"id":"r_is_twice","host":"here","command":"ls","output":{"head":5,"NAME":6}}`, "head", "HEAD"},
		"/v1/jobs":                        {`{"hosts":["here"],"command":"ls","NAME":"touch ` + made + `"}`, "command", "commanD"},
		keepertest.CommandsPath:           {`{"sandbox_id":"x","command":"ls","NAME":"y"}`, "sandbox_id", "Sandbox_ID"},
		"/v1/tokens":                      {`{"principal":"agent/x","role":"agent","NAME":"agent"}`, "role", "Role"},
	} {
		status, p, text := w.Send("POST", path, strings.Replace(in.body, "NAME", in.name, 1))
		assert.Equal(t, http.StatusBadRequest, status, "%s %s", path, text)
		assert.Equal(t, "invalid", p.Code)
		assert.Contains(t, p.Detail, fmt.Sprintf("%q is there twice, again at byte ", in.name))
		status, p, text = w.Send("POST", path, strings.Replace(in.body, "NAME", in.another, 1))
		assert.Equal(t, http.StatusUnprocessableEntity, status, "%s %s", path, text)
		assert.Contains(t, p.Detail, "unexpected property")
	}
	assert.NoFileExists(t, made)
}

// A file is bytes, whatever they look like.
func TestTheContentOfAFileIsNoJSON(t *testing.T) {
	w := keepertest.Start(t)
	for _, content := range []string{"a\xffb", `"\ud800"`, "null", " null\n"} {
		path := filepath.Join(w.Dir, "file")
		status, p, text := w.Send("PUT", "/v1/files?host=here&path="+url.QueryEscape(path), content)
		require.Equal(t, http.StatusOK, status, "%s %s", p.Detail, text)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, content, string(got))
	}
}

func TestTheClientSendsNothingElseThanItWasGiven(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "work")
	_, err := w.Run(t.Context(), s.ID, wire.Run{Command: "echo a\xffb"}, "")
	require.ErrorIs(t, err, client.ErrNoText)
	r := w.RunIn(w.Client, s.ID, "echo 'a\ufffdb'")
	assert.Equal(t, "a\ufffdb\n", r.Stdout)
}

// Agents are told in their own protocol.
func TestAnAgentsCallThatIsNoTextIsRefused(t *testing.T) {
	w := keepertest.Start(t)
	hc, session := w.HTTP(), ""
	send := func(method, body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/mcp", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := hc.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		session = resp.Header.Get("Mcp-Session-Id")
		return keepertest.Rest(t, resp)
	}
	send("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	defer func(id string) { session = id; send("DELETE", "") }(session)
	got := send("POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"targets":"here","command":"ls `+"\xff"+`"}}}`)
	assert.Contains(t, got, `"code":"invalid"`)
	assert.Contains(t, got, "is not UTF-8")
}
