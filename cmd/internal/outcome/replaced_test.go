package outcome_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/session"
)

func TestANewShellIsReportedInOneLine(t *testing.T) {
	for name, tt := range map[string]struct {
		r    session.Result
		want string
	}{
		"the same shell": {session.Result{}, ""},
		"restarted": {session.Result{ShellRestarted: true, Restored: []string{"cwd", "umask", "env"}},
			"fairlead: web1: the shell had ended, and was restarted; restored: directory, umask, exported variables; lost: functions, aliases, shell options, variables that were not exported\n"},
		"reconnected, and little is left": {session.Result{ShellRestarted: true, Reconnected: true, Restored: []string{"umask", "stale"}},
			"fairlead: web1: the connection was lost; reconnected with a new shell; restored: umask (umask and variables are those from before the last command that may have changed them); lost: directory, functions, aliases, shell options, variables that were not exported\n"},
		"nothing is left": {session.Result{ShellRestarted: true},
			"fairlead: web1: the shell had ended, and was restarted; lost: directory, functions, aliases, shell options, variables that were not exported\n"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, outcome.Replaced("web1", tt.r)) })
	}
}

func TestASecondInterruptNamesTheHosts(t *testing.T) {
	sig := &cmdutil.SignalError{Signal: syscall.SIGINT, Number: 2}
	var running cmdutil.Running
	assert.Equal(t, "stopped by interrupt; ended at once\n", outcome.EndedAtOnce(sig, &running))
	stop := running.Track(func() []string { return []string{"web1", "web2", "db1"} })
	assert.Equal(t, "stopped by interrupt; ended at once. The command may still be running on db1,web[1-2]. Check with: fairlead run 'db1,web[1-2]' -- ps -ef\n",
		outcome.EndedAtOnce(sig, &running))
	stop()
	hangs := make(chan struct{})
	defer close(hangs)
	running.Track(func() []string { <-hangs; return nil })
	assert.Equal(t, "stopped by interrupt; ended at once. Commands may still be running. Requests without a result are in: fairlead audit verify\n",
		outcome.EndedAtOnce(sig, &running))
}
