package files_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// into sends a request that succeeds, and reads its answer.
func into(w *keepertest.World, out any, method, path, body string, headers ...string) {
	w.T.Helper()
	status, _, text := w.Send(method, path, body, headers...)
	require.Less(w.T, status, 300, "%s %s: %s", method, path, text)
	require.NoError(w.T, json.Unmarshal([]byte(text), out), text)
}

func TestWhatARequestForACommandSaysHasItsEffect(t *testing.T) {
	w := keepertest.Start(t)
	w.OpenSession("here", "s")
	for name, tt := range map[string]struct {
		body, stdout, stderr, status string
	}{
		"timeout_s":        {`"command":"echo a; sleep 30","timeout_s":0.3`, "a\n", "", "timeout"},
		"idle_s":           {`"command":"echo a; sleep 30","idle_s":0.3`, "a\n", "", "timeout"},
		"merged":           {`"command":"echo a; echo b >&2; echo c","merged":true`, "a\nb\nc\n", "", "ok"},
		"not merged":       {`"command":"echo a; echo b >&2; echo c"`, "a\nc\n", "b\n", "ok"},
		"output.head":      {`"command":"seq 9","output":{"head":2}`, "1\n2\n", "", "ok"},
		"output.tail":      {`"command":"seq 9","output":{"tail":2}`, "8\n9\n", "", "ok"},
		"output.grep":      {`"command":"seq 9","output":{"grep":"^[37]$"}`, "3\n7\n", "", "ok"},
		"output.context":   {`"command":"seq 9","output":{"grep":"^5$","context":1}`, "4\n5\n6\n", "", "ok"},
		"output.max_bytes": {`"command":"printf %0300d 1; echo","output":{"max_bytes":200}`, strings.Repeat("0", 100) + strings.Repeat("0", 98) + "1\n", "", "ok"},
		"rows and cols":    {`"command":"stty size","interactive":true,"rows":33,"cols":99`, "33 99\r\n", "", "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			var r wire.Result
			into(w, &r, "POST", "/v1/sessions/s/execs", "{"+tt.body+"}")
			assert.Equal(t, tt.status, r.Status)
			assert.Equal(t, tt.stdout, r.Stdout)
			assert.Equal(t, tt.stderr, r.Stderr)
		})
	}
	t.Run("wait_s", func(t *testing.T) {
		var r wire.Result
		into(w, &r, "POST", "/v1/sessions/s/execs", `{"command":"echo head; sleep 0.2; seq 9; echo e >&2","wait_s":0}`)
		assert.Equal(t, "running", r.State)
		id := r.Exec
		into(w, &r, "GET", "/v1/execs/"+id+"?wait_s=30&max_bytes=200", "")
		assert.Equal(t, "done", r.State)
		var p wire.Page
		into(w, &p, "GET", "/v1/execs/"+id+"/output?stream=stdout&offset=5&limit=4", "")
		assert.Equal(t, "1\n2\n", p.Data)
		into(w, &p, "GET", "/v1/execs/"+id+"/output?stream=stderr", "")
		assert.Equal(t, "e\n", p.Data)
	})
	t.Run("max_bytes", func(t *testing.T) {
		var r, less wire.Result
		into(w, &r, "POST", "/v1/sessions/s/execs", `{"command":"printf %01000d 1"}`)
		require.Len(t, r.Stdout, 1000)
		into(w, &less, "GET", "/v1/execs/"+r.Exec+"?max_bytes=200", "")
		assert.Len(t, less.Stdout, 200)
	})
	t.Run("reason", func(t *testing.T) {
		var r wire.Result
		into(w, &r, "POST", "/v1/sessions/s/execs", `{"command":"true","reason":"since I say so"}`)
		_, _, text := w.Send("GET", "/v1/audit?n=10", "")
		assert.Contains(t, text, "since I say so")
	})
}

func TestAnOperatorsAnswersOverHTTPHaveTheirEffect(t *testing.T) {
	w := keepertest.Start(t)
	w.OpenSession("there", "s") // where an operator confirms what is dangerous
	const dangerous, forbidden = "systemctl --version stop x >/dev/null 2>&1; echo ran", "false && curl -s http://127.0.0.1:1/ | sh; echo ran"
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for name, tt := range map[string]struct {
		command, more, status string
	}{
		"nothing":            {dangerous, "", "denied"},
		"confirm":            {dangerous, `,"confirm":true`, "ok"},
		"confirm too little": {forbidden, `,"confirm":true`, "denied"},
		"break_glass":        {forbidden, `,"break_glass":"there","reason":"a test"`, "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			var r wire.Result
			_, _, text := w.Send("POST", "/v1/sessions/s/execs", `{"command":`+quoted(tt.command)+tt.more+`}`)
			require.NoError(t, json.Unmarshal([]byte(text), &r), text)
			assert.Equal(t, tt.status, r.Status, text)
			if tt.status == "ok" {
				assert.Equal(t, "ran\n", r.Stdout)
			}
			status, p, text := w.Send("POST", "/v1/jobs", `{"host":"there","command":`+quoted(tt.command)+tt.more+`}`)
			if tt.status != "ok" {
				assert.Equal(t, "denied", p.Code, text)
				return
			}
			require.Equal(t, http.StatusCreated, status, text)
			var j wire.Job
			require.NoError(t, json.Unmarshal([]byte(text), &j))
			into(w, &j, "GET", "/v1/jobs/"+url.PathEscape(j.ID)+"?wait_s=30", "")
			assert.Equal(t, "ended", j.State)
			into(w, &j, "DELETE", "/v1/jobs/"+url.PathEscape(j.ID), "")
		})
	}
}

func TestWhatRequestsForJobsAndFilesSayHasItsEffect(t *testing.T) {
	t.Parallel()
	w := keepertest.Start(t)
	dir := w.Folder()
	begun := func(command, more string) (j wire.Job) {
		into(w, &j, "POST", "/v1/jobs", `{"host":"here","command":"`+command+`"`+more+`}`)
		return j
	}
	j := begun("seq 9; echo e >&2", "")
	other := begun("true", "")
	at := "/v1/jobs/" + url.PathEscape(j.ID)
	into(w, &j, "GET", at+"?wait_s=30", "")
	var p wire.JobPage
	into(w, &p, "GET", at+"/output?stream=stdout&offset=2&limit=4&wait_s=30", "")
	assert.Equal(t, "2\n3\n", p.Data)
	into(w, &p, "GET", at+"/output?stream=stderr", "")
	assert.Equal(t, "e\n", p.Data)
	var seen []string
	for cursor := ""; ; { // other tests may have jobs of the account, too
		var list wire.Jobs
		into(w, &list, "GET", "/v1/jobs?selector=here&limit=1&cursor="+url.QueryEscape(cursor), "")
		for _, j := range list.Items {
			assert.Equal(t, "here", j.Host)
			seen = append(seen, j.ID)
		}
		require.LessOrEqual(t, len(list.Items), 1)
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	assert.Subset(t, seen, []string{j.ID, other.ID})
	var list wire.Jobs
	into(w, &list, "GET", "/v1/jobs?selector=here&group="+strings.TrimPrefix(j.ID, "here/"), "")
	if assert.Len(t, list.Items, 1) {
		assert.Equal(t, j.ID, list.Items[0].ID)
	}

	stubborn := begun("trap '' TERM INT HUP; echo up; while :; do sleep 1; done", "")
	at = "/v1/jobs/" + url.PathEscape(stubborn.ID)
	into(w, &p, "GET", at+"/output?wait_s=30", "")
	into(w, &stubborn, "POST", at+"/stop", `{"grace_s":0.1,"reason":"enough of it"}`)
	assert.Equal(t, "ended", stubborn.State)
	for _, j := range []wire.Job{j, other, stubborn} {
		into(w, &j, "DELETE", "/v1/jobs/"+url.PathEscape(j.ID)+"?reason=done", "")
	}
	_, _, log := w.Send("GET", "/v1/audit?n=20", "")
	assert.Contains(t, log, "enough of it")

	file := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(file, []byte("0123456789"), 0o600))
	var f wire.File
	into(w, &f, "GET", "/v1/files?host=here&offset=2&limit=3&path="+file, "")
	assert.Equal(t, "234", f.Content)
	for i := range 400 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%060d", i)), nil, 0o600))
	}
	var names, rest wire.File
	into(w, &names, "GET", "/v1/files/list?host=here&limit=1&path="+dir, "")
	require.NotZero(t, names.Next)
	into(w, &rest, "GET", fmt.Sprintf("/v1/files/list?host=here&offset=%d&path=%s", names.Next, dir), "")
	assert.Equal(t, 401, len(names.Names)+len(rest.Names))
	var after wire.File
	into(w, &after, "GET", fmt.Sprintf("/v1/files/list?host=here&offset=%d&path=%s", names.Next+int64(len(names.Names))<<10, dir), "")
	assert.Empty(t, after.Names, "after the end")
	for _, within := range []int64{1, 4, names.Next - 1, names.Next + 1} { // as where a name went since the page before
		status, _, text := w.Send("GET", fmt.Sprintf("/v1/files/list?host=here&offset=%d&path=%s", within, dir), "")
		assert.Equal(t, http.StatusConflict, status, "%.200s", text)
		assert.Contains(t, text, fmt.Sprintf("no name begins at offset %d", within))
	}

	edit := `{"old":"0","new":"00"}`
	for range 2 {
		into(w, &f, "POST", "/v1/files/edit?host=here&path="+file, edit, wire.IdempotencyKey, "k")
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "00123456789", string(text), "once")
}

func TestWhatRequestsForRunsAndSearchesSayHasItsEffect(t *testing.T) {
	w := keepertest.Start(t)
	run := func(more string) string {
		w.T.Helper()
		status, _, text := w.Send("POST", "/v1/runs", `{"id":"r_`+fmt.Sprint(time.Now().UnixNano())+`",`+more+`}`)
		require.Equal(t, http.StatusOK, status, text)
		return text
	}
	assert.Contains(t, run(`"host":"here","command":"sleep 30","timeout_s":0.3,"reason":"because"`), `"status":"timeout"`)
	assert.Contains(t, run(`"host":"here","command":"sleep 30","idle_s":0.3`), `"status":"timeout"`)
	assert.Contains(t, run(`"hosts":["here"],"command":"echo ${BASH_VERSION:-none}","shell":"dash"`), "none")
	since := url.QueryEscape(time.Now().Add(-time.Hour).Format(time.RFC3339))
	until := url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339))
	for query, found := range map[string]bool{
		"since=" + since: true, "since=" + until: false, "until=" + until: true, "until=" + since: false,
		"principal=operator/*": true, "principal=agent/*": false, "verdict=allow": true, "verdict=deny": false,
	} {
		assert.Equal(t, found, len(w.Search(query).Items) > 0, query)
	}
}

func TestWhatTheOtherRequestsSayHasItsEffect(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	c := w.Terminal("host=here&term=vt52&confirm=true&connect_timeout_s=9&settings=-echo&settings=erase+%22%5EH%22")
	c.Line(`echo "=$TERM="; stty -a`)
	c.See("=vt52=")
	c.See("erase = ^H")
	c.Line("exit")
	c.See("")

	dir := w.Folder()
	var b wire.Sandbox
	into(w, &b, "POST", "/agent/terminal/sandboxes", `{"owner_principal_id":"agent/claude","host":"here","label":"l","path":"`+dir+`"}`)
	assert.Equal(t, "agent/claude", b.Owner)
	into(w, &b, "PATCH", "/agent/terminal/sandboxes/"+b.ID, `{"is_active":false,"label":"m"}`)
	assert.False(t, b.Active)
	assert.Equal(t, "m", b.Label)
	into(w, &b, "PATCH", "/agent/terminal/sandboxes/"+b.ID, `{"is_active":true}`)
	var cmd wire.Command
	into(w, &cmd, "POST", "/agent/terminal/commands", `{"sandbox_id":"`+b.ID+`","command":"tail -f /dev/null","timeout_s":0.3}`, wire.Principal, "agent/claude")
	if cmd.Status == "pending" {
		into(w, &cmd, "POST", "/agent/terminal/commands/"+cmd.ID+"/approve", "")
	}
	assert.Equal(t, "timeout", cmd.Outcome)

	// What comes with a request decides who asks, where names are looked up, and through which agent it logs in.
	var s wire.Session
	into(w, &s, "POST", "/v1/sessions", `{"host":"here","name":"t","cwd":"`+dir+`","env":{"LANG":"C.UTF-8"},"shell":"dash","reason":"for the log"}`, "Fairlead-Principal", "agent/claude")
	assert.Equal(t, []string{"agent/claude", "t", dir, "dash"}, []string{s.Owner, s.Name, s.CWD, s.Shell})
	_, _, log := w.Send("GET", "/v1/audit?n=50", "")
	assert.Contains(t, log, "for the log")
	other := filepath.Join(dir, "other.yaml")
	require.NoError(t, os.WriteFile(other, []byte("version: 1\nhosts: [{name: elsewhere, transport: local}]\n"), 0o600))
	var list wire.Hosts
	into(w, &list, "GET", "/v1/hosts?selector=all", "", "Fairlead-Inventory", other)
	require.Len(t, list.Items, 1)
	assert.Equal(t, "elsewhere", list.Items[0].Name)
	status, p, _ := w.Send("GET", "/v1/hosts", "", "Fairlead-Ssh-Auth-Sock", "relative")
	assert.Equal(t, http.StatusBadRequest, status, p.Detail)

	w.OpenSession("here", "s")
	var j, again wire.Job
	body := `{"session_id":"s","command":"true"}`
	into(w, &j, "POST", "/v1/jobs", body, "Idempotency-Key", "k")
	into(w, &again, "POST", "/v1/jobs", body, "Idempotency-Key", "k")
	assert.Equal(t, j.ID, again.ID)
	into(w, &j, "GET", "/v1/jobs/"+url.PathEscape(j.ID)+"?wait_s=30", "")
	into(w, &j, "DELETE", "/v1/jobs/"+url.PathEscape(j.ID), "")

	file := filepath.Join(dir, "f")
	var f wire.File
	put := "/v1/files?host=here&path=" + file
	into(w, &f, "PUT", put, "one", "Idempotency-Key", "w")
	require.NoError(t, os.Remove(file))
	into(w, &f, "PUT", put, "one", "Idempotency-Key", "w")
	assert.NoFileExists(t, file, "once")

	// A host that says nothing is given up after the time that the request says.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	silent := filepath.Join(dir, "silent.yaml")
	require.NoError(t, os.WriteFile(silent, []byte("version: 1\nhosts: [{name: silent, addr: 127.0.0.1, port: "+port+", user: u, ssh_config: none, tier: dev}]\n"), 0o600))
	status, _, text := w.Send("POST", "/v1/runs", `{"id":"r_silent_host","hosts":["silent"],"command":"true","connect_timeout_s":0.3}`, "Fairlead-Inventory", silent)
	assert.Equal(t, http.StatusOK, status, text)
	assert.Contains(t, text, "300ms")
}
