package framing_test

import (
	"os/exec"
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
	return s.doWhile(func() { s.write([]byte{3}) }, script, processes...)
}

func (s *shell) doWhile(interrupt func(), script string, processes ...string) outcome {
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
	interrupt()
	return s.wait()
}

// signaled runs the line that ends the shell's command and signals its programs.
func (s *shell) signaled(signal string) {
	s.t.Helper()
	said, err := exec.Command("/bin/sh", "-c", framing.Signal(s.hello.PID, signal)).Output()
	require.NoError(s.t, err)
	did := framing.ParseSignaled(string(said), s.hello.PID)
	require.True(s.t, did.Done)
	require.False(s.t, did.Deaf)
	require.NotZero(s.t, did.Count)
}

func TestAnInterruptEndsTheCommandAndNotTheShell(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		var s *shell
		for i, tt := range []struct {
			script    string
			processes []string
			told      bool // a POSIX shell cannot tell that nothing is left to run, and ends
		}{
			{"/bin/sleep 100", []string{"sleep"}, false},
			{"tail -f /dev/null", []string{"tail"}, false},
			{"sh -c '/bin/sleep 100; echo never'", []string{"sleep"}, false},
			{`sh -c "/bin/sleep 100; echo never"`, []string{"sleep"}, false},
			{"/bin/sleep 100 | /bin/sleep 99 | tail", []string{"sleep", "sleep", "tail"}, true},
			{"(/bin/sleep 100)", []string{"sleep"}, true},
			{"echo out; echo err >&2; /bin/sleep 100", []string{"sleep"}, false},
			{"x=$(/bin/sleep 100)", []string{"sleep"}, true},
		} {
			if !tries(i, sh) {
				continue
			}
			s = next(t, s, sh)
			t.Run(tt.script, func(t *testing.T) {
				s.t = t
				s.ok("cd /usr; V=kept; f() { echo F; }")
				o := s.interruptWhile(tt.script, tt.processes...)
				assert.NotContains(t, o.stdout, "never")
				assertNothingOfOurs(t, o)
				if tt.told && s.hello.Dialect == framing.POSIX {
					assert.Equal(t, &framing.Exit{Code: 130, Dir: "/usr"}, o.exit)
					return
				}
				require.Nil(t, o.exit)
				if s.hello.Dialect == framing.Ksh93 && o.trailer.ExitCode == 2 && strings.HasPrefix(tt.script, "(") {
					o.trailer.ExitCode = 130 // its own number is 258, of which a subshell may leave a byte; also with nothing but trap : INT
				}
				assert.Equal(t, 130, o.trailer.ExitCode)
				assert.Equal(t, "kept\nF\n/usr\n", s.output("echo $V; f; pwd"))
			})
		}
	})
}

// next is the shell that the case before has left, or another where that has ended. ksh93 is new each time: after an interrupt it may
// start programs that have it blocked.
func next(t *testing.T, s *shell, sh framing.Shell) *shell {
	if s != nil && !s.ended && sh.Name != "ksh" && !t.Failed() {
		return s
	}
	if s != nil {
		s.close()
	}
	return start(t, sh)
}

const substitution = "echo $(/bin/sleep 100) never"

// Who stops "backup; rm -r old" does not want it to go on with the rm.
func TestAnInterruptEndsAllOfTheCommand(t *testing.T) {
	endsAllOfTheCommand(t, "", func(s *shell) { s.write([]byte{3}) })
}

// So does a signal that the shell itself does not get, without a key.
func TestASignalEndsAllOfTheCommand(t *testing.T) {
	for _, name := range []string{"INT", "TERM", "KILL"} {
		t.Run(name, func(t *testing.T) { endsAllOfTheCommand(t, name, func(s *shell) { s.signaled(name) }) })
	}
}

func endsAllOfTheCommand(t *testing.T, signal string, interrupt func(s *shell)) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		var s *shell
		for i, script := range []string{
			"/bin/sleep 100; echo never",
			"/bin/sleep 100\necho never\necho never",
			"f",
			"f; echo never",
			"f || f; echo never",
			"V=kept g",
			"for i in 1 2 3; do f; echo never; done",
			"for i in 1 2 3; do /bin/sleep 100; echo never; done; echo never",
			"for i in 1 2; do for j in 1 2; do /bin/sleep 100; echo never; done; echo never; done; echo never",
			"while :; do /bin/sleep 100; done; echo never",
			"until /bin/sleep 100; do echo never; done; echo never",
			"if /bin/sleep 100; then echo never; else echo never; fi; case a in (a) echo never;; esac",
			"/bin/sleep 100 || echo never; echo never",
			"/bin/sleep 100 && echo never; echo never",
			"! /bin/sleep 100; echo never",
			"(/bin/sleep 100; echo never); echo never",
			"{ /bin/sleep 100; echo never; } 2>&1; echo never",
			"x=$(/bin/sleep 100; echo never); echo \"never $x\"",
			substitution,
			"/bin/sleep 100 | cat; echo never",
			"eval '/bin/sleep 100; echo never'; echo never",
			"trap 'echo never' USR1; /bin/sleep 100; kill -USR1 $$",
			"sh -c 'trap : INT; /bin/sleep 100; exit 0'; echo never",
			"set -f; /bin/sleep 100; set +f; echo never",
		} {
			if !tries(i, sh) || signal != "" && (i+len(signal))%2 == 0 { // signals differ in name alone
				continue
			}
			if sh.Name == "ksh" && (strings.HasPrefix(script, "x=$(") || signal != "" && strings.HasPrefix(script, "(")) {
				continue // ksh93 may take the interrupt in the substitution or subshell, and has forgotten it after that
			}
			s = next(t, s, sh)
			t.Run(script, func(t *testing.T) {
				s.t = t
				s.ok("cd /usr; V=kept; f() { /bin/sleep 100; echo never; }; g() { while /bin/sleep 100; do echo never; done; echo never; }")
				o := s.doWhile(func() { interrupt(s) }, script, "sleep")
				if script == substitution {
					o.stdout = strings.TrimPrefix(o.stdout, "never\n") // what the substitution is for goes on in most shells
				}
				if signal == "" || signal == "INT" { // shells tell of the others
					assert.Empty(t, o.stdout)
				}
				assert.NotContains(t, o.stdout, "never")
				assertNothingOfOurs(t, o)
				if o.exit != nil {
					require.NotContains(t, []framing.Dialect{framing.Bash, framing.Zsh}, s.hello.Dialect)
					assert.Contains(t, []int{130, 143, 137}, o.exit.Code)
					assert.Equal(t, framing.Exit{Code: o.exit.Code, Dir: "/usr"}, *o.exit)
					return
				}
				if script != substitution {
					assert.Contains(t, []int{130, 143, 137}, o.trailer.ExitCode)
				}
				assert.False(t, o.trailer.Trace)
				assert.Equal(t, "kept\n/usr\n1\n2\nno\n", s.output("echo $V; pwd; for i in 1 2; do echo $i; done; false || echo no"))
			})
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
		require.Nil(t, o.exit, "a program, and nothing to run after it")
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
			if o.exit != nil {
				assert.Equal(t, 130, o.exit.Code)
				return
			}
			assert.Equal(t, 130, o.trailer.ExitCode)
		}
	})
}

// A child that is killed before it has become its program is still the shell, with the shell's traps. (It may forget the
// signal then; so what it becomes ends by itself.)
func TestAChildThatIsKilledEarlySaysNoFarewell(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		o := s.run(`i=0; while [ $i -lt 100 ]; do /bin/sleep 1 & kill $!; i=$((i+1)); done; wait; echo done`)
		assert.Equal(t, "done\n", o.stdout)
		assert.Empty(t, o.stray)
		s.ok("true")
	})
}
