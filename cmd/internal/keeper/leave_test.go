package keeper_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func auto(c *keeper.Config) { c.Auto = true }

func TestAKeeperLeavesOnlyWhereNothingIsLost(t *testing.T) {
	w := keepertest.Start(t, auto)
	agent := w.As("agent/claude")
	assert.Equal(t, "forbidden", keepertest.CodeOf(t, agent.Leave(t.Context())), "an agent ends nobody's keeper")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there"})
	require.NoError(t, err)
	err = w.Leave(t.Context())
	assert.Equal(t, "busy", keepertest.CodeOf(t, err))
	assert.ErrorContains(t, err, "it has a session open")
	assert.Equal(t, "ok", w.RunIn(agent, s.ID, "pwd").Status, "and it goes on")
	require.NoError(t, agent.CloseSession(t.Context(), s.ID))

	b, _ := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	require.NoError(t, w.Leave(t.Context()), "what waits in the store waits on")
	require.NoError(t, w.StopServing())
	w.Serve()
	all, err := w.Approvals(t.Context())
	require.NoError(t, err)
	assert.Len(t, all, 1)

	byHand := keepertest.Start(t)
	err = byHand.Leave(t.Context())
	assert.Equal(t, "busy", keepertest.CodeOf(t, err))
	assert.ErrorContains(t, err, "started by hand")
}

// Whoever comes while a keeper leaves is served whole, or hears that it is ending: nothing is begun and then lost.
func TestWhoComesWhileAKeeperLeavesLosesNothing(t *testing.T) {
	for range 5 {
		w := keepertest.Start(t, auto)
		var wg sync.WaitGroup
		left := make(chan error, 1)
		wg.Go(func() { left <- w.Leave(t.Context()) })
		opened := make(chan error, 8)
		for range cap(opened) {
			wg.Go(func() {
				c := client.New(client.Config{Socket: w.Places.Socket})
				defer c.Close()
				_, err := c.Open(t.Context(), wire.Open{Host: "here"})
				opened <- err
			})
		}
		wg.Wait()
		gone := <-left == nil
		for range cap(opened) {
			if err := <-opened; gone {
				assert.Error(t, err, "it has left")
			} else {
				assert.NoError(t, err, "it has not")
			}
		}
	}
}

func TestAKeeperOfAnotherLanguageIsToldAndNotEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		theirs string
		api    int
		says   string // "" is that all is well
	}{
		"newer, and the same language": {"v2.0.0", wire.API, ""},
		"newer":                        {"v2.0.0", wire.API + 1, "it is v2.0.0, newer than this program, v1.0.0; use one of its version"},
		"of a version nobody knows":    {"(devel)", wire.API + 1, "fairlead serve --stop ends it with its sessions"},
		"older":                        {"v0.9.0", wire.API + 1, "fairlead serve --stop ends it with its sessions"},
		"of before that was told":      {"(devel)", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "fl")
			require.NoError(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			p := listen.Places{Socket: filepath.Join(dir, "k.sock"), Log: filepath.Join(dir, "k.log")}
			mux := http.NewServeMux()
			mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(wire.Health{Status: "ok", Version: tt.theirs, API: tt.api})
			})
			mux.HandleFunc("POST /v1/keeper/leave", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusConflict)
				_ = json.NewEncoder(w).Encode(wire.Problem{Status: http.StatusConflict, Code: "busy", Detail: "it has a session open"})
				assert.Equal(t, "older", name, "only an older one is asked")
			})
			srv := httptest.NewUnstartedServer(mux)
			srv.Listener, err = net.Listen("unix", p.Socket)
			require.NoError(t, err)
			srv.Start()
			defer srv.Close()
			var told []string
			c, err := reach.Dial(t.Context(), reach.Config{
				Places: p, Version: "v1.0.0", Command: []string{"/bin/false"}, Tell: func(line string) { told = append(told, line) },
			})
			assert.Empty(t, told)
			if tt.says == "" {
				require.NoError(t, err)
				c.Close()
				return
			}
			require.ErrorIs(t, err, reach.ErrOther)
			assert.ErrorContains(t, err, tt.says)
		})
	}
}
