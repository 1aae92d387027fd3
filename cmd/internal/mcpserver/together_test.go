package mcpserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

const threeHosts = "version: 1\nhosts:\n  - {name: web1, transport: local, tier: dev}\n  - {name: web2, transport: local, tier: prod}\n  - {name: web3, transport: local, tier: dev}\n"

func TestARunOnManyHostsIsOneQuestion(t *testing.T) {
	in := within(t, newPlace(t, threeHosts, ""), false)
	c := in.connect(t, nil)
	dir := t.TempDir()
	command := "touch $(mktemp " + dir + "/ran.XXXXXX)"
	r := c.call("run", args{"targets": "all", "command": command, "wait_s": 0, "reason": "to see"})
	require.Nil(t, r.Error, "%+v", r.Error)
	assert.Equal(t, "awaiting_approval", r.State, r.Raw)
	assert.Contains(t, r.Text, "waiting for approval")
	assert.Equal(t, map[string]string{"waiting": "web[1-3]"}, r.Statuses)
	assert.Equal(t, command, r.Command)

	p := in.waiting(t)
	assert.Equal(t, "web[1-3]", p.Question.Host.Name)
	assert.Equal(t, "prod", p.Question.Host.Tier)
	assert.Len(t, p.Question.Hosts, 3)
	assert.Equal(t, command, p.Question.Command)
	assert.Equal(t, "to see", p.Question.Reason)
	require.Empty(t, in.desk.List()[1:], "one question")
	assert.Equal(t, "awaiting_approval", c.call("session_output", args{"exec_id": r.Run, "wait_s": 0}).State)
	files, err := filepath.Glob(dir + "/*")
	require.NoError(t, err)
	require.Empty(t, files, "nothing went to anybody yet")

	in.answer(t, p, true)
	r = c.call("session_output", args{"exec_id": r.Run, "wait_s": 30})
	assert.Equal(t, "done", r.State, r.Raw)
	assert.Equal(t, map[string]string{"ok": "web[1-3]"}, r.Statuses, r.Raw)
	files, err = filepath.Glob(dir + "/*")
	require.NoError(t, err)
	assert.Len(t, files, 3, "each host once")
	assert.Empty(t, in.desk.List())
}

// A command whose program no table knows is tried held to reading where it can be. A job and a copy cannot, and so are asked about.
func TestAJobAndADownloadOnManyHostsAreOneQuestionToo(t *testing.T) {
	p := newPlace(t, strings.ReplaceAll(threeHosts, "prod", "dev"), "")
	for name, ask := range map[string]func(c *client) answer{
		"job_start": func(c *client) answer {
			return c.call("job_start", args{"targets": "web[1-3]", "command": "fairlead-no-such-program", "wait_s": 0})
		},
		"file_transfer": func(c *client) answer {
			return c.call("file_transfer", args{"direction": "download", "targets": "web[1-3]", "remote": p.inventory, "local": "there", "wait_s": 0})
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := configured(t, p, rules.New(rules.Config{}), approval.Config{}, false, func(c *mcpserver.Config) { c.Exchange = t.TempDir() })
			r := ask(in.connect(t, nil))
			require.Nil(t, r.Error, "%+v", r.Error)
			require.Contains(t, r.Text, "waiting for approval")
			q := in.waiting(t)
			assert.Len(t, q.Question.Hosts, 3)
			require.Empty(t, in.desk.List()[1:], "one question")
			in.answer(t, q, false)
		})
	}
}

func TestARunThatIsRefusedRunsNowhereAndIsOnRecord(t *testing.T) {
	in := within(t, newPlace(t, threeHosts, ""), false)
	c := in.connect(t, nil)
	file := filepath.Join(t.TempDir(), "f")
	r := c.call("run", args{"targets": "all", "command": "touch " + file, "wait_s": 0})
	require.Equal(t, "awaiting_approval", r.State, r.Raw)
	p := in.waiting(t)
	require.NoError(t, in.desk.Answer(approval.Response{ID: p.ID, Digest: p.Digest(), By: "operator/ada", Reason: "not today"}))
	r = c.call("session_output", args{"exec_id": r.Run, "wait_s": 30})
	assert.Equal(t, map[string]string{"denied": "web[1-3]"}, r.Statuses, r.Raw)
	require.Len(t, r.Groups, 1, r.Raw)
	assert.Contains(t, r.Raw, "operator/ada: not today")
	_, err := os.Stat(file)
	require.Error(t, err)
	rejected := 0
	for _, e := range in.book.all() {
		if e.Status == "rejected" {
			rejected++
		}
	}
	assert.Equal(t, 3, rejected)
}

func TestARunOfWhichAHostDeniesAsksNobody(t *testing.T) {
	in := within(t, newPlace(t, threeHosts, ""), false)
	c := in.connect(t, nil)
	r := c.call("run", args{"targets": "all", "command": "sudo id", "wait_s": 20})
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, "denied", r.Error.Code)
	assert.Empty(t, in.desk.List())
}
