package mcp_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// user is an agent's user, whose client asks in dialogs.
type user struct {
	asked   chan string
	answers chan *sdk.ElicitResult
}

func newUser() *user {
	return &user{asked: make(chan string, 10), answers: make(chan *sdk.ElicitResult, 10)}
}

// with starts "fairlead mcp" for a client that can ask this user. It speaks the last version of the protocol in which a
// server asks by itself.
func (u *user) with(p *place, args ...string) *agent {
	p.t.Helper()
	cmd := p.command()
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `"$@"; exit`, "sh", p.self, "mcp"}, args...)
	s, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			u.asked <- r.Params.Message
			select {
			case a := <-u.answers:
				return a, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}).Connect(context.Background(), &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(p.t, err)
	p.t.Cleanup(func() { s.Close() })
	return &agent{p.t, s}
}

var yes = &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}

// approvedOnRecord is who has said yes, and with what proof, one word each, in the order of the record.
func (p *place) approvedOnRecord() (all []string) {
	p.t.Helper()
	events, err := audit.Tail(filepath.Join(p.dir, ".local/state/fairlead/audit"), 1000)
	require.NoError(p.t, err)
	for _, e := range events {
		if e.Kind == audit.ApprovalResult && e.Status == "approved" {
			all = append(all, e.ApprovedBy+" "+e.ApprovalProof)
		}
	}
	return all
}

func TestThroughTheKeeperTooAYesInTheClientCountsAndProvesNobody(t *testing.T) {
	p := newPlace(t, here)
	u := newUser()
	a := u.with(p, "--as", "claude", "--elicit")
	id := a.open("")
	for _, tool := range []string{"session_exec", "run", "file_write"} {
		file := filepath.Join(p.dir, tool)
		in := args{"session_id": id, "command": "touch " + file, "reason": "for fun"}
		switch tool {
		case "run":
			in = args{"targets": "here", "command": "touch " + file}
		case "file_write":
			in = args{"host": "here", "path": file, "content": "x"}
		}
		u.answers <- yes
		in["wait_s"] = 50
		r := a.call(tool, in)
		require.Nil(t, r.Error, "%+v", r.Error)
		assert.Equal(t, "done", r.State)
		assert.FileExists(t, file)
		assert.Contains(t, <-u.asked, file)
	}
	assert.Equal(t, []string{"client/claude unproven", "client/claude unproven", "client/claude unproven"}, p.approvedOnRecord())
	mine, err := p.keeper().As("agent/claude").Sessions(t.Context())
	require.NoError(t, err)
	assert.Len(t, mine, 1, "it was the keeper that asked")
}

func TestThroughTheKeeperTooAnythingButAYesIsNoAnswer(t *testing.T) {
	p := newPlace(t, here)
	k := p.keeper()
	u := newUser()
	a := u.with(p, "--elicit")
	id := a.open("")
	for name, said := range map[string]*sdk.ElicitResult{
		"decline": {Action: "decline"}, "cancel": {Action: "cancel"}, "a no": {Action: "accept", Content: map[string]any{"approve": false}},
	} {
		file := filepath.Join(p.dir, strings.ReplaceAll(name, " ", "-"))
		u.answers <- said
		r := a.call("session_exec", args{"session_id": id, "command": "touch " + file, "wait_s": 0})
		require.Nil(t, r.Error, "%s: %+v", name, r.Error)
		q := p.ask(k)
		<-u.asked
		assert.Equal(t, "awaiting_approval", waits(t, a, r.Exec), name)
		assert.NoFileExists(t, file, name)
		code, _, errOut := p.run("approvals", "approve", q.ID, "--yes")
		require.Zero(t, code, "a person decides about %s: %s", name, errOut)
		assert.Equal(t, "ok", a.call("session_output", args{"exec_id": r.Exec, "wait_s": 50}).Status, name)
		assert.FileExists(t, file, name)
	}
	for _, by := range p.approvedOnRecord() {
		assert.True(t, strings.HasPrefix(by, "operator/"), by)
	}
}

func TestThroughTheKeeperTooWhatIsGraveOrLongIsNeverAskedInTheClient(t *testing.T) {
	p := newPlace(t, here)
	p.write(".config/fairlead/policy.yaml", "version: 1\nrules:\n  - {name: root, hosts: all, principals: [role=agent], classes: [privileged], verdict: ask, reason: a person decides}\n")
	k := p.keeper()
	u := newUser()
	a := u.with(p, "--elicit")
	id := a.open("")
	for class, command := range map[string]string{
		"dangerous":  "systemctl stop sshd.service",
		"privileged": "sudo -n true",
		"write":      "echo " + strings.Repeat("x", 1100) + " >" + p.dir + "/long",
	} {
		r := a.call("session_exec", args{"session_id": id, "command": command, "wait_s": 0})
		require.Nil(t, r.Error, "%s: %+v", class, r.Error)
		q := p.ask(k)
		assert.Equal(t, class, q.Class)
		code, _, errOut := p.run("approvals", "reject", q.ID, "--reason", "no")
		require.Zero(t, code, errOut)
		r = a.call("session_output", args{"exec_id": r.Exec, "wait_s": 50})
		require.NotNil(t, r.Error, class)
		assert.Equal(t, "rejected", r.Error.Code, class)
	}
	u.answers <- yes
	r := a.call("session_exec", args{"session_id": id, "command": "touch " + p.dir + "/short", "wait_s": 50})
	assert.Equal(t, "ok", r.Status)
	assert.Contains(t, <-u.asked, "/short", "the first that was asked there")
	assert.Empty(t, u.asked)
}

func TestAYesInTheClientIsTooWeakWhereAProofIsNeeded(t *testing.T) {
	p := newPlace(t, "version: 1\nhosts:\n  - {name: here, transport: local, tier: prod}\n")
	code, screen := p.outside([]typed{{"A passphrase for the key of ada: ", "correct horse"}, {"The same again: ", "correct horse"}}, "approvals", "enroll", "--new", "--name", "ada")
	require.Zero(t, code, screen)
	k := p.keeper()
	u := newUser()
	a := u.with(p, "--elicit")
	u.answers <- yes
	r := a.call("session_exec", args{"session_id": a.open(""), "command": "touch " + p.dir + "/made", "wait_s": 0})
	require.Nil(t, r.Error, "%+v", r.Error)
	q := p.ask(k)
	<-u.asked
	assert.Equal(t, "awaiting_approval", waits(t, a, r.Exec))
	code, screen = p.outside([]typed{{"[y/N] ", "y"}, {"Passphrase of ada's key", "correct horse"}}, "approvals", "approve", q.ID)
	assert.Zero(t, code, screen)
	assert.Equal(t, "ok", a.call("session_output", args{"exec_id": r.Exec, "wait_s": 50}).Status)
	approved := p.approvedOnRecord()
	require.Len(t, approved, 1)
	assert.True(t, strings.HasSuffix(approved[0], " passphrase"), "%v", approved)
}

func TestWithoutTheOperatorsSwitchTheClientIsNotAsked(t *testing.T) {
	p := newPlace(t, here)
	k := p.keeper()
	u := newUser()
	a := u.with(p)
	r := a.call("session_exec", args{"session_id": a.open(""), "command": "touch " + p.dir + "/made", "wait_s": 0})
	require.Nil(t, r.Error, "%+v", r.Error)
	code, _, errOut := p.run("approvals", "approve", p.ask(k).ID, "--yes")
	require.Zero(t, code, errOut)
	assert.Equal(t, "ok", a.call("session_output", args{"exec_id": r.Exec, "wait_s": 50}).Status)
	assert.Empty(t, u.asked)

	p.env = append(p.env, "CLAUDECODE=1")
	code, _, errOut = p.run("mcp", "--elicit")
	assert.Equal(t, 2, code)
	assert.Contains(t, errOut, "--elicit is for a person to give")
}
