package framing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// interruptOnce waits for an event, types ^C, and waits for the frame's end.
func (s *shell) interruptOnce(event func(framing.Event) bool) outcome {
	s.t.Helper()
	before := s.waitSeeing(func(ev framing.Event) bool { return !event(ev) })
	require.Nil(s.t, before.exit)
	s.write([]byte{3})
	o := s.wait()
	o.stdout = before.stdout + o.stdout
	o.stderr = before.stderr + o.stderr
	return o
}

// interruptWhile runs a script, types ^C once all of these processes run, and waits for the frame's end. A process that
// the shell has not started yet, or not quite, would not get it.
func (s *shell) interruptWhile(script string, processes ...string) outcome {
	s.t.Helper()
	s.send(framing.Command{Script: script})
	before := s.waitSeeing(func(ev framing.Event) bool { return ev.Kind != framing.Started })
	require.Nil(s.t, before.exit)
	require.Eventually(s.t, func() bool {
		missing := slices.Clone(processes)
		for _, p := range session(s.cmd.Process.Pid) {
			if i := slices.Index(missing, p.name); i >= 0 {
				missing = slices.Delete(missing, i, i+1)
			}
		}
		return len(missing) == 0
	}, patience, tick, "%q do not run", processes)
	s.write([]byte{3})
	return s.wait()
}

func TestAnInterruptEndsTheCommandAndNotTheShell(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.ok("cd /usr; V=kept; f() { echo F; }")
		for _, tt := range []struct {
			script    string
			processes []string
		}{
			{"/bin/sleep 100", []string{"sleep"}},
			{"/bin/sleep 100 | /bin/sleep 99 | tail", []string{"sleep", "sleep", "tail"}},
			{"(/bin/sleep 100)", []string{"sleep"}},
			{"sh -c '/bin/sleep 100; echo never'", []string{"sleep"}},
			{"echo out; echo err >&2; /bin/sleep 100", []string{"sleep"}},
			{"x=$(/bin/sleep 100)", []string{"sleep"}},
		} {
			o := s.interruptWhile(tt.script, tt.processes...)
			require.Nil(t, o.exit, tt.script)
			assert.Equal(t, 130, o.trailer.ExitCode, tt.script)
			assert.NotContains(t, o.stdout, "never")
			assertNothingOfOurs(t, o)
			assert.Equal(t, "kept\nF\n/usr\n", s.output("echo $V; f; pwd"), tt.script)
		}
	})
}

// Python sleeps in short naps: a signal that comes between its last look and its sleep is seen after the sleep only.
func TestAnInterruptEndsPython(t *testing.T) {
	python := have(t, "python3")
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.send(framing.Command{Script: python + ` -c 'import time; print("up", flush=True)
while True: time.sleep(.05)'`})
		o := s.interruptOnce(func(ev framing.Event) bool { return strings.Contains(string(ev.Data), "up") })
		require.Nil(t, o.exit)
		assert.Equal(t, 130, o.trailer.ExitCode)
		assert.Contains(t, o.stderr, "KeyboardInterrupt")
		assert.Equal(t, "ok\n", s.output("echo ok"))
	})
}

// A ^C that comes too late finds the shell at its own work. It goes on, or says that it ended and where.
func TestAnInterruptBetweenCommandsLeavesAShellOrItsEnd(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.ok("cd /usr")
		for range 5 {
			s.write([]byte{3})
			o := s.run("echo ok")
			if o.exit != nil {
				require.Equal(t, "/usr", o.exit.Dir)
				require.Empty(t, o.stdout)
				return
			}
			require.Equal(t, "ok\n", o.stdout)
			require.Equal(t, framing.Trailer{Dir: "/usr"}, o.trailer)
		}
	})
}

func TestOutputBeforeAnInterruptIsNotLost(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for range 3 {
			o := s.interruptWhile("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; /bin/sleep 100", "sleep")
			assert.Equal(t, 2000, strings.Count(o.stdout, "\n"))
			assert.Equal(t, 130, o.trailer.ExitCode)
		}
	})
}

// A child that is killed before it has become its program is still the shell, with the shell's traps. (It may forget the
// signal then; so what it becomes ends by itself.)
func TestAChildThatIsKilledEarlySaysNoFarewell(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		o := s.run(`i=0; while [ $i -lt 300 ]; do /bin/sleep 1 & kill $!; i=$((i+1)); done; wait; echo done`)
		assert.Equal(t, "done\n", o.stdout)
		assert.Empty(t, o.stray)
		s.ok("true")
	})
}
