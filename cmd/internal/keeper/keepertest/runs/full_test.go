package runs_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestNoCommandRunsOnceTheRecordCannotBeWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, disk, dir string)
		mend  func(t *testing.T, disk string) // nil where it cannot be
		why   string
	}{
		"its disk is full": {
			spoil: func(t *testing.T, disk, _ string) { keepertest.Fill(t, disk) },
			mend:  func(t *testing.T, disk string) { require.NoError(t, os.Remove(filepath.Join(disk, "filler"))) },
			why:   "no space left on device",
		},
		"its directory is removed": {
			spoil: func(t *testing.T, _, dir string) { require.NoError(t, os.RemoveAll(dir)) },
			why:   "audit",
		},
		"something else is in its place": {
			spoil: func(t *testing.T, _, dir string) {
				require.NoError(t, os.Rename(dir, dir+".old"))
				require.NoError(t, os.WriteFile(dir, nil, 0o600))
			},
			why: "audit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := t.TempDir()
			if tt.mend != nil {
				disk = keepertest.SmallDisk(t)
			}
			dir := filepath.Join(disk, "audit")
			w := keepertest.Start(t, func(c *keeper.Config) {
				sink, err := audit.Open(dir, audit.Config{})
				require.NoError(t, err)
				t.Cleanup(func() { sink.Close() })
				c.Audit, c.AuditDir = sink, dir
			})
			b, box := w.Box("there")
			s := w.OpenSession("here", "")
			_, waits := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch approved"})
			require.Equal(t, "pending", waits.Status)
			tt.spoil(t, disk, dir)
			for range 100 { // the last page of the record has room for some more
				if r, err := w.Run(t.Context(), s.ID, wire.Run{Command: "touch " + box + "/room"}, ""); err != nil || r.Error != nil {
					break
				}
			}

			r, err := w.Run(t.Context(), s.ID, wire.Run{Command: "touch " + box + "/ran"}, "")
			if err == nil {
				require.NotNil(t, r.Error)
				assert.Contains(t, r.Error.Message, tt.why)
			} else {
				assert.Equal(t, "audit", keepertest.CodeOf(t, err))
				assert.ErrorContains(t, err, tt.why)
			}
			_, err = w.Open(t.Context(), wire.Open{Host: "here"})
			assert.Equal(t, "audit", keepertest.CodeOf(t, err))
			for what, script := range map[string]string{"one that is allowed": "cat /dev/null", "one that asks": "touch asked", "one that is denied": "sudo id"} {
				var c wire.Command
				status, p := w.API("agent/claude", "POST", keepertest.CommandsPath, wire.NewCommand{Sandbox: b.ID, Command: script}, &c)
				assert.NotEqual(t, "executed", c.Status, what)
				assert.NotEqual(t, "pending", c.Status, what)
				assert.Contains(t, p.Detail+c.Reason, tt.why, "%s: %d", what, status)
			}
			var c wire.Command
			status, p := w.API("", "POST", keepertest.CommandsPath+"/"+waits.ID+"/approve", nil, &c)
			assert.NotEqual(t, "executed", c.Status)
			assert.Contains(t, p.Detail+c.Reason, tt.why, "%d", status)
			for _, name := range []string{"ran", "asked", "approved"} {
				assert.NoFileExists(t, filepath.Join(box, name))
			}
			_, err = w.Health(t.Context())
			require.NoError(t, err, "it still answers")
			if tt.mend == nil {
				return
			}
			tt.mend(t, disk)
			assert.Equal(t, "ok", w.RunIn(w.Client, s.ID, "touch "+box+"/ran").Status, "it goes on once there is space")
			var v wire.Verified
			w.API("", "GET", "/v1/audit/verify", nil, &v)
			assert.True(t, v.OK, "%v", v.Problems)
		})
	}
}

func TestNoCommandRunsThatTheStoreHasNoRoomFor(t *testing.T) {
	disk := keepertest.SmallDisk(t)
	w := keepertest.Start(t, func(c *keeper.Config) {
		st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(disk, "state", "store.db")})
		require.NoError(t, err)
		t.Cleanup(func() { st.Close() })
		c.Store = st
	})
	b, box := w.Box("there")
	_, waits := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch approved"})
	require.Equal(t, "pending", waits.Status)
	keepertest.Fill(t, disk)
	refused := func(what string, status int, p wire.Problem) {
		assert.Equal(t, http.StatusInsufficientStorage, status, what)
		assert.Equal(t, "storage", p.Code, what)
		assert.Contains(t, p.Detail, "store.db", what)
		assert.True(t, p.Retriable)
	}
	for _, script := range []string{"pwd", "touch asked", "sudo id"} {
		status, p := w.API("agent/claude", "POST", keepertest.CommandsPath, wire.NewCommand{Sandbox: b.ID, Command: script}, nil)
		refused(script, status, p)
	}
	status, p := w.API("", "POST", keepertest.CommandsPath+"/"+waits.ID+"/approve", nil, nil)
	refused("a yes that cannot be kept", status, p)
	assert.NoFileExists(t, filepath.Join(box, "approved"))
	var got wire.Command
	status, p = w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+waits.ID, nil, &got)
	assert.Equal(t, http.StatusOK, status, "it can still be read: %s", p.Detail)
	assert.Equal(t, "pending", got.Status)

	require.NoError(t, os.Remove(filepath.Join(disk, "filler")))
	status, p = w.API("", "POST", keepertest.CommandsPath+"/"+waits.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
	assert.FileExists(t, filepath.Join(box, "approved"))
}
