package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
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
