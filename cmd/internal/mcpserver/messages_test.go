package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wired is a client that writes lines as it likes.
type wired struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// said is an answer on the wire.
type said struct {
	ID     any
	Error  *struct{ Code int }
	Result struct {
		Structured answer `json:"structuredContent"`
	}
}

func newWired(t *testing.T, p place, args ...string) *wired {
	cmd := p.command(args...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	w := &wired{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	w.send(initialize)
	w.next()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	return w
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}` + "\n"

func (w *wired) send(text string) {
	w.t.Helper()
	_, err := io.WriteString(w.in, text)
	require.NoError(w.t, err)
}

func (w *wired) next() (s said) {
	w.t.Helper()
	line, err := w.out.ReadBytes('\n')
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(line, &s), "%s", line)
	return s
}

func call(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments) + "\n"
}

func TestALineThatIsNoMessageIsAnsweredAndEndsNothing(t *testing.T) {
	w := newWired(t, newPlace(t, here, ""), "--allow-all")
	w.send(call("1", "session_open", `{"host":"here","name":"kept"}`))
	require.Nil(t, w.next().Result.Structured.Error)
	run := func(id, command string) string {
		return call(id, "session_exec", `{"session_id":"kept","command":"`+command+`"}`)
	}
	deep := func(n int) string {
		return call("5", "look", strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n))
	}
	for name, tt := range map[string]struct {
		line string
		code int
		id   any
	}{
		"no JSON":               {"{not json\n", -32700, nil},
		"a number":              {"5\n", -32600, nil},
		"null":                  {"null\n", -32600, nil},
		"a text":                {`"x"` + "\n", -32600, nil},
		"an empty batch":        {"[]\n", -32600, nil},
		"no message in a batch": {"[1]\n", -32600, nil},
		"another version":       {`{"jsonrpc":"1.0","id":5,"method":"ping"}` + "\n", -32600, 5.0},
		"no version":            {`{"id":"x","method":"ping"}` + "\n", -32600, "x"},
		"an id that is none":    {`{"jsonrpc":"2.0","id":[5],"method":"ping"}` + "\n", -32600, nil},
		"an id that is large":   {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}` + "\n", -32600, 9007199254740992.0},
		"an id that is a part":  {run("8.5", "touch odd-id"), -32600, 8.5},
		"an id that is no text": {`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}` + "\n", -32600, "\ufffd"},
		"a method that is none": {`{"jsonrpc":"2.0","id":5,"method":7}` + "\n", -32600, nil},
		"two on a line":         {`{"jsonrpc":"2.0","id":5,"method":"ping"} {}` + "\n", -32700, nil},
		"deep":                  {deep(5000), -32600, 5.0},
		"deeper":                {deep(20000), -32700, nil},
		"too long":              {`{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", 6*16<<20+2<<20) + `"}` + "\n", -32600, nil},
	} {
		w.send(tt.line)
		s := w.next()
		require.NotNil(t, s.Error, name)
		assert.Equal(t, tt.code, s.Error.Code, name)
		assert.Equal(t, tt.id, s.ID, name)
	}
	w.send("\n  \r\n" + strings.Replace(run("8", `printf %s '\ud83d\ude00\\ud800\u00e9'`), "\n", "\r\n", 1))
	s := w.next()
	assert.Equal(t, 8.0, s.ID)
	assert.Equal(t, `😀\ud800é`, s.Result.Structured.Stdout)

	odd, err := filepath.Glob("odd-*")
	require.NoError(t, err)
	assert.Empty(t, odd, "nothing of it was run")

	// Messages that came together are answered one by one.
	w.send("[" + strings.TrimSpace(run("9", "echo a")) + ",5," + strings.TrimSpace(call("10", "hosts_list", "{}")) + "]\n")
	ids := map[any]bool{}
	for range 3 {
		ids[w.next().ID] = true
	}
	assert.Equal(t, map[any]bool{nil: true, 9.0: true, 10.0: true}, ids)

	w.send(`{"jsonrpc":"2.0","id":5,"meth`)
	require.NoError(t, w.in.Close())
	left, err := io.ReadAll(w.out)
	require.NoError(t, err)
	assert.Empty(t, string(left))
	require.NoError(t, w.cmd.Wait())
}

func TestALargeFileFitsIntoAMessageHoweverItIsEscaped(t *testing.T) {
	w := newWired(t, newPlace(t, here, ""), "--allow-all")
	path := filepath.Join(t.TempDir(), "f")
	w.send(call("1", "file_write", fmt.Sprintf(`{"host":"here","path":%q,"wait_s":50,"content":"%s"}`, path, strings.Repeat(`\u0061`, 4<<20))))
	s := w.next()
	require.Nil(t, s.Error)
	assert.Equal(t, "ok", s.Result.Structured.Status, s.Result.Structured.Error)
	require.NoError(t, w.in.Close())
	require.NoError(t, w.cmd.Wait())
}
