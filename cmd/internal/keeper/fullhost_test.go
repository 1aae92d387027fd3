package keeper_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// Sessions hold every slot that the server gives: one more is told so, and whatever is not a session runs.
func TestAHostFullOfSessionsSaysSoAndRunsCommands(t *testing.T) {
	for config, most := range map[string]int{"MaxSessions 1": 2, "MaxSessions 2": 4, "MaxSessions 10": 16} {
		t.Run(config, func(t *testing.T) {
			sshd := sessiontest.OpenSSHD(t, config)
			w := keepertest.Start(t, func(c *keeper.Config) {
				c.Inventory = filepath.Join(filepath.Dir(c.Inventory), "sshd.yaml")
				text := fmt.Sprintf("version: 1\nhosts:\n  - {name: sshd, ssh_config: %q, tier: dev, connect_timeout: 3s}\n", sshd.Config)
				require.NoError(t, os.WriteFile(c.Inventory, []byte(text), 0o600))
			})
			t.Setenv("HOME", t.TempDir())
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			for i := range most {
				_, err := w.Open(ctx, wire.Open{Host: "sshd", Name: fmt.Sprint("n", i)})
				require.NoError(t, err)
			}
			_, err := w.Open(ctx, wire.Open{Host: "sshd", Name: "more"})
			require.Equal(t, "full", keepertest.CodeOf(t, err), "%v", err)
			assert.ErrorContains(t, err, fmt.Sprintf("%d open sessions of operator/ada", most))
			assert.ErrorContains(t, err, "fairlead sessions close NAME")
			for name, call := range map[string]func() error{
				"run on one host": func() error {
					end, err := w.RunLive(ctx, wire.NewRun{Host: "sshd", Command: "echo one-off"}, client.Live{Stdout: io.Discard, Stderr: io.Discard})
					if err == nil {
						assert.Equal(t, "ok", end.Result.Status)
					}
					return err
				},
				"read a file": func() error {
					_, err := w.ReadFile(ctx, client.FileAt{Host: "sshd", Path: "/etc/hostname"}, 0, 100)
					return err
				},
				"list a directory": func() error {
					_, err := w.ListFiles(ctx, client.FileAt{Host: "sshd", Path: "/etc"}, 0, 100)
					return err
				},
				"list jobs": func() error {
					_, err := w.Jobs(ctx, "sshd", "", "")
					return err
				},
				"a command in a session": func() error {
					r, err := w.Run(ctx, "n0", wire.Run{Command: "echo here"}, "")
					if err == nil {
						assert.Equal(t, "ok", r.Status)
					}
					return err
				},
			} {
				assert.NoError(t, call(), name)
			}
			require.NoError(t, w.CloseSession(ctx, "n0"))
			_, err = w.Open(ctx, wire.Open{Host: "sshd", Name: "more"})
			require.NoError(t, err)
		})
	}
}
