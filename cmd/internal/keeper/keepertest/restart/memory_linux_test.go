package restart_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// mostAboveIdle is how much memory one hostile input may take of a keeper, in MiB.
const mostAboveIdle = 100

// kib is a line of /proc/PID/status (man 5 proc).
func kib(c *keepertest.ChildKeeper, name string) int {
	c.T.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Cmd.Process.Pid))
	require.NoError(c.T, err)
	_, rest, _ := strings.Cut(string(text), name+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(c.T, err)
	return n
}

// takes is the keeper's peak of resident memory while f runs, above what it had before, in MiB.
func takes(c *keepertest.ChildKeeper, f func()) int {
	c.T.Helper()
	require.NoError(c.T, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", c.Cmd.Process.Pid), []byte("5"), 0)) // VmHWM begins again
	idle := kib(c, "VmRSS")
	f()
	return (kib(c, "VmHWM") - idle) >> 10
}

// TestHostileInputsTakeLittleMemory prints, with -v, the peak of a keeper above its idle memory for each input. The keeper is a
// process of its own.
func TestHostileInputsTakeLittleMemory(t *testing.T) {
	if needs.Detector {
		t.Skip("the race detector multiplies memory")
	}
	t.Parallel()
	many := func(n int, f func(i int)) {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { f(i) })
		}
		all.Wait()
	}
	values := func(i int) string { // seven values of 16 kB
		var b strings.Builder
		for n := range 7 {
			fmt.Fprintf(&b, "T%d_TOKEN='%s' ", n, strings.Repeat(fmt.Sprintf("%d%d-", i, n), 4000))
		}
		return b.String()
	}
	listing := func(c *keepertest.ChildKeeper) {
		dir := c.Folder()
		many(8, func(int) { c.API("", "GET", "/v1/files/list?host=sshd&path="+dir, nil, nil) })
	}
	file := func(c *keepertest.ChildKeeper, method string) {
		path := filepath.Join(c.Dir, "f")
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
		many(8, func(int) {
			c.Send(method, "/v1/files?host=sshd&path="+path, "new", "Content-Type", "application/octet-stream")
		})
	}
	flood := func(c *keepertest.ChildKeeper, in wire.NewRun) {
		many(4, func(i int) {
			in := in
			in.ID, in.Host = fmt.Sprint("flood-", i), "here"
			_, err := c.RunLive(t.Context(), in, client.Live{Stdout: &slowly{}, Stderr: &slowly{}})
			assert.NoError(t, err)
		})
	}
	for _, tt := range []struct {
		name string
		ssh  bool // it needs the host sshd, which one with another sftp has anyway
		sftp sessiontest.HostileSFTP
		f    func(c *keepertest.ChildKeeper)
		most int // MiB; 0 means mostAboveIdle
	}{
		{name: "learned values, six commands", f: func(c *keepertest.ChildKeeper) {
			for i := range 6 {
				_, err := c.RunLive(t.Context(), wire.NewRun{ID: fmt.Sprint("learned-", i), Host: "here", Command: values(i) + "true"}, client.Live{})
				assert.NoError(t, err)
			}
		}},
		{name: "learned values, six principals", f: func(c *keepertest.ChildKeeper) {
			many(6, func(i int) {
				_, err := c.As(fmt.Sprint("agent/a", i)).RunLive(t.Context(), wire.NewRun{ID: fmt.Sprint("learned-", i), Host: "here", Command: values(i) + "true"}, client.Live{})
				assert.NoError(t, err)
			})
		}},
		{name: "values of commands that never run", f: func(c *keepertest.ChildKeeper) {
			many(6, func(i int) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				_, _ = c.As(fmt.Sprint("agent/a", i)).RunLive(ctx, wire.NewRun{ID: fmt.Sprint("never-ran-", i), Host: "there", Command: values(i) + "; mkfs.ext4 /dev/sdz"}, client.Live{})
			})
		}},
		{name: "8 listings that never end", sftp: sessiontest.HostileSFTP{Endless: true}, f: listing},
		{name: "8 listings of long names", sftp: sessiontest.HostileSFTP{Endless: true, NameLen: 4000}, f: listing},
		{name: "8 files that never end", sftp: sessiontest.HostileSFTP{Endless: true}, f: func(c *keepertest.ChildKeeper) { file(c, "GET") }},
		{name: "8 error texts of 2 MB", sftp: sessiontest.HostileSFTP{Fail: "open", Text: "no way\x1b[2J", Big: 200_000}, f: func(c *keepertest.ChildKeeper) { file(c, "GET"); file(c, "PUT") }},
		{name: "4 floods of 16 MB", f: func(c *keepertest.ChildKeeper) {
			flood(c, wire.NewRun{Command: "head -c 16000000 /dev/zero | tr '\\0' x"})
		}},
		{name: "4 floods of 16 MB on standard error", f: func(c *keepertest.ChildKeeper) {
			flood(c, wire.NewRun{Command: "yes 0123456789 | head -c 16000000 >&2"})
		}},
		{name: "4 floods of 16 MB in sessions", f: func(c *keepertest.ChildKeeper) {
			many(4, func(i int) {
				s := c.OpenSession("here", fmt.Sprint("s", i))
				r, err := c.Client.Run(t.Context(), s.ID, wire.Run{Command: "yes 0123456789 | head -c 16000000"}, "")
				require.NoError(t, err)
				assert.Equal(t, "ok", r.Status)
			})
		}},
		{name: "a recording of 128 MB", f: func(c *keepertest.ChildKeeper) {
			dir := filepath.Join(c.Dir, "recordings")
			require.NoError(t, os.MkdirAll(dir, 0o700))
			id := "e_" + strings.Repeat("a", 13)
			name := terminals.RecordingName(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "web-1", id)
			f, err := os.Create(filepath.Join(dir, name))
			require.NoError(t, err)
			lines := strings.Join(keepertest.Long(8000)[1:], "\n") // 16 MB
			fmt.Fprintln(f, keepertest.CastStart)
			for range 8 {
				fmt.Fprint(f, lines)
			}
			require.NoError(t, f.Close())
			many(4, func(i int) {
				resp, err := c.HTTP().Get(fmt.Sprintf("http://localhost/v1/recordings/%s?at=%d", id, 2000*i))
				require.NoError(t, err)
				defer resp.Body.Close()
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				_, _ = resp.Body.Read(make([]byte, 100_000)) // and no more
			})
		}},
		{name: "6 files of 16 MB that agents write", f: func(c *keepertest.ChildKeeper) {
			content := strings.Repeat("0123456789abcde\n", 1<<20)
			many(6, func(i int) {
				c.Send("PUT", fmt.Sprintf("/v1/files?host=there&wait_s=0&path=%s/f%d", c.Dir, i), content, "Content-Type", "application/octet-stream", wire.Principal, fmt.Sprint("agent/a", i%4))
			})
		}},
		{name: "6 files of 16 MB with keys", ssh: true, f: func(c *keepertest.ChildKeeper) {
			content := strings.Repeat("0123456789abcde\n", 1<<20)
			many(6, func(i int) {
				c.Send("PUT", fmt.Sprintf("/v1/files?host=sshd&path=%s/f%d", c.Dir, i), content, "Content-Type", "application/octet-stream", wire.IdempotencyKey, fmt.Sprint("k", i))
			})
		}},
		{name: "3 files of 16 MB that are written, and edited", ssh: true, f: func(c *keepertest.ChildKeeper) {
			content := strings.Repeat("0123456789abcde\n", 1<<20-1) + "once and for all"
			many(3, func(i int) {
				at := fmt.Sprintf("host=sshd&path=%s/f%d", c.Dir, i)
				c.Send("PUT", "/v1/files?"+at, content, "Content-Type", "application/octet-stream")
				c.Send("POST", "/v1/files/edit?"+at, `{"old": "once and for all", "new": "twice"}`)
			})
		}},
		{name: "80 pending requests of 200 kB", f: func(c *keepertest.ChildKeeper) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			many(80, func(i int) {
				in := wire.NewRun{ID: fmt.Sprint("pending-", i), Host: "there", Command: "./unknown '" + strings.Repeat("x", 200_000) + "'"}
				_, _ = c.As(fmt.Sprint("agent/a", i%4)).RunLive(ctx, in, client.Live{})
			})
		}},
		{name: "8 bodies of 2 MB of agents", f: func(c *keepertest.ChildKeeper) {
			body := `{"host": "here", "id": "too-long-to-run", "command": "` + strings.Repeat("x", 2_000_000) + `"}`
			many(8, func(i int) {
				c.Send("POST", "/v1/runs", body, wire.Principal, fmt.Sprint("agent/a", i%4))
			})
		}},
		{name: "2 bodies of 32 MB of the account itself", f: func(c *keepertest.ChildKeeper) {
			body := `{"command": "` + strings.Repeat("x", 32<<20) + `"}`
			many(2, func(int) {
				req, err := http.NewRequestWithContext(t.Context(), "POST", "http://localhost/v1/runs", strings.NewReader(body))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				if resp, err := c.HTTP().Do(req); err == nil { // or the keeper hangs up
					assert.GreaterOrEqual(t, resp.StatusCode, 400)
					resp.Body.Close()
				}
			})
		}, most: 250}, // nobody else may send such, and the account can end its keeper anyway
	} {
		t.Run(tt.name, func(t *testing.T) {
			// What a keeper has grown to before differs by some pages: one of three that needs no more shows what the input takes.
			limit, most := cmp.Or(tt.most, mostAboveIdle), 0
			for range 3 {
				dir := keepertest.ChildPlace(t)
				used := []string{"here"}
				if tt.ssh || tt.sftp != (sessiontest.HostileSFTP{}) {
					used = append(used, "sshd")
					sshd := sessiontest.OpenSSHDWithHostileSFTP(t, tt.sftp)
					text := keepertest.Here + fmt.Sprintf("  - {name: sshd, ssh_config: %q, tier: dev}\n", sshd.Config)
					require.NoError(t, os.WriteFile(filepath.Join(dir, "inventory.yaml"), []byte(text), 0o600))
				}
				c := keepertest.StartChild(t, dir, "")
				c.T = t
				for _, host := range used { // what every keeper has that is in use
					_, err := c.RunLive(t.Context(), wire.NewRun{ID: "warm-" + host, Host: host, Command: "true"}, client.Live{})
					require.NoError(t, err)
				}
				most = takes(c, func() { tt.f(c) })
				t.Logf("%s: %d MiB above idle", tt.name, most)
				if most < limit {
					break
				}
				c.Kill()
			}
			assert.Less(t, most, limit, "MiB")
		})
	}
}

// slowly is a reader of output that falls behind now and then.
type slowly struct{ n int }

func (s *slowly) Write(p []byte) (int, error) {
	if s.n += len(p); s.n > 1<<20 {
		s.n = 0
		time.Sleep(2 * time.Millisecond) // the load, not a wait for something
	}
	return len(p), nil
}
