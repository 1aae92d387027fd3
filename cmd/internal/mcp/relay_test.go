package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestAnAgentIsServedByTheKeeper(t *testing.T) {
	p := newPlace(t, here)
	a := p.stdio("--as", "claude")
	id := a.open("")
	r := a.call("session_exec", args{"session_id": id, "command": "pwd"})
	require.Nil(t, r.Error)
	assert.Equal(t, "ok", r.Status)

	k := p.keeper()
	mine, err := k.As("agent/claude").Sessions(t.Context())
	require.NoError(t, err)
	require.Len(t, mine, 1, "it is the keeper's session")
	assert.Equal(t, id, mine[0].ID)
	others, err := k.As("agent/mcp").Sessions(t.Context())
	require.NoError(t, err)
	assert.Empty(t, others)

	wait(t, "a request and a result on record", func() bool {
		events, err := audit.Tail(filepath.Join(p.dir, ".local/state/fairlead/audit"), 100)
		require.NoError(t, err)
		n, exec := 0, ""
		for _, e := range events {
			if e.Command == "pwd" {
				exec = e.ID
			}
			if exec != "" && e.ID == exec {
				n++
				assert.Equal(t, "agent/claude", e.Principal)
				assert.Equal(t, "tester 1", e.Client, "the label is on the %s", e.Kind)
			}
		}
		return n == 2
	})
}

func TestWhatAnAgentHasRunningEndsWithItAndNamedSessionsStay(t *testing.T) {
	p := newPlace(t, here)
	k := p.keeper().As("agent/mcp")
	a := p.stdio()
	a.open("")
	named := a.open("work")
	r := a.call("session_exec", args{"session_id": named, "command": "cd /tmp && sleep 1000", "wait_s": 0})
	require.Nil(t, r.Error)
	require.Equal(t, "awaiting_approval", waits(t, a, r.Exec), "sleep is known to nobody")
	require.NoError(t, a.Close())

	wait(t, "the question is gone", func() bool {
		list, err := k.As("").Approvals(t.Context())
		require.NoError(t, err)
		return len(list) == 0
	})
	wait(t, "only the session with a name is left", func() bool {
		list, err := k.Sessions(t.Context())
		require.NoError(t, err)
		return len(list) == 1 && list[0].ID == named
	})
	a = p.stdio()
	again := a.call("session_exec", args{"session_id": "work", "command": "echo $0 >/dev/null; pwd"})
	require.Nil(t, again.Error)
	assert.Equal(t, "ok", again.Status)
	assert.Equal(t, "canceled", a.call("session_output", args{"exec_id": r.Exec}).Status)
}

// waits returns the state of a command once its question is asked.
func waits(t *testing.T, a *agent, exec string) (state string) {
	t.Helper()
	wait(t, "the question", func() bool {
		state = a.call("session_output", args{"exec_id": exec, "wait_s": 0}).State
		return state != "running"
	})
	return state
}

func TestTheProgramThatHostsAnAgentApprovesNothing(t *testing.T) {
	p := newPlace(t, here)
	k := p.keeper()
	// The shell that starts the server asks the program to approve, before it ends.
	asks := filepath.Join(p.dir, "asked")
	require.NoError(t, syscall.Mkfifo(asks, 0o600))
	said := filepath.Join(p.dir, "said")
	cmd := p.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c",
		`(read -r id <"$2"; "$1" approvals approve "$id" --yes >"$3" 2>&1; "$1" approvals list >>"$3.list") & "$1" mcp; wait`, "sh", p.self, asks, said}
	a := connectCommand(t, cmd)
	r := a.call("session_exec", args{"session_id": a.open(""), "command": "touch " + p.dir + "/made", "wait_s": 0})
	require.Nil(t, r.Error)
	q := p.ask(k)
	assert.Equal(t, "agent/mcp", q.Principal)
	require.NoError(t, os.WriteFile(asks, []byte(q.ID+"\n"), 0o600))
	wait(t, "its answer", func() bool { _, err := os.Stat(said + ".list"); return err == nil })
	text, err := os.ReadFile(said)
	require.NoError(t, err)
	assert.Contains(t, string(text), "runs inside the program that hosts the requesting agent")
	assert.NoFileExists(t, p.dir+"/made")

	code, out, errOut := p.run("approvals", "approve", q.ID[:8], "--yes")
	assert.Equal(t, 0, code, errOut)
	assert.Contains(t, out, "approved "+q.ID)
	assert.Equal(t, "ok", a.call("session_output", args{"exec_id": r.Exec, "wait_s": 50}).Status)
	assert.FileExists(t, p.dir+"/made")
	code, _, errOut = p.run("approvals", "show", q.ID)
	assert.Equal(t, 5, code)
	assert.Contains(t, errOut, "approved by")
	code, _, errOut = p.run("approvals", "show", "a_none")
	assert.Equal(t, 2, code)
	assert.Contains(t, errOut, "no pending request has this id")
}

func TestQuestionsOfAllFacesWaitAtOnePlace(t *testing.T) {
	p := newPlace(t, here+"  - {name: there, transport: local, tier: dev}\n")
	k := p.keeper()
	a := p.stdio()
	a.call("run", args{"targets": "here,there", "command": "touch " + p.dir + "/x", "wait_s": 0})
	other := k.As("agent/script")
	s, err := other.Open(t.Context(), wire.Open{Host: "here"})
	require.NoError(t, err)
	_, err = other.Start(t.Context(), s.ID, wire.Run{Command: "touch " + p.dir + "/y"}, "")
	require.NoError(t, err)
	var group string
	wait(t, "both questions", func() bool {
		_, out, _ := p.run("approvals", "list", "--json")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		for _, line := range lines {
			var q struct{ ID, Principal, Host string }
			if json.Unmarshal([]byte(line), &q) == nil && q.Principal == "agent/mcp" {
				group = q.ID
			}
		}
		return len(lines) == 2 && group != ""
	})
	code, _, errOut := p.run("approvals", "show", "a_")
	assert.Equal(t, 2, code)
	assert.Contains(t, errOut, "several")
	code, out, errOut := p.run("approvals", "show", "--json", group)
	require.Equal(t, 0, code, errOut)
	var shown struct {
		Host  string
		Hosts []struct{ Name, Transport, Tier string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &shown))
	assert.Equal(t, "here,there", shown.Host)
	require.Len(t, shown.Hosts, 2)
	assert.Equal(t, "there", shown.Hosts[1].Name)
	assert.Equal(t, "local", shown.Hosts[1].Transport)
}

func TestWithoutAKeeperTheProgramServesByItself(t *testing.T) {
	p := newPlace(t, here)
	a := p.stdio("--keeper", "off")
	a.open("")
	assert.NoFileExists(t, p.places.Socket)
	code, _, errOut := p.run("mcp", "--allow-all")
	assert.Equal(t, 2, code)
	assert.Contains(t, errOut, "works without a keeper")
	assert.NoFileExists(t, p.places.Socket)
}

func TestARunOnOneHostSaysThatItWaitsForAPerson(t *testing.T) {
	p := newPlace(t, here)
	k := p.keeper()
	a := p.stdio()
	r := a.call("run", args{"targets": "here", "command": "touch " + p.dir + "/made", "wait_s": 0})
	require.Nil(t, r.Error)
	require.Equal(t, "awaiting_approval", waits(t, a, r.Run))
	p.answer(k, false, "no")
	r = a.call("session_output", args{"exec_id": r.Run, "wait_s": 50})
	assert.Equal(t, "done", r.State)
	assert.Equal(t, map[string]string{"denied": "here"}, r.Statuses)
}

func TestASignalWithdrawsAQuestion(t *testing.T) {
	p := newPlace(t, here)
	k := p.keeper()
	a := p.stdio()
	for _, signal := range []string{"INT", "KILL"} {
		id := a.open("")
		r := a.call("session_exec", args{"session_id": id, "command": "touch " + p.dir + "/made", "wait_s": 0})
		require.Nil(t, r.Error)
		p.ask(k)
		r = a.call("session_input", args{"session_id": id, "signal": signal})
		require.NotNil(t, r.Error)
		assert.Equal(t, "canceled", r.Error.Code, r.Error.Message)
		assert.Equal(t, "canceled", r.Status)
		wait(t, "no question", func() bool { all, err := k.Approvals(t.Context()); require.NoError(t, err); return len(all) == 0 })
		assert.Equal(t, "ok", a.call("session_exec", args{"session_id": id, "command": "pwd"}).Status, "it is not busy any more")
	}
}

func TestASandboxThatIsNotThereIsNotFound(t *testing.T) {
	p := newPlace(t, here)
	p.keeper()
	r := p.stdio().call("session_open", args{"host": "here", "sandbox": "nowhere"})
	require.NotNil(t, r.Error)
	assert.Equal(t, "not_found", r.Error.Code)
	assert.NotContains(t, r.Error.Message, "/agent/")
}
