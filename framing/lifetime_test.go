package framing_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

func TestAShellThatEndsSaysHow(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		all := map[string]framing.Exit{
			"cd /usr; exit 3":                 {Code: 3, Dir: "/usr"},
			"cd /usr; exit":                   {Code: 0, Dir: "/usr"},
			"cd /usr; exec sh -c 'exit 5'":    {Code: 5},
			"exec true":                       {Code: 0},
			"kill -9 $$":                      {Signal: 9},
			"trap 'echo T' EXIT; exit 2":      {Code: 2},
			"echo last; cd /usr; exit 4":      {Code: 4, Dir: "/usr"},
			"(sleep 100) & exit 6":            {Code: 6, Dir: "/"},
			"echo lost >&2; exit 129":         {Code: 129, Dir: "/"},
			"kill -TERM $$; sleep 1; exit 12": {Signal: 15},
		}
		for i, script := range slices.Sorted(maps.Keys(all)) {
			want := all[script]
			if !tries(i, sh) {
				continue
			}
			sh.Dir = "/"
			s := start(t, sh)
			o := s.run(script)
			require.NotNil(t, o.exit, script)
			got := *o.exit
			if want.Signal == 15 && got.Signal == 0 {
				// A shell that says farewell first ends with a code: ksh93's is 256 + 15, of which a byte is left.
				assert.Contains(t, []int{143, 15}, got.Code, script)
			} else if want.Signal != 0 {
				assert.Equal(t, want.Signal, got.Signal, script)
			} else {
				assert.Zero(t, got.Signal, script)
				assert.Equal(t, want.Code, got.Code, script)
			}
			if want.Dir != "" {
				assert.Equal(t, want.Dir, got.Dir, script)
			}
			assertNothingOfOurs(t, o)
			s.close()
		}
	})
}

// A trap on EXIT has the streams of the command that ends the shell, and reads nothing.
func TestWhatATrapOnExitPrintsIsTheCommands(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		for script, code := range map[string]int{
			"trap 'read x; echo bye; echo byerr >&2' EXIT; exit 2":               2,
			"set -e; trap 'echo bye; echo byerr >&2' EXIT; (exit 4); echo never": 4,
			"trap 'cat; echo bye; echo byerr >&2; exit 9' EXIT; exit":            9,
		} {
			s := start(t, sh)
			o := s.run(script)
			s.close()
			require.NotNil(t, o.exit, script)
			assert.Equal(t, code, o.exit.Code, script)
			assert.Equal(t, "bye\n", o.stdout, script)
			assert.Equal(t, "byerr\n", o.stderr, script)
			assert.Empty(t, o.stray, script)
		}
	})
}

// Without its own printf a shell says no more how a command ends: it leaves, and no one waits for an end that does not come.
func TestAShellThatCannotPrintTheEndLeaves(t *testing.T) {
	switchedOff := map[string]string{"bash": "enable -n printf", "zsh": "disable printf"}
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		script := switchedOff[sh.Name]
		if script == "" {
			return
		}
		s := start(t, sh)
		o := s.run("cd /usr; echo out; " + script)
		require.NotNil(t, o.exit)
		assert.Equal(t, "out\n", o.stdout)
		assertNothingOfOurs(t, o)
	})
}

func TestASilentCommandStartsNoProcess(t *testing.T) {
	strace := have(t, "strace")
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.ok("true")
		builtins := []string{"true", ":", "cd /usr", "x=1", "set -- a b", "cd /", "f() { :; }; f", "umask 022", "PWD=/fake", "true"}
		// The control: one that does start a process is seen.
		n, trace := s.traced(strace, append(builtins, "/bin/true"))
		if n != 1 {
			t.Errorf("%d processes were started: %s", n, trace)
		}
		n, trace = s.traced(strace, builtins)
		if n != 0 {
			t.Errorf("%d processes were started: %s", n, trace)
		}
	})
}

// traced runs commands while strace follows the shell, its supervisor and all that they start, and counts that.
func (s *shell) traced(strace string, scripts []string) (started int, trace string) {
	s.t.Helper()
	file := s.t.TempDir() + "/trace"
	args := []string{"-f", "-qq", "-o", file, "-e", "trace=fork,vfork,clone,clone3,execve"}
	for _, p := range session(s.cmd.Process.Pid) {
		args = append(args, "-p", fmt.Sprint(p.pid))
	}
	cmd := exec.Command(strace, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(s.t, cmd.Start())
	attached := func() bool {
		return strings.Contains(slurp(fmt.Sprintf("/proc/%d/status", s.hello.PID)), fmt.Sprintf("TracerPid:\t%d\n", cmd.Process.Pid))
	}
	require.Eventually(s.t, attached, patience, tick)
	for _, script := range scripts {
		s.run(script)
	}
	require.NoError(s.t, cmd.Process.Signal(os.Interrupt))
	cmd.Wait() // ends by the signal
	require.False(s.t, attached())
	trace = slurp(file)
	for line := range strings.Lines(trace) {
		if !strings.Contains(line, "execve(") && !strings.Contains(line, "resumed") && strings.Contains(line, "(") {
			started++
		}
	}
	return started, trace + stderr.String()
}

func sleeps(sid int) (all []process) {
	for _, p := range session(sid) {
		if p.name == "sleep" {
			all = append(all, p)
		}
	}
	return all
}

// The name that makes a word a builtin is itself one that a function can have.
func TestAShellWhoseBuiltinsWereTakenEndsAsTheCommandDid(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		for i, status := range []string{"0", "1", "7"} {
			if !tries(i, sh) {
				continue
			}
			for _, name := range []string{"builtin", "command"} {
				s := start(t, sh)
				o := s.run("cd /usr; " + name + "() { return " + status + "; }; echo out; (exit 9)")
				assert.Equal(t, "out\n", o.stdout)
				assert.Empty(t, o.stderr)
				if o.exit == nil {
					assert.Equal(t, framing.Trailer{ExitCode: 9, Dir: "/usr"}, o.trailer)
					if o = s.run("echo ok"); o.exit == nil { // else it ended when it was to read
						assert.Equal(t, "ok\n", o.stdout)
					}
				} else {
					assert.Equal(t, 9, o.exit.Code, name)
					assert.Equal(t, "/usr", o.exit.Dir, name)
				}
				s.close()
			}
		}
	})
}

func TestNothingOfOursOutlivesTheTerminal(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		for i, script := range []string{"", "sleep 100", "sleep 100 & sleep 100", "(sleep 100; sleep 100) | cat", "while :; do :; done", "yes", "yes >&2", "exit 3", "kill -9 $$", "trap : INT; sleep 100",
			"set -m; sleep 100 &"} {
			if !tries(i, sh) || strings.HasPrefix(script, "set -m") && sh.Reader != "perl" {
				continue // the kernel tells only the foreground, and the shells that supervise cannot listen while they wait
			}
			s := start(t, sh)
			script = strings.ReplaceAll(script, "sleep", "/bin/sleep") // not mksh's builtin
			s.send(framing.Command{Script: script})
			s.waitSeeing(func(ev framing.Event) bool { return ev.Kind != framing.Started })
			if strings.Contains(script, "sleep") && sh.Reader != "perl" {
				// A shell's child that is told between fork and exec forgets it. Only perl tells it again.
				require.Eventually(t, func() bool {
					return len(sleeps(s.cmd.Process.Pid)) == strings.Count(script, "sleep")-strings.Count(script, "sleep 100)")
				}, patience, tick)
			}
			s.close()
			requireGone(t, s.cmd.Process.Pid)
		}
		s := start(t, sh) // idle
		s.ok("true")
		s.close()
		requireGone(t, s.cmd.Process.Pid)
	})
}

// The process that holds the terminals is this test, started again; it says which shells it has, and waits.
func TestMain(m *testing.M) {
	if os.Getenv("FRAMING_TEST_HOLD") == "" {
		os.Exit(m.Run())
	}
	os.Args = []string{os.Args[0], "-test.run=^TestHoldTerminals$", "-test.v"}
	os.Exit(m.Run())
}

const aSleep = "/bin/sleep 100"

func TestHoldTerminals(t *testing.T) {
	script := os.Getenv("FRAMING_TEST_HOLD")
	if script == "" {
		t.Skip("runs only as the process that is killed")
	}
	for _, name := range installed(t) {
		s := start(t, framing.Shell{Name: name, Reader: os.Getenv("FRAMING_TEST_READER")})
		s.send(framing.Command{Script: script})
		s.waitSeeing(func(ev framing.Event) bool { return ev.Kind != framing.Started })
		if script == aSleep {
			// A child of mksh's forgets a hangup that comes before it has become its program, and only perl tells it again.
			require.Eventually(t, func() bool { return len(sleeps(s.cmd.Process.Pid)) == 1 }, patience, tick)
		}
		fmt.Printf("session %d\n", s.cmd.Process.Pid)
	}
	fmt.Println("ready")
	<-t.Context().Done() // never: the test is killed
}

func TestNothingOfOursOutlivesAControllerThatIsKilled(t *testing.T) {
	t.Parallel()
	for i, reader := range allReaders {
		for j, script := range []string{"true", aSleep, "yes"} {
			if reader != "perl" && i == j+1 { // what the other two do is the same program's: each leaves out one
				continue
			}
			t.Run(reader+"/"+script, func(t *testing.T) {
				haveReader(t, reader)
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "FRAMING_TEST_HOLD="+script, "FRAMING_TEST_READER="+reader)
				out, err := cmd.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, cmd.Start())
				var sids []int
				lines := bufio.NewScanner(out)
				for lines.Scan() && lines.Text() != "ready" {
					var sid int
					if _, err := fmt.Sscanf(lines.Text(), "session %d", &sid); err == nil {
						require.NotEmpty(t, session(sid))
						sids = append(sids, sid)
					}
				}
				require.NoError(t, cmd.Process.Kill())
				cmd.Wait() // ends by the signal
				require.Len(t, sids, len(installed(t)))
				for _, sid := range sids {
					requireGone(t, sid)
				}
			})
		}
	}
}

// What ends at a hangup, in time, and what stays. Only perl's supervisor tells the whole session.
func TestWhatCatchesTheHangupEndsAndWhatIgnoresItStays(t *testing.T) {
	for _, name := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have(t, "perl")
			s := start(t, framing.Shell{Name: name, Reader: "perl"})
			defer func() {
				for _, p := range session(s.cmd.Process.Pid) {
					_ = syscall.Kill(p.pid, syscall.SIGKILL)
				}
			}()
			// A subshell of zsh's would not inherit that the shell ignores it.
			o := s.run(`(trap : HUP; while :; do :; done) &
(trap '' HUP; exec /bin/sleep 100) & echo $!`)
			stays, err := strconv.Atoi(strings.TrimSpace(o.stdout))
			require.NoError(t, err)
			require.Eventually(t, func() bool { return len(sleeps(s.cmd.Process.Pid)) == 1 }, patience, tick)
			s.close()
			require.Eventually(t, func() bool { return len(session(s.cmd.Process.Pid)) == 1 }, patience, tick, "%v", session(s.cmd.Process.Pid))
			left := sleeps(s.cmd.Process.Pid)
			require.Len(t, left, 1)
			assert.Equal(t, stays, left[0].pid)
		})
	}
}

// What the last command has just started may leave the session: the hangup does not come before it can. Only perl's supervisor waits.
func TestAHangUpLetsWhatHasJustBeenStartedLeave(t *testing.T) {
	for _, name := range shells {
		t.Run(name, func(t *testing.T) {
			have(t, "perl")
			have(t, "setsid")
			for range 6 {
				s := start(t, framing.Shell{Name: name, Reader: "perl"})
				o := s.run("nohup /bin/sleep 100 >/dev/null 2>&1 & echo $!\nsetsid /bin/sleep 100 >/dev/null 2>&1 & echo $!\n/bin/sleep 100 & echo $!")
				s.close()
				require.Eventually(t, func() bool { return syscall.Kill(s.cmd.Process.Pid, 0) != nil }, patience, tick, "the supervisor ends")
				pids := strings.Fields(o.stdout)
				require.Len(t, pids, 3)
				for i, text := range pids {
					pid, err := strconv.Atoi(text)
					require.NoError(t, err)
					if i < 2 {
						require.Contains(t, slurp(fmt.Sprintf("/proc/%d/cmdline", pid)), "sleep", "%d: it was to go on", i)
						require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
					} else {
						require.NotContains(t, slurp(fmt.Sprintf("/proc/%d/cmdline", pid)), "sleep")
					}
				}
			}
		})
	}
}

// Whoever waits for another that the hangup ends must not take that for a reason to go on: all hear it before any of them
// runs again. Here the one that waits is the youngest, and so the last on the list; process ids that have wrapped round do the same.
func TestAHangUpLetsNobodyRunOn(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		dir := t.TempDir()
		fifo, trace := dir+"/fifo", dir+"/trace"
		require.NoError(t, syscall.Mkfifo(fifo, 0o600))
		const crowd = 80
		s := start(t, sh)
		s.send(framing.Command{Script: fmt.Sprintf(`/bin/sleep 100 >%[1]s &
n=%[3]d; while [ $n -gt 0 ]; do n=$((n-1)); /bin/sleep 100 & done
(exec 3<%[1]s; echo up; read x <&3; echo ended >>%[2]s) & wait`, fifo, trace, crowd)})
		s.waitSeeing(func(ev framing.Event) bool { return ev.Kind != framing.Stdout })
		require.Eventually(t, func() bool { return len(sleeps(s.cmd.Process.Pid)) == crowd+1 }, patience, tick)
		s.close()
		requireGone(t, s.cmd.Process.Pid)
		assert.NoFileExists(t, trace)
	})
}

// A terminal that is hung up tells everybody: the supervisor stops in the middle of a record, and zsh, inside a command,
// says farewell past it.
func TestAHangUpLeavesNoFarewellInTheErrors(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		turns := 2
		if sh.Name == "zsh" {
			turns = 8
		}
		for range turns {
			s := start(t, sh)
			s.send(framing.Command{Script: "yes >&2"})
			s.waitSeeing(func(ev framing.Event) bool { return ev.Kind != framing.Stderr })
			require.NoError(t, syscall.Kill(-s.cmd.Process.Pid, syscall.SIGHUP))
			var all strings.Builder
			for {
				p, err := s.read()
				s.dec.Feed(p)
				for ev, ok := s.dec.Next(); ok; ev, ok = s.dec.Next() {
					all.Write(ev.Data)
				}
				if err != nil {
					break
				}
			}
			assert.NotContains(t, all.String(), "\x1e")
			s.close()
			requireGone(t, s.cmd.Process.Pid)
		}
	})
}

// Nothing that a command does to the variable by which bash tells its children from itself takes the farewell away.
func TestAShellSaysWhereItEndedWhateverBASHPIDHolds(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		for _, script := range []string{"unset BASHPID; cd /usr; exit 3", "BASHPID=1; cd /usr; exit 3", "export BASHPID=1; cd /usr; exit 3"} {
			s := start(t, sh)
			o := s.run(script)
			require.NotNil(t, o.exit, script)
			assert.Equal(t, "/usr", o.exit.Dir, script)
			s.close()
		}
	})
}

// A shell that was stopped has not ended: its supervisor lets it go on.
func TestAShellThatIsStoppedGoesOn(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		defer s.close()
		s.ok("V=kept")
		for _, script := range []string{"kill -STOP $$; echo on; (exit 3)", "sh -c 'kill -STOP $PPID'; echo on; (exit 3)", "set -m; kill -TSTP $$; set +m; echo on; (exit 3)"} {
			o := s.run(script)
			require.Nil(t, o.exit, script)
			assert.Equal(t, "on\n", o.stdout, script)
			assert.Equal(t, 3, o.trailer.ExitCode, script)
		}
		assert.Equal(t, "kept\n", s.output("echo $V"))
	})
}
