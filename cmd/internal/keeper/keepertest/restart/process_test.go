package restart_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestTheSocketIsTheAccountsAlone(t *testing.T) {
	w := keepertest.Start(t)
	st, err := os.Stat(w.Places.Socket)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), st.Mode().Perm())
	st, err = os.Stat(filepath.Dir(w.Places.Socket))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), st.Mode().Perm())
	require.NoError(t, w.StopServing())
	assert.NoFileExists(t, w.Places.Socket)

	require.NoError(t, os.Chmod(filepath.Dir(w.Places.Socket), 0o755))
	err = keeper.Serve(t.Context(), w.Cfg, w.Places, nil)
	require.ErrorContains(t, err, "may be entered by other accounts")
}

func TestOfKeepersThatStartTogetherOneServes(t *testing.T) {
	w := keepertest.Start(t)
	require.NoError(t, w.StopServing())
	ctx, cancel := context.WithCancel(t.Context())
	const n = 8
	var serving atomic.Int32
	errs := make(chan error, n)
	first := make(chan struct{})
	for range n {
		go func() {
			errs <- keeper.Serve(ctx, w.Cfg, w.Places, func() {
				if serving.Add(1) == 1 {
					close(first)
				}
			})
		}()
	}
	<-first
	for range n - 1 {
		assert.ErrorIs(t, <-errs, listen.ErrRunning)
	}
	assert.EqualValues(t, 1, serving.Load())
	cancel()
	assert.NoError(t, <-errs)
}

func TestASocketThatADeadKeeperHasLeftIsReplaced(t *testing.T) {
	w := keepertest.Start(t)
	require.NoError(t, w.StopServing())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.Places.Socket, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.FileExists(t, w.Places.Socket)
	w.Serve()
	h, err := w.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "shared-uid", h.Separation)
	assert.Equal(t, os.Getpid(), h.PID)
}

func TestAKeeperLeavesWhenItHasNothingToDo(t *testing.T) {
	w := keepertest.Start(t)
	require.NoError(t, w.StopServing())
	w.Cfg.Idle = 50 * time.Millisecond
	c := client.New(client.Config{Socket: w.Places.Socket})
	var s wire.Session
	opened, over := make(chan error, 1), make(chan error, 1)
	go func() {
		over <- keeper.Serve(t.Context(), w.Cfg, w.Places, func() { // before it looks whether it has anything to do
			var err error
			s, err = c.Open(t.Context(), wire.Open{Host: "here"})
			opened <- err
		})
	}()
	require.NoError(t, <-opened)
	r, err := c.Run(t.Context(), s.ID, wire.Run{Command: "sleep 0.3; echo still here"}, "")
	require.NoError(t, err, "a session keeps it, however long it is silent")
	assert.Equal(t, "still here\n", r.Stdout)
	require.NoError(t, c.CloseSession(t.Context(), s.ID))
	assert.NoError(t, <-over)
	_, err = c.Health(t.Context())
	assert.ErrorIs(t, err, client.ErrUnreachable)
	c.Close()
}

func TestStopEndsAKeeperAndWaitsUntilNothingIsLeft(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	_, err := w.Start(t.Context(), s.ID, wire.Run{Command: "sleep 1000"}, "")
	require.NoError(t, err)
	require.NoError(t, reach.Stop(t.Context(), w.Places))
	assert.NoFileExists(t, w.Places.Socket)
	assert.ErrorIs(t, reach.Stop(t.Context(), w.Places), reach.ErrNone)
	_, err = reach.Dial(t.Context(), reach.Config{Places: w.Places})
	assert.ErrorIs(t, err, reach.ErrNone)
}

func TestWhoWaitsIsAnsweredWhenTheKeeperEnds(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "sleep 1000"}, "")
	require.NoError(t, err)
	answered := make(chan error, 2)
	go func() {
		_, err := w.Wait(t.Context(), r.Exec)
		answered <- err
	}()
	go func() {
		_, err := w.Stream(t.Context(), r.Exec, io.Discard, io.Discard)
		answered <- err
	}()
	require.NoError(t, w.StopServing())
	for range 2 {
		assert.Error(t, <-answered)
	}
}

func TestPlacesAreFoundFromTheEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		env    map[string]string
		socket string
	}{
		"a run-time directory": {map[string]string{"XDG_RUNTIME_DIR": "/r", "HOME": "/h"}, "/r/fairlead/keeper.sock"},
		"none":                 {map[string]string{"HOME": "/h"}, "/h/.local/state/fairlead/run/keeper.sock"},
		"a state directory":    {map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/fairlead/run/keeper.sock"},
		"a relative one":       {map[string]string{"XDG_RUNTIME_DIR": "r", "HOME": "/h"}, "/h/.local/state/fairlead/run/keeper.sock"},
		"nothing":              {nil, ""},
		"too long":             {map[string]string{"XDG_RUNTIME_DIR": "/" + strings.Repeat("x", 100)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := listen.FindPlaces(func(k string) string { return tt.env[k] })
			if tt.socket == "" {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.socket, p.Socket)
		})
	}
}

func TestFiveHundredCallersAreServedAtOnce(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "sleep 1000"}, "")
	require.NoError(t, err)
	const n = 500
	var wg sync.WaitGroup
	errs := make(chan error, n)
	streams := make(chan *http.Response, n)
	hc := w.HTTP()
	for range n {
		wg.Go(func() {
			resp, err := hc.Get("http://localhost/v1/execs/" + r.Exec + "/stream")
			if err == nil && resp.StatusCode != http.StatusOK {
				err = errors.New(resp.Status)
			}
			errs <- err
			if resp != nil {
				streams <- resp
			}
		})
	}
	wg.Wait()
	for range n {
		require.NoError(t, <-errs)
	}
	_, err = w.Health(t.Context())
	require.NoError(t, err, "while they all listen")
	_, err = w.StopExec(t.Context(), r.Exec)
	require.NoError(t, err)
	for range n {
		resp := <-streams
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		assert.Contains(t, string(body), "event: result")
	}
}
