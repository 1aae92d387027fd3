package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"
)

// stops ends the keeper that runs.
func (p *place) stops() {
	p.t.Helper()
	require.NoError(p.t, reach.Stop(p.t.Context(), p.places))
}

func TestAnAgentOutlivesItsKeeper(t *testing.T) {
	for _, version := range []string{"", "2025-11-25", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			p := newPlace(t, here)
			cmd := p.command()
			cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `"$@"; exit`, "sh", p.self, "mcp", "--as", "claude"}
			s, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).
				Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(t, err)
			t.Cleanup(func() { s.Close() })
			a := &agent{t, s}
			id := a.open("work")
			for range 2 {
				p.stops()
				r := a.call("session_exec", args{"session_id": id, "command": "pwd"})
				require.NotNil(t, r.Error, "sessions end with their keeper")
				assert.Contains(t, []string{"closed", "not_found"}, r.Error.Code)
				id = a.open("work")
				assert.Equal(t, "ok", a.call("session_exec", args{"session_id": id, "command": "pwd"}).Status)
			}
			tools, err := s.ListTools(t.Context(), nil)
			require.NoError(t, err)
			assert.NotEmpty(t, tools.Tools)
			mine, err := p.keeper().As("agent/claude").Sessions(t.Context())
			require.NoError(t, err)
			require.Len(t, mine, 1)
			assert.Equal(t, id, mine[0].ID)
		})
	}
}

// A keeper that is killed answers nothing any more.
func TestACallWhoseKeeperIsKilledIsLostAndTheNextOneIsServed(t *testing.T) {
	p := newPlace(t, here)
	p.write(".config/fairlead/policy.yaml", "version: 1\nrules:\n  - {name: all, hosts: all, principals: [\"role=agent\"], classes: [read-only, write, unknown], verdict: allow}\n")
	fifo := filepath.Join(p.dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	a := p.stdio()
	id := a.open("work")
	h, err := p.keeper().Health(t.Context())
	require.NoError(t, err)
	began := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(fifo)
		began <- err
		_ = syscall.Kill(h.PID, syscall.SIGKILL)
	}()
	r := a.call("session_exec", args{"session_id": id, "command": "echo on > " + fifo + "; sleep 1000", "wait_s": 50})
	require.NoError(t, <-began)
	require.NotNil(t, r.Error)
	assert.Equal(t, "lost", r.Error.Code)
	assert.Contains(t, r.Error.Message, "outcome of this call is unknown")
	a.open("work")
}

// bare is a client that sends what a library would not.
type bare struct {
	t     *testing.T
	in    io.Writer
	out   *bufio.Scanner
	heard []heard // and not asked for yet
}

// heard is a message of the server.
type heard struct {
	ID     json.RawMessage
	Method string
	Params struct{ RequestID json.RawMessage }
	text   string
}

func (p *place) bare(t *testing.T, args ...string) *bare {
	cmd := p.command()
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `"$@"; exit`, "sh", p.self, "mcp"}, args...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	late := time.AfterFunc(5*patience, func() { out.Close() }) // nothing more is heard then
	t.Cleanup(func() {
		late.Stop()
		in.Close()
		assert.NoError(t, cmd.Wait())
	})
	return &bare{t: t, in: in, out: bufio.NewScanner(out)}
}

func (b *bare) says(message string) {
	b.t.Helper()
	_, err := io.WriteString(b.in, message+"\n")
	require.NoError(b.t, err)
}

// hears returns the next message that fits. Others are kept: they may come in any order.
func (b *bare) hears(what string, fits func(heard) bool) heard {
	b.t.Helper()
	if i := slices.IndexFunc(b.heard, fits); i >= 0 {
		m := b.heard[i]
		b.heard = slices.Delete(b.heard, i, i+1)
		return m
	}
	for b.out.Scan() {
		m := heard{text: b.out.Text()}
		require.NoError(b.t, json.Unmarshal(b.out.Bytes(), &m), "%s", m.text)
		if fits(m) {
			return m
		}
		b.heard = append(b.heard, m)
	}
	require.Fail(b.t, "it never comes: "+what, "%v %q", b.out.Err(), b.heard)
	return heard{}
}

// answered returns the answer to a request.
func (b *bare) answered(id string) string {
	b.t.Helper()
	return b.hears("the answer to "+id, func(m heard) bool { return m.Method == "" && string(m.ID) == id }).text
}

// withdrawn waits until a request of the server is over.
func (b *bare) withdrawn(id json.RawMessage) {
	b.t.Helper()
	b.hears("the end of "+string(id), func(m heard) bool {
		return m.Method == "notifications/cancelled" && string(m.Params.RequestID) == string(id)
	})
}

func TestALateAnswerCountsForNoOtherKeeper(t *testing.T) {
	p := newPlace(t, here)
	b := p.bare(t, "--as", "claude", "--elicit")
	b.says(`{"jsonrpc":"2.0","id":"h\u00e9llo","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"bare","version":"1"}}}`)
	b.answered(`"héllo"`)
	b.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	run := func(id int, file string) json.RawMessage {
		b.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run","arguments":{"targets":"here","command":"touch %s","wait_s":50}}}`, id, filepath.Join(p.dir, file)))
		return b.hears("a question", func(m heard) bool { return m.Method == "elicitation/create" }).ID
	}
	accept := func(id json.RawMessage) {
		b.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"approve":true}}}`, id))
	}
	first := run(1, "first")
	p.stops()
	b.withdrawn(first)
	b.answered("1")
	second := run(2, "second")
	assert.NotEqual(t, string(first), string(second))
	accept(first)
	code, _, errOut := p.run("approvals", "reject", p.ask(p.keeper()).ID, "--reason", "no")
	require.Zero(t, code, errOut)
	b.withdrawn(second) // under the id that the client knows
	assert.Contains(t, b.answered("2"), "denied")
	third := run(3, "third")
	accept(second)
	accept(third)
	assert.Contains(t, b.answered("3"), `"ok"`)
	assert.NoFileExists(t, filepath.Join(p.dir, "first"))
	assert.NoFileExists(t, filepath.Join(p.dir, "second"))
	assert.FileExists(t, filepath.Join(p.dir, "third"))
	assert.Equal(t, []string{"client/claude unproven"}, p.approvedOnRecord())
}

// A batch is answered, whichever keeper serves it, or none any more; so is what is no message.
func TestNothingThatIsSentAfterAKeepersEndWaits(t *testing.T) {
	p := newPlace(t, here)
	b := p.bare(t)
	b.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"bare","version":"1"}}}`)
	b.answered("0")
	b.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.stops()
	b.says(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`)
	b.answered("1")
	b.answered("2")
	p.stops()
	b.says(`{"jsonrpc":`)
	b.hears("a refusal", func(m heard) bool { return strings.Contains(m.text, `"error"`) && string(m.ID) == "null" })
	b.says(`[{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"run","arguments":{"targets":"here","command":"touch ` + p.dir + `/never","wait_s":50}}}]`)
	p.ask(p.keeper())
	p.stops()
	b.answered("4")
	assert.NoFileExists(t, p.dir+"/never")
}

func TestAnAgentWithoutAKeeperIsToldSoAndTriesAgain(t *testing.T) {
	p := newPlace(t, here)
	a := p.stdio()
	a.open("work")
	p.stops()
	policy := p.write(".config/fairlead/policy.yaml", "version: 1\nrules: nonsense\n") // so that none can be started
	_, err := a.ListTools(context.Background(), nil)
	require.ErrorContains(t, err, "no other serves the agent")
	require.ErrorContains(t, err, "policy.yaml:2")
	r := a.call("hosts_list", args{})
	require.NotNil(t, r.Error)
	assert.Equal(t, "unreachable", r.Error.Code)
	require.NoError(t, os.Remove(policy))
	a.open("work")
}
