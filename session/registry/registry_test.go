package registry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

func TestASessionIsFoundByIdAndByName(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		e := w.open("web1", "build")
		for _, by := range []string{e.ID(), "build"} {
			got, err := w.Get(me, by)
			require.NoError(t, err)
			assert.Same(t, e, got)
			_, err = w.Get("agent/other", by)
			assert.Equal(t, registry.CodeNotFound, codeOf(t, err), "another principal's")
		}
		assert.Equal(t, []*registry.Entry{e}, w.List(me))
		assert.Empty(t, w.List("agent/other"))
		_, err := w.Get(me, "")
		assert.Equal(t, registry.CodeNotFound, codeOf(t, err))
	})
}

func TestNamesAreUniquePerPrincipal(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		e := w.open("web1", "build")
		_, err := w.Open(t.Context(), registry.OpenRequest{Principal: me, Host: hosts.Host{Name: "web2"}, Name: "build"})
		assert.Equal(t, registry.CodeExists, codeOf(t, err))
		assert.ErrorContains(t, err, e.ID())
		_, err = w.Open(t.Context(), registry.OpenRequest{Principal: "agent/other", Host: hosts.Host{Name: "web2"}, Name: "build"})
		assert.NoError(t, err)
		e.Close()
		w.open("web1", "build")
	})
}

func TestWhatCannotBeASessionIsRefused(t *testing.T) {
	bubble(t, registry.Config{MaxSessions: 1}, func(t *testing.T, w *world) {
		for name, req := range map[string]registry.OpenRequest{
			"a blank in the name":        {Name: "a b"},
			"a name like an id":          {Name: "s_x"},
			"a name that turns the text": {Name: "web\u202e1"},
			"a name that looks like one": {Name: "web\u200b1"},
			"a name that is no text":     {Name: "web\xff"},
			"a slash in the name":        {Name: "a/b"},
			"a variable without a value": {Env: []string{"A"}},
			"a variable that is none":    {Env: []string{"1A=b"}},
			"code in a variable's name":  {Env: []string{"A$(x)=b"}},
			"a shell without framing":    {Shell: "fish"},
			"a program as its shell":     {Shell: "/bin/bash"},
			"code as its shell":          {Shell: "bash; touch x"},
			"a line in a name":           {Env: []string{"A\nB=b"}},
			"a NUL in a value":           {Env: []string{"A=b\x00c"}},
		} {
			req.Host = hosts.Host{Name: "web1"}
			_, err := w.Open(t.Context(), req)
			assert.Equal(t, registry.CodeInvalid, codeOf(t, err), name)
		}
		w.open("web1", "")
		_, err := w.Open(t.Context(), registry.OpenRequest{Principal: me, Host: hosts.Host{Name: "web1"}})
		assert.Equal(t, registry.CodeFull, codeOf(t, err))
	})
}

func TestASessionThatCannotStartIsNone(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("cd -- /gone", reply{Stderr: "cd: /gone: No such file or directory\n", Exit: 1})
		w.dialer.Fault("web2", sessiontestAuth)
		_, err := w.Open(t.Context(), registry.OpenRequest{Principal: me, Host: hosts.Host{Name: "web1"}, Name: "n", Dir: "/gone"})
		assert.Equal(t, registry.CodeInvalid, codeOf(t, err))
		assert.ErrorContains(t, err, "No such file")
		_, err = w.Open(t.Context(), registry.OpenRequest{Principal: me, Host: hosts.Host{Name: "web2"}, Name: "n"})
		assert.Equal(t, "auth", codeOf(t, err))
		assert.Empty(t, w.List(me))
		w.open("web1", "n")
	})
}

func TestASecondCommandIsRefusedAndToldWhatRuns(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("long", reply{Hang: true})
		e := w.open("web1", "")
		x := w.start(e, registry.Command{Script: "long"})
		_, err := e.Start(t.Context(), registry.Command{Script: "ls"})
		var se *session.Error
		require.ErrorAs(t, err, &se)
		assert.Equal(t, "busy", se.Code)
		assert.Equal(t, x.ID(), se.Exec)
		assert.Same(t, x, e.Current())
		x.Stop()
		assert.Nil(t, e.Current())
		assert.Equal(t, session.StatusCanceled, w.view(x).Result.Status)
	})
}

func TestTheLatestCommandMayBeOnItsWay(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("held", reply{})
		e := w.open("web1", "")
		started := make(chan *registry.Exec)
		go func() { started <- w.start(e, registry.Command{Script: "held"}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Nil(t, e.Latest(ctx))
		latest := make(chan *registry.Exec)
		go func() { latest <- e.Latest(t.Context()) }()
		synctest.Wait()
		close(w.held)
		x := <-started
		assert.Same(t, x, <-latest)
		assert.Same(t, x, e.Latest(t.Context()))
	})
}

func TestSeveralSessionsShareOneConnection(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("a", reply{Stdout: "A"})
		w.dialer.On("b", reply{Stdout: "B", Exit: 3})
		one, two := w.open("web1", "one"), w.open("web1", "two")
		assert.Equal(t, "A", string(w.run(one, "a").Result.Stdout))
		v := w.run(two, "b")
		assert.Equal(t, "B", string(v.Result.Stdout))
		assert.Equal(t, 3, *v.Result.ExitCode)
		assert.Equal(t, 1, w.dialer.Dialed("web1"))
	})
}

func TestAnIdleSessionIsClosed(t *testing.T) {
	bubble(t, registry.Config{Idle: time.Hour}, func(t *testing.T, w *world) {
		w.dialer.On("ls", reply{})
		e := w.open("web1", "n")
		time.Sleep(59 * time.Minute)
		w.run(e, "ls")
		time.Sleep(59 * time.Minute)
		_, err := w.Get(me, e.ID())
		require.NoError(t, err, "used an hour ago")
		time.Sleep(2 * time.Minute)
		for _, by := range []string{e.ID(), "n"} {
			_, err = w.Get(me, by)
			assert.Equal(t, registry.CodeClosed, codeOf(t, err))
			assert.ErrorContains(t, err, "no command came for 1h0m0s")
		}
	})
}

func TestARunningCommandKeepsItsSessionOpen(t *testing.T) {
	bubble(t, registry.Config{Idle: time.Hour, Lifetime: 4 * time.Hour}, func(t *testing.T, w *world) {
		w.dialer.OnFunc("long", func(*callT) reply { time.Sleep(10 * time.Hour); return reply{Stdout: "done"} })
		e := w.open("web1", "")
		x := w.start(e, registry.Command{Script: "long"})
		time.Sleep(9 * time.Hour)
		_, err := w.Get(me, e.ID())
		require.NoError(t, err)
		require.NoError(t, x.Wait(t.Context()))
		time.Sleep(time.Second)
		_, err = w.Get(me, e.ID())
		assert.ErrorContains(t, err, "it was open for 4h0m0s")
		assert.Equal(t, "done", string(w.view(x).Result.Stdout), "and what it printed stays")
	})
}

func TestAnOldSessionTakesNoMoreCommands(t *testing.T) {
	bubble(t, registry.Config{Idle: -1, Lifetime: time.Hour}, func(t *testing.T, w *world) {
		e := w.open("web1", "")
		time.Sleep(time.Hour)
		_, err := e.Start(t.Context(), registry.Command{Script: "never"})
		assert.Equal(t, registry.CodeClosed, codeOf(t, err))
	})
}

func TestWithoutLimitsASessionStays(t *testing.T) {
	bubble(t, registry.Config{Idle: -1, Lifetime: -1}, func(t *testing.T, w *world) {
		e := w.open("web1", "")
		time.Sleep(1000 * time.Hour)
		_, err := w.Get(me, e.ID())
		assert.NoError(t, err)
	})
}

func TestResetGivesANewShellAndEndsWhatRuns(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("long", reply{Hang: true, Ignores: "INT TERM KILL"})
		w.dialer.On("ls", reply{Stdout: "x"})
		e := w.open("web1", "n")
		x := w.start(e, registry.Command{Script: "long"})
		e.Reset()
		assert.Equal(t, session.StatusCanceled, w.view(x).Result.Status)
		v := w.run(e, "ls")
		assert.True(t, v.Result.ShellRestarted)
	})
}

func TestCloseOfTheRegistryClosesEverything(t *testing.T) {
	bubble(t, registry.Config{}, func(t *testing.T, w *world) {
		w.dialer.On("long", reply{Hang: true})
		e := w.open("web1", "")
		w.open("web2", "")
		x := w.start(e, registry.Command{Script: "long"})
		require.NoError(t, w.Close())
		require.NoError(t, w.Close(), "twice")
		assert.False(t, x.Running())
		_, err := x.View(registry.Budgets{})
		assert.Equal(t, registry.CodeGone, codeOf(t, err))
		_, err = w.Open(t.Context(), registry.OpenRequest{Principal: me, Host: hosts.Host{Name: "web1"}})
		assert.Equal(t, registry.CodeClosed, codeOf(t, err))
		assert.Zero(t, w.pool.Stats().Sessions)
	})
}
