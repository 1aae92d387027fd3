package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxToolTokens is what the list of the tools may cost a model, counted as its JSON's characters by four.
const maxToolTokens = 4000

func TestTheToolListIsCheap(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range list.Tools {
		assert.NotNil(t, tool.OutputSchema, tool.Name)
		assert.NotEmpty(t, tool.Description, tool.Name)
		for _, word := range []string{"told", "nobody", "somebody", "whoever", "is none", "goes on", "stands as"} {
			assert.NotContains(t, tool.Description, word, tool.Name)
		}
	}
	text, err := json.Marshal(list.Tools)
	require.NoError(t, err)
	assert.NotContains(t, string(text), `"null"`)
	t.Logf("%d characters, about %d tokens", len(text), len(text)/4)
	assert.LessOrEqual(t, len(text)/4, maxToolTokens)
}

func TestWhatIsUsualIsLeftOut(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := c.call("session_open", args{"host": "here", "name": "fix", "cwd": dir})
	require.Nil(t, r.Error, r.Raw)
	r = c.exec("fix", "echo out")
	assert.JSONEq(t, `{"status":"ok","stdout":"out\n"}`, r.Raw)
	assert.Equal(t, "here: exit 0; data from here:\nout\n", r.Text)
	r = c.exec("fix", "echo err >&2; (exit 3)")
	assert.Contains(t, r.Raw, `"exit_code":3`)
	assert.Contains(t, r.Text, "here: exit 3; ")
	assert.Contains(t, r.Text, "stderr, data from here:\nerr\n")
	r = c.exec("fix", "echo out; echo err >&2; mkdir sub; cd sub")
	assert.Equal(t, "here: exit 0, cwd "+dir+"/sub; data from here:\nout\n[stderr, data from here]\nerr\n", r.Text)
	r = c.call("look", args{"targets": "here", "command": "echo one"})
	assert.JSONEq(t, `{"groups":[{"hosts":"here","status":"ok","stdout":"one\n"}]}`, r.Raw)
	assert.Equal(t, "here: exit 0; data from here:\none\n", r.Text)
}

func TestGrepNeverHidesStandardError(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	r := c.exec(c.open("here"), "cat missing; seq 1 2000", args{"output": args{"grep": "^77$"}})
	assert.Contains(t, r.Stdout, "77\n")
	assert.Contains(t, r.Stderr, "missing")
	assert.Equal(t, map[string]int64{"stdout": 1}, r.Matched)
	r = c.call("run", args{"targets": "here", "command": "cat missing; seq 1 2000", "output": args{"grep": "^77$"}})
	require.Len(t, r.Groups, 1, r.Raw)
	assert.Contains(t, r.Groups[0].Stderr, "missing")
}

func TestPollsShowWhatIsNew(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, `printf 'first\n'; while read x; do echo "got $x"; done`, args{"interactive": true, "wait_s": 0})
	require.Equal(t, "running", r.State, r.Raw)
	c.call("session_output", args{"session_id": id, "offset": 0}) // waits for some
	c.call("session_input", args{"session_id": id, "text": "one\n", "wait_for": "got one"})
	r = c.call("session_input", args{"session_id": id, "text": "two\n", "wait_for": "got two"})
	assert.Contains(t, r.Stdout, "got two", r.Raw)
	assert.NotContains(t, r.Stdout, "got one")
	assert.Positive(t, r.Offset)
	assert.Greater(t, r.NextOffset, r.Offset)
	assert.Contains(t, r.Text, fmt.Sprintf("stdout from byte %d on", r.Offset))
	again := c.call("session_output", args{"session_id": id, "wait_s": 0})
	assert.Empty(t, again.Stdout, "nothing is new")
	assert.Equal(t, r.NextOffset, again.Offset)
	whole := c.call("session_output", args{"session_id": id, "offset": 0})
	assert.Contains(t, whole.Page.Text, "first\n")
	assert.Contains(t, whole.Page.Text, "got two")
	end := c.call("session_input", args{"session_id": id, "keys": []string{"C-d"}})
	assert.Equal(t, "ok", end.Status, end.Raw)
	assert.Contains(t, end.Stdout, "first\n", "a Result is the whole")
	assert.Zero(t, end.Offset)
}

func TestTheKeyInterruptsACommandWithoutATerminal(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, "echo on; sleep 1000; echo off", args{"wait_s": 0})
	require.Equal(t, "running", r.State, r.Raw)
	assert.Contains(t, r.Next, "session_input with session_id "+id+" and signal INT interrupts it")
	typed := c.call("session_input", args{"session_id": id, "text": "x"})
	require.NotNil(t, typed.Error, typed.Raw)
	assert.Equal(t, "not_interactive", typed.Error.Code)
	assert.Contains(t, typed.Error.Next, "signal INT")
	busy := c.exec(id, "echo no")
	assert.Contains(t, busy.Error.Next, "session_output with exec_id "+r.Exec+" waits for it; session_input with signal INT interrupts it; session_close with reset true")
	assert.Contains(t, busy.Text, busy.Error.Next)
	c.call("session_output", args{"session_id": id, "offset": 0}) // waits for some
	r = c.call("session_input", args{"session_id": id, "keys": []string{"C-c"}})
	require.Nil(t, r.Error, r.Raw)
	require.NotNil(t, r.ExitCode, r.Raw)
	assert.Equal(t, 130, *r.ExitCode)
	assert.NotContains(t, r.Stdout, "off")
}

func TestAPageOfNoCommandIsRefused(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	id := c.open("here")
	c.exec(id, "echo on")
	for says, a := range map[string]args{
		"offset must not be negative": {"session_id": id, "offset": -1},
		"offset, stream and screen are about one command: give session_id or exec_id": {"offset": 1},
		"offset, stream and screen are about one command":                             {"stream": "stderr"},
		"are about one command: give session_id":                                      {"screen": true},
	} {
		r := c.call("session_output", a)
		require.NotNil(t, r.Error, says)
		assert.Equal(t, "invalid", r.Error.Code)
		assert.Contains(t, r.Error.Message, says)
	}
}

func TestWhatNoSignalEndsIsReset(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, `trap "" INT TERM; echo on; while :; do sleep 1; done`, args{"wait_s": 0})
	require.Equal(t, "running", r.State, r.Raw)
	c.call("session_output", args{"exec_id": r.Exec, "offset": 0}) // waits for some
	r = c.call("session_input", args{"session_id": id, "signal": "INT", "wait_s": 0})
	require.Equal(t, "running", r.State, r.Raw)
	assert.Contains(t, r.Next, "session_close with reset true gives the session a new shell")
	r = c.call("session_input", args{"session_id": id, "signal": "KILL", "wait_s": 0.2})
	if r.State == "running" {
		assert.Contains(t, r.Next, "session_close with reset true gives the session a new shell")
	}
	closed := c.call("session_close", args{"session_id": id, "reset": true})
	assert.True(t, closed.Reset)
	assert.Regexp(t, `^session s_[a-z2-7]+: the next command gets a new shell; in /`, closed.Text)
	assert.Equal(t, "after\n", c.exec(id, "echo after").Stdout)
}

func TestALostCallerFindsWhatItHas(t *testing.T) {
	in := within(t, newPlace(t, here, ""), false)
	c := in.connect(t, nil)
	r := c.call("session_open", args{"host": "here", "name": "fix"})
	require.Nil(t, r.Error, r.Raw)
	pending := c.exec("fix", "touch x", args{"wait_s": 0})
	run := c.call("run", args{"targets": "here", "command": "touch y", "wait_s": 0})
	mine := c.call("session_output", nil)
	require.Nil(t, mine.Error, mine.Raw)
	for _, want := range []string{r.SessionID, `"name":"fix"`, pending.Exec, `"command":"touch x"`, "awaiting_approval", run.Run, `"command":"touch y"`} {
		assert.Contains(t, mine.Raw, want)
	}
	none := c.exec("nope", "ls")
	require.NotNil(t, none.Error)
	assert.Equal(t, "not_found", none.Error.Code)
	assert.Contains(t, none.Text, "your sessions are fix ("+r.SessionID+") on here")
}

func TestAFileIsPagedByLines(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	path := filepath.Join(t.TempDir(), "f")
	var text strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	r := c.file("file_read", args{"host": "here", "path": path, "line": 4990, "max_bytes": 20})
	assert.Equal(t, "line 4990\nline 4991\n", r.Text, r.Raw)
	assert.Equal(t, 4992, r.NextLine)
	r = c.file("file_read", args{"host": "here", "path": path, "line": r.NextLine, "max_bytes": 25})
	assert.Equal(t, "line 4992\nline 4993\n", r.Text, "whole lines")
	r = c.file("file_read", args{"host": "here", "path": path})
	require.Positive(t, r.NextLine)
	next := c.file("file_read", args{"host": "here", "path": path, "offset": r.Next, "max_bytes": 100})
	assert.True(t, strings.HasPrefix(next.Text, fmt.Sprintf("line %d\n", r.NextLine)), next.Raw)
	assert.Empty(t, c.file("file_read", args{"host": "here", "path": path, "line": 6000}).Text)
	assert.Equal(t, "invalid", c.file("file_read", args{"host": "here", "path": path, "line": 1, "offset": 0}).Error.Code)
}

func TestAFullScreenProgramIsShownOnce(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, `printf '\033[?1049h\033[2J\033[Hpage one'; read x`, args{"interactive": true, "wait_s": 20})
	require.Equal(t, "running", r.State, r.Raw)
	require.NotNil(t, r.Screen, r.Raw)
	assert.Contains(t, r.Screen.Lines[0], "page one")
	assert.Empty(t, r.Stdout)
	r = c.call("session_output", args{"session_id": id, "screen": true, "wait_s": 0})
	require.NotNil(t, r.Screen, r.Raw)
	assert.Empty(t, r.Stdout)
}

func TestAMissingArgumentIsNamed(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	r := c.call("session_exec", args{"command": "ls"})
	require.NotNil(t, r.Error)
	assert.Equal(t, "the arguments do not fit the tool: session_id missing", r.Error.Message)
	r = c.call("session_exec", args{"session_id": "x", "command": "ls", "colour": "red"})
	assert.Contains(t, r.Error.Message, "unknown argument colour; it takes args, command, interactive, ")
	r = c.call("look", args{"targets": "here", "command": "id", "output": args{"lines": 3}})
	assert.Contains(t, r.Error.Message, "unknown argument lines")
	assert.NotContains(t, r.Error.Message, "it takes", "an argument of output")
}

func TestALookAtWhatIsForbiddenPromisesNoApproval(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	r := c.call("look", args{"targets": "here", "command": "echo a\x00b"})
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, "denied", r.Error.Code)
	assert.NotContains(t, r.Text, "after approval")
	r = c.call("look", args{"targets": "here", "command": "touch /tmp/f"})
	require.NotNil(t, r.Error, r.Raw)
	assert.Contains(t, r.Text, "after approval")
}

// What is wrong is named, and not repeated: it may be long, or secret.
func TestAnArgumentOfAnotherTypeIsNamed(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	long := strings.Repeat("open-sesame ", 10_000)
	for _, tt := range []struct {
		tool, want string
		a          args
	}{
		{"run", "targets: it is array, and must be string", args{"targets": []string{long}, "command": "ls"}},
		{"run", "wait_s: it is string, and must be number", args{"targets": "here", "command": "ls", "wait_s": long}},
		{"run", "head: it is number, and must be a whole number", args{"targets": "here", "command": "ls", "output": args{"head": 1.5}}},
		{"session_open", "env: it is integer, and must be string", args{"host": "here", "env": args{"A": 5}}},
		{"file_read", "line: it is out of range", args{"host": "here", "path": "f", "line": 1e30}},
		{"file_read", "offset: it is out of range", args{"host": "here", "path": "f", "offset": -1e308}},
		{"run", "head: it is out of range", args{"targets": "here", "command": "ls", "output": args{"head": json.Number("1" + strings.Repeat("0", 40))}}},
		{"run", "a number is out of range", args{"targets": "here", "command": "ls", "wait_s": json.Number("1e999")}},
		{"session_input", "keys: it is string, and must be array", args{"session_id": "x", "keys": "C-c"}},
		{"session_input", "signal: it must be one of INT, TERM, KILL", args{"session_id": "x", "signal": long}},
		{"session_input", "signal: it is array, and must be string", args{"session_id": "x", "signal": []string{`" want "x"`}}},
	} {
		r := c.call(tt.tool, tt.a)
		require.NotNil(t, r.Error, tt.want)
		assert.Equal(t, "the arguments do not fit the tool: "+tt.want, r.Error.Message)
	}
}

// Some clients write every number with a fraction.
func TestAWholeNumberMayHaveAFraction(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	r := c.call("run", args{"targets": "here", "command": "printf '1\\n2\\n3\\n'", "output": args{"head": json.Number("2.0")}, "wait_s": json.Number("2e1")})
	require.Nil(t, r.Error, r.Raw)
	assert.Contains(t, r.Text, "1\n2\n")
	assert.NotContains(t, r.Text, "3\n")
}

func TestArgumentsThatAreNoObjectAreSaidToBeNone(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	for raw, want := range map[string]string{
		`[]`: "the arguments must be an object, and are an array", `"x"`: "the arguments must be an object, and are a string",
		`5`: "the arguments must be an object",
	} {
		r := c.callWith(t.Context(), &mcp.CallToolParams{Name: "hosts_list", Arguments: json.RawMessage(raw)})
		require.NotNil(t, r.Error, raw)
		assert.Equal(t, want, r.Error.Message)
	}
}

func TestStateThatIsOldIsExplained(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	require.Equal(t, "ok", c.exec(id, "export FOO=1").Status)
	c.exec(id, "trap '' INT TERM URG; export FOO=2; while :; do :; done", args{"timeout_s": 0.1})
	r := c.exec(id, "echo $FOO")
	assert.NotContains(t, r.Raw, `"stale"`)
	assert.Contains(t, r.Text, "the shell was restarted")
	assert.Contains(t, r.Note, "exported variables and umask are those from before it")
}
