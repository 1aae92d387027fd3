package session_test

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// A directory's name is data: a shell that starts in it must not run what stands in it.
func TestADirectorysNameIsNeverRun(t *testing.T) {
	site := localSite(t, permissive(), sessiontest.NewMark(t))
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			needShell(t, shell)
			s := mustOpen(t, site.pool, site.on(shell))
			defer s.Close()
			dir := t.TempDir() + "/$(touch run)`touch run`\"; touch run; \\"
			succeed(t, s, session.Command{Script: "mkdir " + quote(dir) + " && cd " + quote(dir)})
			_, _ = s.Run(t.Context(), session.Command{Script: "exit 3"})
			r := succeed(t, s, session.Command{Script: "ls"})
			assert.Empty(t, r.Stdout)
			assert.Equal(t, dir, r.Dir)
			assert.Equal(t, []string{"cwd"}, r.Restored)
		})
	}
}

// Where a connection takes one program, everything else needs another connection.
func TestAConnectionForOneProgramIsEnough(t *testing.T) {
	site := serverSite(t, permissive(), sessiontest.NewMark(t), 1)
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			needShell(t, shell)
			s := mustOpen(t, site.pool, site.on(shell))
			defer s.Close()
			for _, c := range []sessionCase{
				{"exit", "", []step{sh("exit 3", "").exits(3), ok}},
				{"killed", "", []step{anything("kill -9 $$"), ok}},
			} {
				runCase(t, s, c)
			}
			assert.Equal(t, "abc", string(succeed(t, s, session.Command{Script: "cat", Stdin: letters("abc")}).Stdout))
		})
	}
}

// More sessions than one that begin at once, where a connection takes one program.
func TestManySessionsBeginAtOnceWhereAConnectionTakesOneProgram(t *testing.T) {
	site := serverSite(t, permissive(), sessiontest.NewMark(t), 1)
	var wg sync.WaitGroup
	for range 16 {
		s := mustOpen(t, site.pool, site.on("dash"))
		defer s.Close()
		wg.Go(func() {
			r, err := s.Run(t.Context(), session.Command{Script: "echo ok"})
			assert.NoError(t, err)
			assert.Equal(t, "ok\n", string(r.Stdout))
		})
	}
	wg.Wait()
}

// A connection that goes away while the pipe for standard input is made: nothing of it stays.
func TestAHangupWhileThePipeIsMadeLeavesNothing(t *testing.T) {
	mark, bin := sessiontest.NewMark(t), t.TempDir()
	script := "#!/bin/sh\n/bin/mkdir \"$@\"\nkill -HUP $PPID\n"
	require.NoError(t, os.WriteFile(bin+"/mkdir", []byte(script), 0o755))
	srv := sessiontest.Server(t, sshserver.Config{Env: append(mark.On(os.Environ()), "PATH="+bin+":"+os.Getenv("PATH"))})
	tr := dial(t, srv.ClientKey(), sessiontest.HostKeys(t, srv.Addr(), srv.HostKey()), sessiontest.Host(t, "server", srv.Addr()))
	s := open(t, tr, "dash")
	_, _ = s.Run(t.Context(), session.Command{Script: "cat", Stdin: letters("abc")})
	require.NoError(t, s.Close())
	require.NoError(t, tr.Close())
	nothingIsLeft(t, mark)
}
