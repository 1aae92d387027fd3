package mcpserver_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatACallOfAToolSaysHasItsEffect(t *testing.T) {
	p := newPlace(t, here, "")
	c := p.start(t, nil, "--allow-all")
	dir := t.TempDir()
	id := c.open("here")
	begins := func(tool string, more args, want string) {
		t.Helper()
		r := c.call(tool, more)
		require.Nil(t, r.Error, r.Raw)
		require.NotEmpty(t, r.Groups, r.Raw)
		assert.Contains(t, r.Groups[0].Stdout, want)
		assert.Less(t, len(r.Groups[0].Stdout), 600)
	}
	for _, tool := range []string{"run", "look"} {
		begins(tool, args{"targets": "here", "command": "seq 9999", "output": args{"head": 2}}, "1\n2\n")
		begins(tool, args{"targets": "here", "command": "seq 9999", "output": args{"tail": 2}}, "9998\n9999\n")
		begins(tool, args{"targets": "here", "command": "seq 9999", "output": args{"grep": "^77$"}}, "77\n")
		begins(tool, args{"targets": "here", "command": "seq 9999", "output": args{"max_bytes": 300}}, "1\n2\n")
		begins(tool, args{"targets": "here", "program": "printf", "args": []string{"%s|", "a b"}}, "a b|")
		begins(tool, args{"targets": "here", "command": "pwd", "cwd": dir}, dir)
		begins(tool, args{"targets": "here", "command": "true", "reason": "why " + tool}, "")
	}
	assert.Equal(t, "unsupported", c.call("look", args{"targets": "here", "command": "id", "become": "root"}).Error.Code)
	r := c.call("run", args{"targets": "here", "command": "sleep 30", "timeout_s": 0.3})
	assert.Contains(t, r.Raw, `"timeout"`)
	r = c.call("look", args{"targets": "here", "command": "tail -f /dev/null", "timeout_s": 0.3})
	assert.NotContains(t, r.Raw, `"running"`, "it is stopped, or was refused")

	assert.Contains(t, c.exec(id, "seq 9999", args{"output": args{"tail": 2}}).Stdout, "9998\n9999\n")
	once := args{"request_id": "k"}
	first := c.exec(id, "echo >>"+filepath.Join(dir, "once"), once)
	assert.Equal(t, first.Exec, c.exec(id, "echo >>"+filepath.Join(dir, "once"), once).Exec)
	text, err := os.ReadFile(filepath.Join(dir, "once"))
	require.NoError(t, err)
	assert.Equal(t, "\n", string(text))

	assert.Contains(t, c.call("file_read", args{"host": "here", "path": filepath.Join(dir, "once"), "reason": "why file_read"}).Raw, "once")
	started := c.job("job_start", args{"targets": "here", "command": "pwd; seq 9999", "cwd": dir, "reason": "why job_start", "wait_s": 30})
	require.Len(t, started.Jobs, 1)
	job := started.Jobs[0].JobID
	page := c.job("job_output", args{"job_id": job, "offset": 0, "max_bytes": 300, "wait_s": 30}).Page
	require.NotNil(t, page)
	assert.Contains(t, page.Text, dir)
	assert.NotContains(t, page.Text, "9999")
	c.job("job_stop", args{"job_id": job, "reason": "why job_stop"})
	require.NoError(t, c.Close())
	var said []byte
	require.NoError(t, filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			said, err = os.ReadFile(path)
		}
		return err
	}))
	for _, why := range []string{"run", "look", "file_read", "job_start"} {
		assert.Contains(t, string(said), "why "+why)
	}
}
