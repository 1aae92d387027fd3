package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noText are texts that decoders of JSON would replace.
var noText = map[string]string{"\xff": "byte 49 is not UTF-8", `\ud800`: "the escape at byte 49 is half of a character", `\udcff`: "the escape at byte 49 is half of a character"}

// removes is a call that removes a file whose name has text in it.
func removes(id int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run","arguments":{"targets":"here","command":"cd \"$HOME\" && rm a%sb"}}}`, id, text)
}

const (
	hello   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	greeted = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// another makes the file that would be removed instead.
func another(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, "a\ufffdb")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	return path
}

func TestACallThatHoldsNoTextIsRefusedOnStandardInput(t *testing.T) {
	path := another(t)
	in := newInside(t, false)
	r, w := io.Pipe()
	answers, out := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		assert.NoError(t, in.Serve(context.Background(), r, out, func() {}))
		out.Close()
	})
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { w.Close() })
	lines := bufio.NewScanner(answers)
	say := func(line string) {
		t.Helper()
		_, err := io.WriteString(w, line+"\n")
		require.NoError(t, err)
	}
	hear := func() string {
		t.Helper()
		require.True(t, lines.Scan())
		return lines.Text()
	}
	say(hello)
	hear()
	say(greeted)
	id := 1
	for text, why := range noText {
		id++
		say(removes(id, text))
		got := hear()
		assert.Contains(t, got, fmt.Sprintf(`"id":%d`, id))
		assert.Contains(t, got, `"isError":true`)
		assert.Contains(t, got, `"code":"invalid"`)
		assert.Contains(t, got, why)
	}
	say(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"run","arguments":{"targets":"here","timeout_s":-1,"command":"ls","timeout_s":null}}}`)
	got := hear()
	assert.Contains(t, got, `"code":"invalid"`)
	assert.Contains(t, got, `\"timeout_s\" is there twice, again at byte 48`)
	assert.FileExists(t, path)
	say(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"hosts_list","arguments":{}}}`)
	assert.Contains(t, hear(), `"here"`, "it is served further")
}

func TestACallThatHoldsNoTextIsRefusedOverHTTP(t *testing.T) {
	path := another(t)
	url := overHTTP(t, newInside(t, false))
	session := ""
	post := func(body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Authorization", "Bearer right")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		if session == "" {
			session = resp.Header.Get("Mcp-Session-Id")
		}
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(text)
	}
	post(hello)
	post(greeted)
	for text, why := range noText {
		got := post(removes(2, text))
		assert.Contains(t, got, `"isError":true`)
		assert.Contains(t, got, why)
	}
	assert.FileExists(t, path)
	req, err := http.NewRequestWithContext(t.Context(), "DELETE", url, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer right")
	req.Header.Set("Mcp-Session-Id", session)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
}
