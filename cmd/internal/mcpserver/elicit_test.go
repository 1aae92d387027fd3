package mcpserver_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// user is a client's user, who is asked through dialogs.
type user struct {
	asked   chan string
	answers chan *mcp.ElicitResult
}

func newUser() (*user, *mcp.ClientOptions) {
	u := &user{asked: make(chan string, 10), answers: make(chan *mcp.ElicitResult, 10)}
	return u, &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		u.asked <- r.Params.Message
		select {
		case a := <-u.answers:
			return a, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

var yes = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}

// Where a command of the inventory yields the shell, that command decides where it starts.
func TestAQuestionSaysWhereAShellStarts(t *testing.T) {
	in := within(t, newPlace(t, here+"  - {name: box, transport: command, command: [sh], tier: dev}\n", ""), true)
	u, opts := newUser()
	c := in.connect(t, opts)
	for host, want := range map[string]string{"here": "in the account's home directory:", "box": "in the directory where its shells start:"} {
		u.answers <- yes
		r := c.call("run", args{"targets": host, "command": "touch f; rm f; pwd"})
		require.Nil(t, r.Error, r.Raw)
		assert.Contains(t, <-u.asked, want)
		if host == "here" {
			home, err := os.UserHomeDir()
			require.NoError(t, err)
			assert.Contains(t, r.Text, home+"\n")
		}
	}
}

func TestAYesInTheClientCountsAndProvesNobody(t *testing.T) {
	in := newInside(t, true)
	u, opts := newUser()
	c := in.connect(t, opts)
	dir := t.TempDir()
	id := c.open("here")
	for _, tool := range []string{"session_exec", "run", "file_write"} {
		u.answers <- yes
		file := filepath.Join(dir, tool)
		a := args{"session_id": id, "command": "touch " + file, "reason": "for\x1b[2J fun"}
		switch tool {
		case "run":
			a = args{"targets": "here", "command": "touch " + file}
		case "file_write":
			a = args{"host": "here", "path": file, "content": "x"}
		}
		r := c.call(tool, a)
		require.Nil(t, r.Error, r.Raw)
		assert.Equal(t, "done", r.State, r.Raw)
		assert.FileExists(t, file)
		message := <-u.asked
		assert.Contains(t, message, file)
		assert.NotContains(t, message, "in :")
		assert.Equal(t, tool == "run", strings.Contains(message, "in the account's home directory"), message)
		assert.NotContains(t, message, "\x1b")
	}
	n := 0
	for _, e := range in.book.all() {
		if e.Kind == audit.ApprovalResult {
			assert.Equal(t, "approved client/test unproven", strings.Join([]string{e.Status, e.ApprovedBy, e.ApprovalProof}, " "))
			n++
		}
	}
	assert.Equal(t, 3, n)
}

func TestAnythingButAYesInTheClientIsNoAnswer(t *testing.T) {
	for name, a := range map[string]*mcp.ElicitResult{
		"decline":          {Action: "decline"},
		"cancel":           {Action: "cancel"},
		"a no":             {Action: "accept", Content: map[string]any{"approve": false}},
		"nothing said":     {Action: "accept"},
		"another shape":    {Action: "accept", Content: map[string]any{"approve": "true"}},
		"a yes to nothing": {Action: "decline", Content: map[string]any{"approve": true}},
		"silence":          nil,
	} {
		t.Run(name, func(t *testing.T) {
			in := newInside(t, true)
			u, opts := newUser()
			c := in.connect(t, opts)
			file := filepath.Join(t.TempDir(), "f")
			if a != nil {
				u.answers <- a
			}
			r := c.exec(c.open("here"), "touch "+file, args{"wait_s": 0})
			p := in.waiting(t)
			<-u.asked
			assert.Equal(t, "awaiting_approval", c.call("session_output", args{"exec_id": r.Exec, "wait_s": 0.05}).State)
			assert.NoFileExists(t, file)
			in.answer(t, p, true)
			assert.Equal(t, "ok", c.call("session_output", args{"exec_id": r.Exec}).Status, "a person decides")
		})
	}
}

func TestWhatIsGraveOrLongIsNeverAskedInTheClient(t *testing.T) {
	in := newInside(t, true)
	u, opts := newUser()
	c := in.connect(t, opts)
	dir := t.TempDir()
	for _, command := range []string{
		"systemctl stop sshd.service",                           // dangerous
		"echo " + strings.Repeat("x", 1100) + " >" + dir + "/f", // long
	} {
		id := c.open("here")
		u.answers <- yes
		r := c.exec(id, command, args{"wait_s": 0})
		require.Nil(t, r.Error, r.Raw)
		p := in.waiting(t)
		assert.Equal(t, "awaiting_approval", c.call("session_output", args{"exec_id": r.Exec, "wait_s": 0.05}).State)
		in.answer(t, p, false)
		assert.Equal(t, "rejected", c.call("session_output", args{"exec_id": r.Exec}).Error.Code)
		<-u.answers
	}
	assert.Empty(t, u.asked)
}

// Questions about several hosts are of no exec that would tell them apart.
func TestAClientIsAskedAboutItsOwnRunAlone(t *testing.T) {
	begins, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	in := under(t, newPlace(t, devAndProd, ""), rules.New(rules.Config{}), approval.Config{Approvers: func() ([]approval.Approver, error) {
		once.Do(func() {
			begins <- struct{}{} // the run's question, which is about prod, comes to the desk
			<-goOn
		})
		return nil, nil
	}}, true)
	u, opts := newUser()
	c := in.connect(t, opts)
	file := filepath.Join(t.TempDir(), "f")
	u.answers <- yes
	r := c.call("run", args{"targets": "d1,p1", "command": "touch " + file, "wait_s": 0})
	<-begins
	other, err := in.desk.Ask(policy.Question{
		Principal: "agent/other", Command: "rm -rf /srv", Host: hosts.Host{Name: "x[1-2]", Tier: "dev"}, Hosts: []hosts.Host{{Name: "x1", Tier: "dev"}, {Name: "x2", Tier: "dev"}},
		Decision: policy.Decision{Verdict: policy.Ask, Class: policy.Dangerous},
	})
	require.NoError(t, err)
	close(goOn)
	message := <-u.asked
	assert.Contains(t, message, file)
	assert.NotContains(t, message, "rm -rf")
	r = c.call("session_output", args{"exec_id": r.Run, "wait_s": 30})
	assert.Equal(t, "done", r.State, r.Raw)
	assert.FileExists(t, file)
	require.Len(t, in.desk.List(), 1)
	assert.Equal(t, other.Pending().ID, in.desk.List()[0].ID)
}

func TestAClientThatCannotAskIsNotAsked(t *testing.T) {
	in := newInside(t, true)
	c := in.connect(t, nil)
	r := c.exec(c.open("here"), "touch "+filepath.Join(t.TempDir(), "f"), args{"wait_s": 0})
	in.answer(t, in.waiting(t), true)
	assert.Equal(t, "ok", c.call("session_output", args{"exec_id": r.Exec}).Status)
}

func TestOnlyAPersonSwitchesThatOn(t *testing.T) {
	p := newPlace(t, here, "")
	p.env = append(p.env, "CLAUDECODE=1")
	cmd := p.command("--elicit")
	var said strings.Builder
	cmd.Stderr = &said
	assert.Error(t, cmd.Run())
	assert.Contains(t, said.String(), "--elicit is for a person to give")
}
