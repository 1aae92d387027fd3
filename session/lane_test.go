package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// judgedReads is a policy file that never holds reads.
const judgedReads = "version: 1\nprincipals:\n  - {name: role=agent, reads: judged}\n"

// asAgent opens a session of an agent under the built-in policy with reads that are not held. What would ask is approved, except what is
// asked about because of a name that the session has set.
func asAgent(t *testing.T, tr session.Transport, shell string) *session.Session {
	t.Helper()
	return asAgentUnder(t, judgedReads, tr, shell)
}

// asAgentUnder is asAgent under a policy file; "" is none.
func asAgentUnder(t *testing.T, policyFile string, tr session.Transport, shell string) *session.Session {
	t.Helper()
	s, err := session.Open(tr, hosts.Host{Name: "host", Shell: shell}, session.Config{
		Principal: "agent/test", Policy: agentApproved(t, policyFile), Audit: audit.Discard{}, Grace: 500 * time.Millisecond,
	})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// agentApproved is the built-in policy with a file, where what would ask is approved, except for what is asked about because of a name.
func agentApproved(t *testing.T, policyFile string) policy.Decider {
	t.Helper()
	cfg := rules.Config{}
	if policyFile != "" {
		file, err := rules.Parse([]byte(policyFile), "policy.yaml")
		require.NoError(t, err)
		cfg.User = file
	}
	engine := rules.New(cfg)
	return policy.DeciderFunc(func(ctx context.Context, req policy.Request) (policy.Decision, error) {
		d, err := engine.Decide(ctx, req)
		if d.Verdict == policy.Ask && d.Rule != "builtin/session-name" {
			d.Verdict, d.Approval = policy.Allow, "test"
		}
		return d, err
	})
}

// poisonings are commands that make a later harmless one do something else, in some shell or other.
var poisonings = []string{
	"alias ls='touch $MARK; true' 2>/dev/null; shopt -s expand_aliases 2>/dev/null",
	"ls() { touch $MARK; }",
	"cd() { touch $MARK; command cd \"$@\"; }",
	"pwd() { touch $MARK; }",
	"echo() { touch $MARK; }",
	"true() { touch $MARK; }",
	"eval 'test() { touch $MARK; }'",
	"mkdir -p $DIR/bin; printf '#!/bin/sh\\ntouch %s\\n' $MARK >$DIR/bin/ls; chmod +x $DIR/bin/ls; export PATH=$DIR/bin:$PATH",
	"PATH=$DIR/bin:$PATH",
	"read PATH <<EOF\n$DIR/bin:$PATH\nEOF",
	"for PATH in $DIR/bin; do :; done",
	"printf -v PATH %s $DIR/bin 2>/dev/null || PATH=$DIR/bin",
	"hash -p $DIR/bin/ls ls 2>/dev/null",
	"PROMPT_COMMAND='touch $MARK'",
	"PS1='$(touch $MARK)'",
	"PS4='$(touch $MARK)'; set -x",
	"trap 'touch $MARK' DEBUG 2>/dev/null || :",
	"trap 'touch $MARK' CHLD 2>/dev/null || :",
	"trap 'touch $MARK' EXIT; trap - EXIT; trap 'touch $MARK' USR1",
	"shopt -s extdebug 2>/dev/null; trap 'touch $MARK' DEBUG 2>/dev/null || :",
	"export BASH_ENV=$DIR/env ENV=$DIR/env; echo 'touch $MARK' >$DIR/env",
	"command_not_found_handle() { touch $MARK; }; command_not_found_handler() { touch $MARK; }",
	"export GIT_PAGER='touch $MARK' PAGER='touch $MARK' LESSOPEN='|touch $MARK'",
	"preexec() { touch $MARK; }; precmd() { touch $MARK; }; chpwd() { touch $MARK; }",
}

// eachShell runs f with every shell on this machine.
func eachShell(t *testing.T, f func(t *testing.T, tr session.Transport, shell string)) {
	tr := transports[0].open(t)
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			needShell(t, shell)
			t.Parallel()
			f(t, tr, shell)
		})
	}
}

// A read may make its shell stricter: that ends with it, and so does what it sets there.
func TestAReadThatChangesItsShellChangesNoOther(t *testing.T) {
	eachShell(t, func(t *testing.T, tr session.Transport, shell string) {
		s := asAgent(t, tr, shell)
		for _, held := range []string{"session", "clean"} {
			r, err := s.Run(t.Context(), session.Command{Script: "set -eu; ls /nonexistent 2>/dev/null; echo no"})
			require.NoError(t, err)
			assert.Equal(t, "clean", r.Lane)
			assert.NotZero(t, r.ExitCode)
			assert.Empty(t, string(r.Stdout))
			r, err = s.Run(t.Context(), session.Command{Script: "ls /nonexistent 2>/dev/null; echo a$unset"})
			require.NoError(t, err)
			assert.Equal(t, held, r.Lane)
			assert.Equal(t, "a\n", string(r.Stdout))
			r, err = s.Run(t.Context(), session.Command{Script: "set -u; n=5; echo $n"})
			require.NoError(t, err)
			assert.Equal(t, "5\n", string(r.Stdout))
			r, err = s.Run(t.Context(), session.Command{Script: `echo "$n"`})
			require.ErrorIs(t, err, session.ErrDenied)
			assert.Contains(t, r.Decision.Hint, "in the same command")
			r, err = s.Run(t.Context(), session.Command{Script: "cd /nonexistent 2>/dev/null || exit 3; ls"})
			require.NoError(t, err)
			require.NotNil(t, r.ExitCode)
			assert.Equal(t, 3, *r.ExitCode)
			assert.Equal(t, "clean", r.Lane)
			r, err = s.Run(t.Context(), session.Command{Script: "export LC_ALL=C; echo $LC_ALL"})
			require.NoError(t, err)
			assert.Equal(t, "C\n", string(r.Stdout))
			_, err = s.Run(t.Context(), session.Command{Script: "mine=5"}) // taints
			require.NoError(t, err)
		}
		require.NoError(t, s.Close())
	})
}

func TestNothingThatASessionRanChangesWhatALaterReadMeans(t *testing.T) {
	tr := transports[0].open(t)
	for k, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			needShell(t, shell)
			t.Parallel()
			for i, poison := range poisonings {
				if (needs.Detector || shell != "bash" && shell != "dash") && (i+k)%2 != 0 { // each meets most shells
					continue
				}
				dir := t.TempDir()
				mark := filepath.Join(dir, "mark")
				s := asAgent(t, tr, shell)
				poison = strings.NewReplacer("$MARK", mark, "$DIR", dir).Replace(poison)
				_, err := s.Run(t.Context(), session.Command{Script: poison})
				if err != nil {
					require.NoError(t, s.Close())
					continue // denied, which is as good
				}
				os.Remove(mark) // the poisoning itself was approved
				for _, read := range []string{"ls", "echo hi", "cd /", "test -d / && pwd"} {
					r, _ := s.Run(t.Context(), session.Command{Script: read})
					require.NotEqual(t, session.StatusError, r.Status, "%v", r.Err)
					if r.Status != session.StatusDenied {
						assert.Equal(t, "clean", r.Lane, read)
					}
					_, err := os.Stat(mark)
					require.Error(t, err, "%d: %s: then %s", i, poison, read)
				}
				require.NoError(t, s.Close())
			}
		})
	}
}

// A function with the name of what our own frames stand on breaks the session's own shell: it is replaced, and what
// comes after runs where that function is not.
func TestAFunctionThatBreaksTheFrameCostsTheShellAndNotTheSession(t *testing.T) {
	eachShell(t, func(t *testing.T, tr session.Transport, shell string) {
		s := open(t, tr, shell)
		for _, poison := range []string{"command() { :; }", "builtin() { :; }", "eval() { :; }", "read() { :; }", "test() { :; }", "print() { :; }"} {
			s.Run(t.Context(), session.Command{Script: poison})
			var r session.Result
			for range 3 {
				if r, _ = s.Run(t.Context(), session.Command{Script: "echo ok", Timeout: 10 * time.Second}); r.Status == session.StatusOK {
					break
				}
			}
			assert.Equal(t, "ok\n", string(r.Stdout), poison)
		}
	})
}

func TestTheLanesShareADirectoryAndNothingElse(t *testing.T) {
	eachShell(t, func(t *testing.T, tr session.Transport, shell string) {
		s := asAgent(t, tr, shell)
		run := func(script, lane, out string) {
			t.Helper()
			r, err := s.Run(t.Context(), session.Command{Script: script})
			require.NoError(t, err)
			assert.Equal(t, lane, r.Lane, script)
			assert.Equal(t, out, string(r.Stdout), script)
		}
		run("pwd >/dev/null; echo first", "session", "first\n")
		run("cd /usr", "session", "")
		run("X=1; touch /dev/null", "session", "")
		run("pwd", "clean", "/usr\n")
		run("cd /etc", "clean", "")
		run("pwd; touch /dev/null; echo $X", "session", "/etc\n1\n")
		run("cd /tmp; touch /dev/null", "session", "")
		run("pwd", "clean", "/tmp\n")
		r, err := s.Run(t.Context(), session.Command{Script: "echo $X"})
		require.ErrorIs(t, err, session.ErrDenied)
		assert.Contains(t, err.Error(), "X")
		assert.Equal(t, session.StatusDenied, r.Status)
		run("read -r y <<E\n2\nE", "clean", "")
		run("echo $y", "clean", "2\n")
		_, err = s.Run(t.Context(), session.Command{Script: "touch /dev/null; echo $y"})
		require.ErrorIs(t, err, session.ErrDenied, "it is set in one lane, and this would run in another")
		assert.Contains(t, err.Error(), "it rests on y, which an earlier command set in another shell (lane clean)")
		run("read -r y <<E\n3\nE\ntouch /dev/null; echo $y", "session", "3\n")
		s.Reset()
		run("pwd", "session", "/tmp\n")
		require.NoError(t, s.Close())
	})
}

func TestAnOperatorsCommandsStayInTheSessionsShell(t *testing.T) {
	engine := rules.New(rules.Config{})
	s, err := session.Open(transports[0].open(t), hosts.Host{Name: "host"}, session.Config{Principal: "operator/ada", Policy: engine, Audit: audit.Discard{}})
	require.NoError(t, err)
	defer s.Close()
	succeed(t, s, session.Command{Script: "f() { echo F; }; X=1"})
	r := succeed(t, s, session.Command{Script: "f; echo $X"})
	assert.Equal(t, "F\n1\n", string(r.Stdout))
	assert.Equal(t, "session", r.Lane)
}
