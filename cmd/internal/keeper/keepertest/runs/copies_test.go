package runs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// copied runs a copy as c, with what these files hold, and makes what comes a tree in a directory for each host.
func copied(w *keepertest.World, c *client.Client, in wire.NewRun, local *copies.Local, into string, f client.Fleet) error {
	w.T.Helper()
	var wg sync.WaitGroup
	var pipes []*io.PipeWriter
	if local != nil {
		in.Copy.Op, in.Copy.Entries = copies.Upload, local.Entries
		in.Stdin = !in.Copy.DryRun
		f.Stdin = func(int) io.Reader { return local.Reader() }
	} else {
		f.Files = func(i int) io.Writer {
			r, wr := io.Pipe()
			wg.Go(func() {
				r.CloseWithError((&copies.Tree{Dir: filepath.Join(into, string(rune('0'+i)))}).Receive(w.T.Context(), r))
			})
			pipes = append(pipes, wr)
			return wr
		}
	}
	_, err := c.RunFleet(w.T.Context(), in, f)
	for _, p := range pipes {
		p.Close()
	}
	wg.Wait()
	return err
}

func localOf(t *testing.T, paths ...string) *copies.Local {
	t.Helper()
	l, err := copies.NewLocal(paths)
	require.NoError(t, err)
	require.NoError(t, l.Hash(t.Context()))
	return l
}

func put(t *testing.T, name string, content []byte) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, content, 0o644))
	return name
}

func TestFilesGoThroughTheKeeper(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	dir := w.Folder()
	noise := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(noise)
	sum := sha256.Sum256(noise)
	src := filepath.Join(dir, "src")
	put(t, filepath.Join(src, "noise"), noise)
	put(t, filepath.Join(src, "sub/small"), []byte("small"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "to"), 0o755))

	o := &keepertest.Told{}
	in := wire.NewRun{ID: "r_copy_up_1", Hosts: []string{"web1"}, Copy: &copies.Plan{Path: dir + "/to", Mode: "0600", Verify: true, Resume: true}} // resume
	require.NoError(t, copied(w, w.Client, in, localOf(t, src), "", o.Fleet()))
	assert.Equal(t, []string{"ok"}, o.Statuses())
	got, err := os.ReadFile(filepath.Join(dir, "to/src/noise"))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(noise, got))
	st, err := os.Stat(filepath.Join(dir, "to/src/sub/small"))
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, st.Mode())
	assert.Contains(t, o.Out[0].String(), hex.EncodeToString(sum[:]))
	assert.Contains(t, o.Out[0].String(), `"size":3145728`)

	// What is there and not in the source would go, and goes.
	put(t, filepath.Join(dir, "to/src/extra"), nil)
	in = wire.NewRun{ID: "r_copy_up_2", Hosts: []string{"web1"}, Copy: &copies.Plan{Path: dir + "/to/src", Merge: true, Delete: true, DryRun: true}}
	o = &keepertest.Told{}
	require.NoError(t, copied(w, w.Client, in, localOf(t, src), "", o.Fleet()))
	assert.Contains(t, o.Out[0].String(), copies.Doomed)
	assert.FileExists(t, filepath.Join(dir, "to/src/extra"))
	in.ID, in.Copy.DryRun = "r_copy_up_3", false
	require.NoError(t, copied(w, w.Client, in, localOf(t, src), "", (&keepertest.Told{}).Fleet()))
	assert.NoFileExists(t, filepath.Join(dir, "to/src/extra"))

	// A directory that must be there, and an owner.
	in = wire.NewRun{ID: "r_copy_up_4", Hosts: []string{"web1"}, Copy: &copies.Plan{Path: dir + "/none", Into: true}}
	o = &keepertest.Told{}
	require.NoError(t, copied(w, w.Client, in, localOf(t, src+"/noise"), "", o.Fleet()))
	assert.Equal(t, "not_found", o.Results[0].Result.Error.Code)
	in = wire.NewRun{ID: "r_copy_up_5", Hosts: []string{"web1"}, Copy: &copies.Plan{Path: dir + "/own", Owner: "x"}}
	assert.ErrorContains(t, copied(w, w.Client, in, localOf(t, src+"/noise"), "", (&keepertest.Told{}).Fleet()), "UID:GID")
	in = wire.NewRun{ID: "r_copy_up_6", Hosts: []string{"web1"}, Confirm: true, Copy: &copies.Plan{Path: dir + "/own", Owner: "12345:12345"}}
	o = &keepertest.Told{}
	require.NoError(t, copied(w, w.Client, in, localOf(t, src+"/noise"), "", o.Fleet()))
	if os.Geteuid() == 0 {
		assert.Equal(t, []string{"ok"}, o.Statuses())
	} else {
		assert.Equal(t, []string{"error"}, o.Statuses())
		assert.NoFileExists(t, dir+"/own")
	}

	// With times, which each entry then has.
	when := time.Unix(1e9, 0)
	require.NoError(t, os.Chtimes(src+"/noise", when, when))
	in = wire.NewRun{ID: "r_copy_up_8", Hosts: []string{"web1"}, Copy: &copies.Plan{Path: dir + "/timed", Times: true}}
	assert.ErrorContains(t, copied(w, w.Client, in, localOf(t, src+"/noise"), "", (&keepertest.Told{}).Fleet()), "no time of its last change")
	timed := localOf(t, src+"/noise")
	timed.Times() // copy.entries.modified
	in.ID = "r_copy_up_9"
	o = &keepertest.Told{}
	require.NoError(t, copied(w, w.Client, in, timed, "", o.Fleet()))
	assert.Equal(t, []string{"ok"}, o.Statuses())
	st, err = os.Stat(dir + "/timed")
	require.NoError(t, err)
	assert.True(t, st.ModTime().Equal(when), st.ModTime())

	// Only in the place of what is expected.
	in = wire.NewRun{ID: "r_copy_up_7", Hosts: []string{"web1"}, Copy: &copies.Plan{Path: dir + "/to/src/noise", IfSHA256: strings.Repeat("0", 64)}}
	o = &keepertest.Told{}
	require.NoError(t, copied(w, w.Client, in, localOf(t, src+"/noise"), "", o.Fleet()))
	assert.Equal(t, []string{"error"}, o.Statuses())
	assert.Contains(t, o.Out[0].String(), `"code":"conflict"`) // if_sha256

	// And back from several hosts, each by itself.
	back := filepath.Join(dir, "back")
	o = &keepertest.Told{}
	require.NoError(t, copied(w, w.Client, wire.NewRun{ID: "r_copy_down", Selector: "web*", Copy: &copies.Plan{Op: copies.Download, Path: src}}, nil, back, o.Fleet()))
	assert.Equal(t, []string{"ok", "ok", "ok"}, o.Statuses())
	for _, host := range []string{"0", "1", "2"} {
		got, err := os.ReadFile(filepath.Join(back, host, "src/noise"))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(noise, got))
	}
	ofGroup := func() (all []audit.Event) {
		for _, e := range w.Entries(audit.FileResult) {
			if e.Group == "r_copy_down" {
				all = append(all, e)
			}
		}
		return all
	}
	// What only reads is told before its entry is in the file.
	require.Eventually(t, func() bool { return len(ofGroup()) == 3 }, time.Minute, 5*time.Millisecond, "one group, an entry for each host")
	for _, e := range ofGroup() {
		assert.EqualValues(t, len(noise)+len("small"), e.StdoutBytes)
	}
}

func TestWhatIsNoCopyIsRefused(t *testing.T) {
	w := keepertest.StartFleet(t, 1)
	plan := &copies.Plan{Op: copies.Download, Path: "/etc/hosts"}
	for _, in := range []wire.NewRun{
		{Hosts: []string{"web1"}, Copy: plan, Command: "true"},
		{Hosts: []string{"web1"}, Copy: plan, Stdin: true},
		{Hosts: []string{"web1"}, Copy: plan, Quiet: true},
		{Host: "web1", Copy: plan},
		{Hosts: []string{"web1"}, Copy: &copies.Plan{Op: copies.Download}},
		{Hosts: []string{"web1"}, Copy: &copies.Plan{Op: copies.Upload, Path: "/tmp"}, Stdin: true},
		{Hosts: []string{"web1"}, Stdin: true, Copy: &copies.Plan{Op: copies.Upload, Path: "/tmp", Entries: []copies.Entry{{Name: "../x"}}}},
	} {
		_, err := w.RunFleet(t.Context(), in, (&keepertest.Told{}).Fleet())
		var p *wire.Problem
		require.ErrorAs(t, err, &p)
		assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, p.Status, p.Detail)
	}
}

// An agent's copy is approved with its hashes, once for all hosts, and what has changed since is not copied.
func TestAnAgentsUploadIsApproved(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	dir := w.Folder()
	src := put(t, filepath.Join(dir, "src"), []byte("approved"))
	agent := w.As("agent/a")
	unknown, err := copies.NewLocal([]string{src})
	require.NoError(t, err)
	err = copied(w, agent, wire.NewRun{ID: "r_unbound_1", Selector: "web*", Copy: &copies.Plan{Path: dir + "/to"}}, unknown, "", (&keepertest.Told{}).Fleet())
	assert.ErrorContains(t, err, "sha256")

	local := localOf(t, src)
	for _, selector := range []string{"web*", "web1"} {
		o := &keepertest.Told{}
		f := o.Fleet()
		f.Waiting = func() {
			o.Waits++
			doc := w.AnswerAll(t, true)
			assert.Contains(t, string(doc.Document), local.Entries[0].SHA256)
			assert.Contains(t, string(doc.Document), "file_upload")
		}
		id := "r_bound_" + strings.Trim(selector, "*")
		require.NoError(t, copied(w, agent, wire.NewRun{ID: id, Selector: selector, Copy: &copies.Plan{Path: dir + "/to"}}, local, "", f))
		assert.Equal(t, 1, o.Waits)
		for _, s := range o.Statuses() {
			assert.Equal(t, "ok", s)
		}
		assert.FileExists(t, dir+"/to")
		require.NoError(t, os.Remove(dir+"/to"))
	}

	local = localOf(t, src)
	// What is copied from a host is exact, secrets and all: that is no read.
	o := &keepertest.Told{}
	f := o.Fleet()
	f.Waiting = func() { o.Waits++; w.AnswerAll(t, true) }
	require.NoError(t, copied(w, agent, wire.NewRun{ID: "r_down_1", Selector: "web1", Copy: &copies.Plan{Op: copies.Download, Path: src}}, nil, dir+"/down", f))
	assert.Equal(t, 1, o.Waits)
	assert.Equal(t, []string{"ok"}, o.Statuses())
	assert.FileExists(t, dir+"/down/0/src")

	o = &keepertest.Told{}
	f = o.Fleet()
	f.Waiting = func() {
		put(t, src, []byte("replaced"))
		w.AnswerAll(t, true)
	}
	require.NoError(t, copied(w, agent, wire.NewRun{ID: "r_changed_1", Selector: "web1", Copy: &copies.Plan{Path: dir + "/to"}}, local, "", f))
	assert.Equal(t, []string{"error"}, o.Statuses())
	assert.NoFileExists(t, dir+"/to")

	o = &keepertest.Told{}
	f = o.Fleet()
	f.Waiting = func() { w.AnswerAll(t, false) }
	put(t, src, []byte("approved"))
	require.NoError(t, copied(w, agent, wire.NewRun{ID: "r_rejected", Selector: "web*", Copy: &copies.Plan{Path: dir + "/to"}}, localOf(t, src), "", f))
	assert.Equal(t, []string{"denied", "denied"}, o.Statuses())
	assert.NoFileExists(t, dir+"/to")
}

// A caller who goes away, and one who sends nothing, end a copy.
func TestACopyEndsWithItsCaller(t *testing.T) {
	w := keepertest.StartFleet(t, 1)
	dir := w.Folder()
	src := put(t, filepath.Join(dir, "src"), bytes.Repeat([]byte("x"), 1<<20))
	local := localOf(t, src)
	ctx, cancel := context.WithCancel(t.Context())
	o := &keepertest.Told{}
	f := o.Fleet()
	r, wr := io.Pipe() // which never says anything
	defer wr.Close()
	f.Stdin = func(int) io.Reader { cancel(); return r }
	in := wire.NewRun{ID: "r_canceled", Selector: "web1", Stdin: true, Copy: &copies.Plan{Op: copies.Upload, Path: dir + "/to", Entries: local.Entries}}
	_, err := w.RunFleet(ctx, in, f)
	require.NoError(t, err)
	assert.Equal(t, []string{"canceled"}, o.Statuses())
	assert.NoFileExists(t, dir+"/to")
	left, err := filepath.Glob(dir + "/.fairlead-*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// JSON has no such names: name_b64 has them.
func TestNamesOfFilesAreBytesThroughTheKeeperToo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("file systems of this system take text only as names")
	}
	w := keepertest.StartFleet(t, 1)
	dir := w.Folder()
	src := filepath.Join(dir, "src")
	for _, name := range []string{"a\xff", "a\xfe", "a\ufffd"} {
		put(t, filepath.Join(src, name), []byte(name))
	}
	o := &keepertest.Told{}
	require.NoError(t, copied(w, w.Client, wire.NewRun{ID: "r_copy_bytes_1", Hosts: []string{"web1"}, Copy: &copies.Plan{Path: dir + "/to", Merge: true}}, localOf(t, src), "", o.Fleet()))
	assert.Equal(t, []string{"ok"}, o.Statuses())
	o = &keepertest.Told{}
	require.NoError(t, copied(w, w.Client, wire.NewRun{ID: "r_copy_bytes_2", Hosts: []string{"web1"}, Copy: &copies.Plan{Op: copies.Download, Path: dir + "/to"}}, nil, filepath.Join(dir, "back"), o.Fleet()))
	assert.Equal(t, []string{"ok"}, o.Statuses())
	for _, name := range []string{"a\xff", "a\xfe", "a\ufffd"} {
		for _, to := range []string{"to", "back/0/to"} {
			got, err := os.ReadFile(filepath.Join(dir, to, name))
			require.NoError(t, err, "%q", name)
			assert.Equal(t, name, string(got))
		}
	}
	// What is shown is what is done.
	body := `{"id": "r_copy_bytes_3", "hosts": ["web1"], "stdin": true, "copy": {"op": "file_upload", "path": "` + dir + `/x", "entries": [{"name": "a", "mode": 420, "size": 0, "name_b64": "Yf8="}]}}` // name_b64
	status, p, _ := w.Send("POST", "/v1/runs", body)
	assert.GreaterOrEqual(t, status, 400)
	assert.Contains(t, p.Detail, "name_b64")
}

func TestFilesAreTakenFromAHostOfTheRun(t *testing.T) {
	w := keepertest.StartFleet(t, 1)
	src := put(t, filepath.Join(w.Folder(), "src"), []byte("x"))
	o, asked := &keepertest.Told{}, false
	f := o.Fleet()
	f.Files = func(int) io.Writer {
		asked = true
		for _, host := range []string{"1", "7", "-1", "x", ""} {
			status, p, _ := w.Send("GET", "/v1/runs/r_outside_/files?host="+host, "")
			assert.Equal(t, http.StatusUnprocessableEntity, status, host)
			assert.Equal(t, "invalid", p.Code, host)
		}
		return io.Discard
	}
	_, err := w.RunFleet(t.Context(), wire.NewRun{ID: "r_outside_", Selector: "web*", Copy: &copies.Plan{Op: copies.Download, Path: src}}, f)
	require.NoError(t, err)
	assert.True(t, asked)
	assert.Equal(t, []string{"ok"}, o.Statuses())
}
