package files_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
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
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// A server of files that falls silent holds no answer back for longer than its caller waits, and nothing else on that host.
func TestFilesOfASilentServerAreAnsweredInTime(t *testing.T) {
	for silent, want := range map[string]struct{ read, write, list int }{
		"init":     {http.StatusGatewayTimeout, http.StatusGatewayTimeout, http.StatusGatewayTimeout},
		"lstat":    {http.StatusGatewayTimeout, http.StatusGatewayTimeout, http.StatusGatewayTimeout},
		"realpath": {http.StatusGatewayTimeout, http.StatusGatewayTimeout, http.StatusGatewayTimeout},
		"open":     {http.StatusAccepted, http.StatusAccepted, http.StatusOK},
		"read":     {http.StatusAccepted, http.StatusAccepted, http.StatusOK},
		"opendir":  {http.StatusOK, 0, http.StatusAccepted},
		"readdir":  {http.StatusOK, 0, http.StatusAccepted},
	} {
		t.Run(silent, func(t *testing.T) {
			t.Parallel()
			w := keepertest.OverSSH(t, sessiontest.OpenSSHDWithHostileSFTP(t, sessiontest.HostileSFTP{Silent: silent}))
			dir := w.Folder()
			path := filepath.Join(dir, "f")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // without a limit they would take longer
			defer cancel()
			once := func(method, path, query string, wait int) int {
				req, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://localhost/v1/files%s?host=sshd&wait_s=%d&path=%s", path, wait, query), nil)
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/octet-stream")
				resp, err := w.HTTP().Do(req)
				require.NoError(t, err, "%s %s", method, path)
				resp.Body.Close()
				return resp.StatusCode
			}
			ask := func(method, path, query string, want int) {
				got := once(method, path, query, 2)
				// What comes before the silence is answered, as slowly as a busy machine does.
				for wait := 8; got != want && (got == http.StatusGatewayTimeout || got == http.StatusAccepted) && wait <= 32; wait *= 2 {
					got = once(method, path, query, wait)
				}
				if want != 0 {
					assert.Equal(t, want, got, "%s %s", method, path)
				}
			}
			ask("GET", "", path, want.read)
			ask("PUT", "", filepath.Join(dir, "new"), want.write)
			ask("GET", "/list", dir, want.list)
			s := w.OpenSession("sshd", "work")
			assert.Equal(t, "on", w.RunIn(w.Client, s.ID, "printf on").Stdout)
		})
	}
}

// peak is how much memory f takes at most, above what was in use.
func peak(t testing.TB, f func()) uint64 {
	t.Helper()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapInuse+m.StackInuse, uint64(0)
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for {
			select {
			case <-done:
				return
			case <-look.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse+m.StackInuse)
			}
		}
	}()
	f()
	close(done)
	<-over
	return most - min(most, before)
}

const limitOfPeaks = 100 << 20

func TestListingsThatNeverEndTakeLittleMemory(t *testing.T) {
	for name, h := range map[string]sessiontest.HostileSFTP{
		"names":      {Endless: true},
		"long names": {Endless: true, NameLen: 4000},
		"no names":   {Endless: true, Dots: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := keepertest.OverSSH(t, sessiontest.OpenSSHDWithHostileSFTP(t, h))
			dir := w.Folder()
			if name != "names" {
				listAll(w, 2, dir, name) // TestHostileInputsTakeLittleMemory has many at once
				return
			}
			listAll(w, 8, dir, name)
			path := filepath.Join(dir, "f")
			require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
			most := peak(t, func() {
				status, p := endOf(w, "/v1/files?host=sshd&path="+path)
				assert.GreaterOrEqual(t, status, 400, "%s", p.Detail)
			})
			t.Logf("a file that never ends: %d MiB above idle", most>>20)
			assert.Less(t, most, uint64(limitOfPeaks))
		})
	}
}

func TestListingsOfALargeDirectoryTakeLittleMemory(t *testing.T) {
	w := keepertest.OverSSH(t, sessiontest.OpenSSHD(t))
	dir := w.Folder()
	for i := range 101_000 {
		require.NoError(t, os.Symlink("x", filepath.Join(dir, fmt.Sprintf("some-name-of-usual-length-%06d", i))))
	}
	listAll(w, 1, dir, "101000 names")
	_, err := w.WriteFile(t.Context(), client.FileAt{Host: "sshd", Path: filepath.Join(dir, "one more")}, []byte("x"), client.WriteOptions{})
	require.NoError(t, err)
}

// end asks for a file or a list until the answer is its end: a slow machine may still be at the login, or at what was asked.
func endOf(w *keepertest.World, url string) (status int, p wire.Problem) {
	w.T.Helper()
	for range 4 {
		status, p = w.API("", "GET", url+"&wait_s=50", nil, nil)
		if status != http.StatusGatewayTimeout && status != http.StatusAccepted {
			break
		}
	}
	return status, p
}

// listAll lists a directory that is too large, for some clients at once.
func listAll(w *keepertest.World, clients int, dir, what string) {
	w.T.Helper()
	most := peak(w.T, func() {
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				status, p := endOf(w, "/v1/files/list?host=sshd&path="+dir)
				assert.Contains(w.T, []int{http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusInternalServerError,
					http.StatusAccepted}, status, "%s", p.Detail) // accepted: a slow machine is still at it
				assert.Less(w.T, len(p.Detail), 500)
			})
		}
		wg.Wait()
	})
	w.T.Logf("%d listings at once, %s: %d MiB above idle", clients, what, most>>20)
	assert.Less(w.T, most, uint64(limitOfPeaks))
}

// Who has asked for a list and is gone gets none, and the host is asked no more.
func TestAListStopsWhenItsClientIsGone(t *testing.T) {
	w := keepertest.OverSSH(t, sessiontest.OpenSSHDWithHostileSFTP(t, sessiontest.HostileSFTP{Silent: "readdir"}))
	dir := w.Folder()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, err := w.ListFiles(ctx, client.FileAt{Host: "sshd", Path: dir}, 0, 0)
		assert.Error(t, err)
	}()
	listed := func(kind audit.Kind) (n int) {
		for _, e := range w.Entries(kind) {
			if strings.HasPrefix(e.Command, "file_list ") {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return listed(audit.FileRequest) == 1 }, time.Minute, 50*time.Millisecond)
	results := len(w.Entries(audit.FileResult)) // of the look
	cancel()
	<-gone
	require.Eventually(t, func() bool { return len(w.Entries(audit.FileResult)) > results }, time.Minute, 50*time.Millisecond)
}
