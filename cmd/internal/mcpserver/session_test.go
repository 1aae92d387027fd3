package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// places are a local host and one behind OpenSSH's own server, as p.host.
func places(t *testing.T, f func(t *testing.T, p place)) {
	t.Run("local", func(t *testing.T) { f(t, newPlace(t, here, "")) })
	t.Run("sshd", func(t *testing.T) {
		p := newPlace(t, sshdInventory(sessiontest.OpenSSHD(t)), "")
		p.host = "sshd"
		f(t, p)
	})
}

func sshdInventory(s *sessiontest.SSHD) string {
	return fmt.Sprintf("version: 1\nhosts:\n  - {name: sshd, ssh_config: %q, tier: dev}\n", s.Config)
}

func TestASessionKeepsItsState(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		c := p.start(t, nil, "--allow-all")
		dir := t.TempDir()
		r := c.call("session_open", args{"host": p.host, "name": "build", "cwd": dir, "env": args{"GREETING": "hello world"}, "shell": "sh"})
		require.Nil(t, r.Error, "%+v", r.Error)
		assert.Equal(t, dir, r.CWD)
		assert.Equal(t, "sh", r.Shell)
		assert.Equal(t, "hello world\n", c.exec("build", `echo "$GREETING"`).Stdout)
		require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
		r = c.exec("build", "cd sub && export A=1; f() { echo f$A; }")
		assert.Equal(t, "ok", r.Status)
		assert.Equal(t, filepath.Join(dir, "sub"), r.CWD)
		r = c.exec("build", "f; pwd")
		assert.Equal(t, "f1\n"+filepath.Join(dir, "sub")+"\n", r.Stdout)
		assert.Contains(t, r.Text, "data from "+p.host+":\n")

		r = c.exec("build", "echo no >&2; exit 7")
		assert.False(t, r.IsError, "a command that fails is a result")
		assert.Equal(t, "exit", r.Status)
		assert.Equal(t, 7, *r.ExitCode)
		assert.Equal(t, "no\n", r.Stderr)
		r = c.exec("build", "echo o; echo e >&2", args{"stderr": "merged"})
		assert.Equal(t, "o\ne\n", r.Stdout)

		r = c.call("session_close", args{"session_id": "build", "reset": true})
		assert.True(t, r.Reset)
		r = c.exec("build", "pwd; f")
		assert.Equal(t, filepath.Join(dir, "sub")+"\n", r.Stdout)
		assert.Equal(t, 127, *r.ExitCode)
		assert.True(t, c.call("session_close", args{"session_id": "build"}).Closed)
	})
}

func TestALongCommandIsAHandle(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		c := p.start(t, nil, "--allow-all")
		id := c.open(p.host)
		gate := fifo(t)
		r := c.exec(id, "echo first; read x <"+gate+"; echo second", args{"wait_s": 0})
		require.Nil(t, r.Error)
		assert.Equal(t, "running", r.State)
		assert.Empty(t, r.Status)
		c.call("session_output", args{"exec_id": r.Exec, "offset": 0}) // waits for some
		assert.Equal(t, "first\n", r.Stdout+c.call("session_output", args{"exec_id": r.Exec, "wait_s": 0}).Stdout, "what is new")
		assert.Contains(t, r.Text, "session_output with exec_id "+r.Exec+" waits for it")

		busy := c.exec(id, "echo never")
		assert.Equal(t, "busy", busy.Error.Code)
		assert.Equal(t, r.Exec, busy.Error.Exec)
		assert.True(t, busy.Error.Retriable)
		assert.True(t, busy.IsError)

		open(t, gate, "go\n")
		for _, by := range []args{{"exec_id": r.Exec}, {"session_id": id}} {
			by["wait_s"] = 30
			again := c.call("session_output", by)
			assert.Equal(t, "done", again.State)
			assert.Equal(t, "first\nsecond\n", again.Stdout)
			assert.Equal(t, r.Exec, again.Exec)
		}
		assert.Equal(t, "after\n", c.exec(id, "echo after").Stdout)
	})
}

func TestACommandIsStoppedWhenItsTimeIsUp(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, "echo x; sleep 60", args{"timeout_s": 0.3})
	assert.Equal(t, "timeout", r.Status)
	assert.Equal(t, "INT", r.StoppedBy)
	assert.Equal(t, "timeout", r.Error.Code)
	assert.Equal(t, "x\n", r.Stdout)
}

func TestCancellingACallStopsItsCommand(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		c := p.start(t, nil, "--allow-all")
		id := c.open(p.host)
		gate := fifo(t)
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "session_exec", Arguments: args{
				"session_id": id, "command": "echo started >" + gate + "; sleep 1000"}})
			stopped <- err
		}()
		read(t, gate)
		cancel()
		require.Error(t, <-stopped)
		r := c.call("session_output", args{"session_id": id, "wait_s": 30})
		assert.Equal(t, "canceled", r.Status)
		assert.NotEmpty(t, r.StoppedBy)
		assert.Equal(t, "on\n", c.exec(id, "echo on").Stdout)
	})
}

func TestCancellingALookStopsNothing(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	gate := fifo(t)
	r := c.exec(id, "read x <"+gate+"; echo done", args{"wait_s": 0})
	require.Equal(t, "running", r.State)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "session_output", Arguments: args{"session_id": id}})
	require.Error(t, err)
	open(t, gate, "\n")
	assert.Equal(t, "done\n", c.call("session_output", args{"session_id": id}).Stdout)
}

func TestTheClientIsToldHowItGoes(t *testing.T) {
	told := make(chan *mcp.ProgressNotificationParams, 100)
	c := newPlace(t, here, "").start(t, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params },
	}, "--allow-all")
	id := c.open("here")
	gate := fifo(t)
	p := &mcp.CallToolParams{Name: "session_exec", Arguments: args{"session_id": id, "command": "echo abc; read x <" + gate}}
	p.SetProgressToken("tok")
	done := make(chan answer, 1)
	go func() { done <- c.callWith(context.Background(), p) }()
	n := <-told
	assert.Equal(t, "tok", n.ProgressToken)
	assert.Greater(t, n.Progress, 0.5)
	assert.Contains(t, n.Message, "here: running for 1s, 4 bytes so far")
	open(t, gate, "\n")
	assert.Equal(t, "ok", (<-done).Status)
}

func TestOneRequestRunsOnce(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	file := filepath.Join(t.TempDir(), "f")
	first := c.exec(id, "echo x >>"+file, args{"request_id": "r1"})
	second := c.exec(id, "echo x >>"+file, args{"request_id": "r1"})
	assert.Equal(t, first.Exec, second.Exec)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text))
	r := c.exec(id, "echo other", args{"request_id": "r1"})
	assert.Equal(t, "conflict", r.Error.Code)
	assert.False(t, r.Error.Retriable)
}

func TestOutputIsBoundedAndPaged(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, "seq 1 10000")
	assert.EqualValues(t, 48894, r.StdoutBytes)
	assert.True(t, strings.HasPrefix(r.Stdout, "1\n2\n"))
	assert.True(t, strings.HasSuffix(r.Stdout, "9999\n10000\n"))
	assert.EqualValues(t, 48894-8192, r.Omitted["stdout"])
	assert.Positive(t, r.CutAt["stdout"])
	assert.Contains(t, r.Stdout, fmt.Sprintf("[… %d bytes omitted, from offset %d …]", r.Omitted["stdout"], r.CutAt["stdout"]))

	var all strings.Builder
	for at := int64(0); ; {
		p := c.call("session_output", args{"exec_id": r.Exec, "offset": at})
		require.NotNil(t, p.Page, p.Raw)
		require.Empty(t, p.Page.Base64)
		all.WriteString(p.Page.Text)
		if p.Page.End {
			break
		}
		require.Greater(t, p.Page.Next, at)
		at = p.Page.Next
	}
	assert.Equal(t, 48894, all.Len())

	r = c.exec(id, "seq 1 10000", args{"output": args{"grep": "^777"}})
	assert.EqualValues(t, 11, r.Matched["stdout"])
	assert.Contains(t, r.Stdout, "777\n")
	r = c.exec(id, "seq 1 10000", args{"output": args{"head": 2}})
	assert.Contains(t, r.Stdout, "1\n2\n[… 48890 bytes omitted, from offset 4 …]")
	r = c.exec(id, "seq 1 10000; seq 1 10000 >&2", args{"output": args{"max_bytes": 1 << 20}})
	assert.Less(t, len(r.Stdout)+len(r.Stderr), 33<<10)
	r = c.exec(id, "echo", args{"output": args{"grep": "("}})
	assert.Equal(t, "invalid", r.Error.Code)
}

func TestTextForAModelIsCleaned(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, `printf '\033[31mred\033[0m 10%%\r100%%\342\200\213\n'`)
	assert.Equal(t, "100%10%\n", strings.ReplaceAll(r.Stdout, "red ", ""))
	assert.Positive(t, r.Cleaned["stdout"])
	p := c.call("session_output", args{"exec_id": r.Exec, "offset": 0})
	assert.NotEmpty(t, p.Page.Base64, "the exact bytes")
	r = c.exec(id, `printf '\000\001\377\376\375\374'`)
	assert.Empty(t, r.Stdout)
	assert.Equal(t, []string{"stdout"}, r.Binary)
}

func TestSecretsAreTakenOut(t *testing.T) {
	p := newPlace(t, here, "")
	c := p.start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, "export API_TOKEN=hunter2hunter2; echo $API_TOKEN; echo $API_TOKEN | base64")
	assert.NotContains(t, r.Raw, "hunter2")
	assert.NotContains(t, r.Raw, "aHVudGVyMmh1bnRlcjI")
	assert.Positive(t, r.Redacted["token"])
	assert.Contains(t, r.Stdout, "«redacted:token:")
	mark := strings.TrimSpace(strings.SplitN(r.Stdout, "\n", 2)[0])
	r = c.exec(id, "echo '"+mark+"'")
	assert.Equal(t, "invalid", r.Error.Code)
	require.NoError(t, c.Close())
	var trail strings.Builder
	files, err := filepath.Glob(filepath.Join(p.home, ".local/state/fairlead/audit/*"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		trail.Write(b)
	}
	assert.Contains(t, trail.String(), "agent/mcp")
	assert.NotContains(t, trail.String(), "hunter2")
}

func TestMistakesHaveCodes(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	for name, tt := range map[string]struct {
		tool string
		args args
		code string
	}{
		"no such session":     {"session_exec", args{"session_id": "s_none", "command": "id"}, "not_found"},
		"no such command":     {"session_output", args{"exec_id": "e_none"}, "not_found"},
		"no such run":         {"session_output", args{"exec_id": "r_none"}, "not_found"},
		"no such host":        {"session_open", args{"host": "nowhere"}, "not_found"},
		"outside":             {"session_open", args{"host": "root@nowhere"}, "denied"},
		"two in a variable":   {"session_open", args{"host": "here", "env": args{"LANG=C PATH": "/tmp"}}, "invalid"},
		"a NUL in a value":    {"session_open", args{"host": "here", "env": args{"LANG": "C\x00"}}, "invalid"},
		"a sandbox":           {"session_open", args{"host": "here", "sandbox": "/tmp"}, "unsupported"},
		"a strange shell":     {"session_open", args{"host": "here", "shell": "fish"}, "invalid"},
		"a program as shell":  {"session_open", args{"host": "here", "shell": "/bin/bash"}, "invalid"},
		"a list":              {"run", args{"targets": "^/etc/hosts", "command": "id"}, "invalid"},
		"no host":             {"run", args{"targets": "nowhere*", "command": "id"}, "not_found"},
		"nothing to run":      {"run", args{"targets": "here"}, "invalid"},
		"two things to run":   {"run", args{"targets": "here", "command": "id", "program": "id"}, "invalid"},
		"become":              {"run", args{"targets": "here", "command": "id", "become": "a b"}, "invalid"},
		"becomes uninvited":   {"run", args{"targets": "here", "command": "id", "become": "root"}, "denied"},
		"two of an output":    {"session_output", args{"session_id": "s_x", "exec_id": "e_x"}, "invalid"},
		"a page of many":      {"session_output", args{"exec_id": "r_x", "offset": 3}, "invalid"},
		"a missing argument":  {"session_exec", args{"session_id": "x"}, "invalid"},
		"a strange argument":  {"session_exec", args{"session_id": "x", "command": "id", "colour": "red"}, "invalid"},
		"a strange word":      {"session_exec", args{"session_id": "x", "command": "id", "stderr": "both"}, "invalid"},
		"a negative time":     {"session_exec", args{"session_id": "x", "command": "id", "wait_s": -1}, "invalid"},
		"no time":             {"session_exec", args{"session_id": "x", "command": "id", "timeout_s": 0}, "invalid"},
		"a broken expression": {"session_input", args{"session_id": "x", "wait_for": "("}, "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.call(tt.tool, tt.args)
			require.NotNil(t, r.Error, r.Raw)
			assert.Equal(t, tt.code, r.Error.Code, r.Error.Message)
			assert.True(t, r.IsError)
			assert.NotEmpty(t, r.Error.Message)
		})
	}
	id := c.open("here")
	r := c.call("session_input", args{"session_id": id, "text": "x"})
	assert.Equal(t, "not_running", r.Error.Code)
	r = c.exec(c.open("here"), "rm -rf /")
	require.NotNil(t, r.Error)
	assert.NotContains(t, r.Text, "denied: denied", "once is enough")
	assert.NotContains(t, r.Error.Message, "denied:")
	r = c.call("session_output", args{"session_id": id})
	assert.Equal(t, "not_found", r.Error.Code)
}

// Some clients give what they leave out as null.
func TestNullIsAnArgumentLeftOut(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	r := c.call("look", args{"targets": "here", "command": "echo a", "cwd": nil, "wait_s": nil, "output": args{"grep": nil, "head": nil}, "args": nil})
	require.Nil(t, r.Error, r.Raw)
	assert.Equal(t, "done", r.State)
	r = c.call("look", args{"targets": "here", "command": "echo a", "output": nil})
	require.Nil(t, r.Error, r.Raw)
	r = c.call("look", args{"targets": nil, "command": "echo a"})
	require.NotNil(t, r.Error)
	assert.Equal(t, "invalid", r.Error.Code)
	assert.NotContains(t, r.Error.Message, "reflect")
}

func TestOutputIsSearchedAsItIsShown(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	r := c.exec(c.open("here"), `printf '\033[31mred\033[0m b\nr\nplain red b\n10%%\r20%%\n'`, args{"output": args{"grep": "^(red b|20%)$"}})
	assert.Equal(t, "red b\n20%\n", r.Stdout, r.Raw)
	assert.Equal(t, map[string]int64{"stdout": 2}, r.Matched)
}

func TestTheEndOfASessionTellsWhatItLeaves(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	begun := fifo(t)
	r := c.exec(id, "nohup sh -c 'echo >"+begun+"; exec sleep 1000' >/dev/null 2>&1 & read x <"+begun+"; echo $!", args{})
	pid := strings.TrimSpace(r.Stdout)
	closed := c.call("session_close", args{"session_id": id})
	number, err := strconv.Atoi(pid)
	require.NoError(t, err)
	assert.NoError(t, syscall.Kill(number, syscall.SIGKILL), "it was to stay")
	assert.Regexp(t, `"left_running":\["(sh|sleep) \(process `+pid+`\)"\]`, closed.Raw)
}

func TestAClosedSessionIsSaidToBeOnce(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	c.call("session_close", args{"session_id": id})
	r := c.exec(id, "true")
	require.NotNil(t, r.Error)
	assert.Equal(t, "closed", r.Error.Code)
	assert.Equal(t, "session "+id+" is closed: it was closed", r.Error.Message)
}

func TestToolsAreNamedAndAnnotated(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	readOnly := map[string]bool{
		"hosts_list": true, "look": true, "run": false, "session_open": false, "session_exec": false,
		"session_input": false, "session_output": true, "session_close": false,
		"file_read": true, "file_write": false, "file_edit": false, "file_transfer": false,
		"job_start": false, "job_output": true, "job_stop": false,
	}
	assert.Len(t, list.Tools, len(readOnly))
	assert.ElementsMatch(t, slices.Collect(maps.Keys(readOnly)), rules.Tools(), "what a policy may name")
	for _, tool := range list.Tools {
		want, ok := readOnly[tool.Name]
		assert.True(t, ok, tool.Name)
		assert.Equal(t, want, tool.Annotations.ReadOnlyHint, tool.Name)
		if !want {
			require.NotNil(t, tool.Annotations.DestructiveHint)
			assert.Equal(t, tool.Name != "session_open", *tool.Annotations.DestructiveHint, tool.Name)
		}
		assert.NotNil(t, tool.OutputSchema, tool.Name)
	}
	schema, err := json.Marshal(list)
	require.NoError(t, err)
	t.Logf("the tools take %d bytes", len(schema))
}
