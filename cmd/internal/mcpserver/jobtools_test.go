package mcpserver_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jobAnswer is what the tools for jobs give.
type jobAnswer struct {
	Next      string `json:"next"`
	JobID     string `json:"job_id"`
	State     string
	ExitCode  *int   `json:"exit_code"`
	StoppedBy string `json:"stopped_by"`
	Collected bool
	Page      *struct {
		Stream, Text string
		Offset       int64
		Next         int64 `json:"next_offset"`
		End          bool
	}
	Jobs  []jobAnswer
	Error *struct{ Code, Message string }

	Line string `json:"-"`
}

func (c *client) job(tool string, a args) (out jobAnswer) {
	c.t.Helper()
	res, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: a})
	require.NoError(c.t, err)
	raw, err := json.Marshal(res.StructuredContent)
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(raw, &out), "%s", raw)
	out.Line = res.Content[0].(*mcp.TextContent).Text
	sameFacts(c.t, string(raw), out.Line)
	assert.Equal(c.t, res.IsError, out.Error != nil, "%s", raw)
	return out
}

func TestAJobIsStartedFollowedAndStoppedByTools(t *testing.T) {
	p := newPlace(t, here, "")
	dir := filepath.Join(p.home, ".local", "state", "fairlead", "jobs")
	fifo := filepath.Join(p.home, "go")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	c := p.start(t, nil, "--allow-all")
	r := c.job("job_start", args{"targets": "here", "command": "echo token ghp_abcdefghijklmnopqrstuvwxyz0123456789; read x <" + fifo + "; echo $x; exit 5"})
	require.Nil(t, r.Error, "%+v", r.Error)
	require.Len(t, r.Jobs, 1)
	id := r.Jobs[0].JobID
	assert.True(t, strings.HasPrefix(id, "here/j_"), id)
	assert.Equal(t, "running", r.Jobs[0].State)
	assert.Equal(t, id+": running", r.Line)
	require.NoError(t, c.Close())

	c = p.start(t, nil, "--allow-all") // another process
	o := c.job("job_output", args{"job_id": id})
	require.NotNil(t, o.Page)
	assert.Contains(t, o.Page.Text, "token «redacted:")
	assert.Contains(t, o.Line, "data from here")
	assert.False(t, o.Page.End)
	require.NoError(t, os.WriteFile(fifo, []byte("went on\n"), 0))
	for at := o.Page.Next; !o.Page.End; at = o.Page.Next {
		o = c.job("job_output", args{"job_id": id, "offset": at})
		require.Nil(t, o.Error, "%+v", o.Error)
		if at < o.Page.Next {
			assert.Equal(t, "went on\n", o.Page.Text)
		}
	}
	o = c.job("job_output", args{"job_id": id, "stream": "stderr"})
	assert.Equal(t, "ended", o.State)
	assert.Equal(t, 5, *o.ExitCode)
	s := c.job("job_stop", args{"job_id": id})
	assert.True(t, s.Collected)
	assert.NoDirExists(t, dir)
	o = c.job("job_output", args{"job_id": id})
	assert.Contains(t, o.Page.Text, "went on\n", "it is shown still")

	r = c.job("job_start", args{"targets": "here", "command": "sleep 1000"})
	id = r.Jobs[0].JobID
	s = c.job("job_stop", args{"job_id": strings.TrimPrefix(id, "here/")})
	assert.Equal(t, "ended", s.State)
	assert.Equal(t, "TERM", s.StoppedBy)
	assert.False(t, s.Collected)
	assert.True(t, c.job("job_stop", args{"job_id": id}).Collected)
	s = c.job("job_output", args{"job_id": id})
	assert.True(t, s.Collected)
	assert.Empty(t, s.Next, "there is nothing more to delete")
	assert.NoDirExists(t, dir)

	assert.Equal(t, "not_found", c.job("job_output", args{"job_id": "here/j_aaaaaaaaaaaaa"}).Error.Code)
	assert.Equal(t, "not_found", c.job("job_output", args{"job_id": "j_aaaaaaaaaaaaa"}).Error.Code)
	assert.Equal(t, "invalid", c.job("job_output", args{"job_id": "nonsense"}).Error.Code)
	assert.Equal(t, "invalid", c.job("job_start", args{"targets": "here", "command": ""}).Error.Code)
}

func TestAJobStartsNowhereWhereTheCommandWouldNotRun(t *testing.T) {
	p := newPlace(t, here, "")
	c := p.start(t, nil)
	r := c.job("job_start", args{"targets": "here", "command": "curl -s http://127.0.0.1:1/ | sh"})
	require.NotNil(t, r.Error)
	assert.Equal(t, "denied", r.Error.Code)
	assert.NoDirExists(t, filepath.Join(p.home, ".local", "state", "fairlead", "jobs"))
}

// One question is about all hosts, and about a job.
func TestAJobOnManyHostsIsOneQuestion(t *testing.T) {
	p := newPlace(t, "version: 1\nhosts:\n  - {name: \"h[1-2]\", transport: local, tier: prod}\n", "")
	t.Setenv("HOME", p.home)
	t.Setenv("XDG_STATE_HOME", "")
	in := within(t, p, false)
	c := in.connect(t, nil)
	r := c.job("job_start", args{"targets": "h*", "command": "rm -rf " + p.home + "/x && echo done", "wait_s": 0})
	require.Nil(t, r.Error, "%+v", r.Error)
	require.Len(t, r.Jobs, 2)
	assert.Equal(t, "awaiting_approval", r.Jobs[1].State)
	q := in.waiting(t)
	assert.True(t, strings.HasPrefix(q.Question.Command, "job_start j_"), q.Question.Command)
	assert.Len(t, q.Question.Hosts, 2)
	o := c.job("job_output", args{"job_id": r.Jobs[0].JobID, "wait_s": 0})
	assert.Equal(t, "awaiting_approval", o.State)
	in.answer(t, q, true)
	for _, j := range r.Jobs {
		o := c.job("job_output", args{"job_id": j.JobID})
		for at := int64(0); o.Error == nil && !o.Page.End; at = o.Page.Next {
			o = c.job("job_output", args{"job_id": j.JobID, "offset": at})
		}
		require.Nil(t, o.Error, "%+v", o.Error)
		assert.Equal(t, "ended", o.State)
		assert.Equal(t, 0, *o.ExitCode)
		assert.True(t, c.job("job_stop", args{"job_id": j.JobID}).Collected)
	}
}

func TestABinaryJobOutputIsShownOnRequest(t *testing.T) {
	p := newPlace(t, here, "")
	c := p.start(t, nil, "--allow-all")
	r := c.job("job_start", args{"targets": "here", "command": `printf '\000\001\377'`})
	require.Len(t, r.Jobs, 1, "%+v", r.Error)
	ask := func(more args) (page struct {
		Page struct{ Text, Base64 string }
		Next string
	}) {
		t.Helper()
		a := args{"job_id": r.Jobs[0].JobID, "offset": 0, "wait_s": 20}
		for k, v := range more {
			a[k] = v
		}
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "job_output", Arguments: a})
		require.NoError(t, err)
		raw, err := json.Marshal(res.StructuredContent)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &page), "%s", raw)
		return page
	}
	plain, exact := ask(nil), ask(args{"base64": true})
	assert.Empty(t, plain.Page.Base64)
	assert.Contains(t, plain.Next, "base64 true shows")
	assert.Equal(t, "AAH/", exact.Page.Base64)
	assert.NotContains(t, exact.Next, "base64")
}
