package files_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestEveryEditThatWasAnsweredIsInTheFile(t *testing.T) {
	const clients, rounds = 8, 3
	w := keepertest.OverSSH(t, sessiontest.OpenSSHD(t))
	dir := w.Folder()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "link")))
	var b strings.Builder
	for i := range clients {
		fmt.Fprintf(&b, "client %d: 0.\n", i)
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	for r := range rounds {
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				at := []string{path, filepath.Join(dir, "link"), dir + "/../files/f"}[(i+r)%3]
				edit := wire.FileEdit{Old: fmt.Sprintf("client %d: %d.", i, r), New: fmt.Sprintf("client %d: %d.", i, r+1)}
				status, p := w.API("", "POST", "/v1/files/edit?host=sshd&path="+url.QueryEscape(at), edit, nil)
				assert.Equal(t, http.StatusOK, status, "%s", p.Detail)
			})
		}
		wg.Wait()
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range clients {
		assert.Contains(t, string(got), fmt.Sprintf("client %d: %d.\n", i, rounds))
	}
}

func TestOfEditorsWithOneHashOneWins(t *testing.T) {
	w := keepertest.OverSSH(t, sessiontest.OpenSSHD(t))
	path := filepath.Join(w.Folder(), "f")
	for how, lost := range map[string]int{"edit": http.StatusConflict, "write": http.StatusPreconditionFailed} {
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				var status int
				var p wire.Problem
				if how == "edit" {
					status, p = w.API("", "POST", "/v1/files/edit?host=sshd&path="+path, wire.FileEdit{Old: "old", New: fmt.Sprint("old ", i), IfSHA256: sumOf("old")}, nil)
				} else {
					status, p, _ = w.Send("PUT", "/v1/files?host=sshd&path="+path, fmt.Sprint("old ", i), "Content-Type", "application/octet-stream", "If-Match", sumOf("old"))
				}
				if status == http.StatusOK {
					won.Add(1)
					return
				}
				assert.Equal(t, lost, status, "%s", p.Detail)
				assert.Equal(t, "conflict", p.Code)
				assert.False(t, p.Retriable, "that content does not come back")
			})
		}
		wg.Wait()
		assert.EqualValues(t, 1, won.Load(), how)
	}
}
