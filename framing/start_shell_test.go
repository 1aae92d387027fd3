package framing_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

func TestEveryLoginShellStartsTheLoader(t *testing.T) {
	t.Parallel()
	for name, login := range map[string][]string{
		"bash": {"bash", "-c"}, "zsh": {"zsh", "-c"}, "dash": {"dash", "-c"}, "ash": {"busybox", "ash", "-c"}, "mksh": {"mksh", "-c"}, "ksh93": {"ksh93", "-c"},
		"fish": {"fish", "-c"}, "tcsh": {"tcsh", "-c"}, "tcsh without start files": {"tcsh", "-f", "-c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			login := append([]string{have(t, login[0])}, login[1:]...)
			for _, reader := range both {
				s := startAs(t, account{login: login}, framing.Shell{Name: "dash", Reader: reader})
				o := s.run("printf 'a\\0b\\n'; echo err >&2; (exit 3)")
				assert.Equal(t, "a\x00b\n", o.stdout)
				assert.Equal(t, "err\n", o.stderr)
				assert.Equal(t, 3, o.trailer.ExitCode)
				s.close()
			}
		})
	}
}

// Some shells expand "!" and backslashes even in quotes, fish reads "{a,b}" and "(…)", and none of them can be told apart
// before it has read the line.
func TestTheLoaderHoldsNothingThatALoginShellReadsInItsOwnWay(t *testing.T) {
	for range 100 {
		line := framing.Loader(framing.NewToken())
		assert.NotContains(t, line, "\n")
		assert.NotContains(t, line, `\`)
		assert.NotContains(t, line, "!")
		outside := strings.Split(line, "'")
		require.Len(t, outside, 3)
		assert.Equal(t, "exec sh -c ", outside[0])
		assert.Equal(t, "", outside[2])
	}
}

func TestKsh93Works(t *testing.T) {
	t.Parallel()
	have(t, "ksh93")
	path := t.TempDir()
	require.NoError(t, os.Symlink(have(t, "ksh93"), filepath.Join(path, "ksh")))
	for _, reader := range allReaders {
		s := startAs(t, account{env: append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"))}, framing.Shell{Name: "ksh", Reader: reader})
		require.Equal(t, framing.Ksh93, s.hello.Dialect)
		o := s.run("cd /usr; print -r -- 'a b'; echo err >&2; typeset G=1; (exit 7)")
		assert.Equal(t, outcome{stdout: "a b\n", stderr: "err\n", trailer: framing.Trailer{ExitCode: 7, Dir: "/usr"}}, o)
		assert.Equal(t, "1\n", s.output("echo $G"))
		assert.Equal(t, everyByte(), s.output(printText(framing.Mksh, quoted(t, everyByte()))))
		o = s.interruptWhile("/bin/sleep 100", "sleep")
		assert.Equal(t, 130, o.trailer.ExitCode)
		o = s.run("(")
		assert.NotZero(t, o.trailer.ExitCode)
		assert.NotEmpty(t, o.stderr)
		o = s.run("exit 3")
		require.NotNil(t, o.exit)
		assert.Equal(t, framing.Exit{Code: 3, Dir: "/usr"}, *o.exit)
		s.close()
	}
}

// onlyWith returns a PATH with a few programs and no more.
func onlyWith(t *testing.T, programs ...string) string {
	dir := t.TempDir()
	for _, name := range append([]string{"sh", "stty", "tr", "head", "cat", "bash", "sleep"}, programs...) {
		require.NoError(t, os.Symlink(have(t, name), filepath.Join(dir, name)))
	}
	return "PATH=" + dir
}

func TestAHostGivesTheBestReaderThatItHas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		programs []string
		exact    bool
		process  string // of the supervisor's
	}{
		"perl":    {[]string{"perl", "hexdump"}, true, "fairlead"},
		"hexdump": {[]string{"hexdump"}, true, "hexdump"},
		"neither": {nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startAs(t, account{env: []string{onlyWith(t, tt.programs...), "HOME=/"}}, framing.Shell{Name: "bash"})
			assert.Equal(t, tt.exact, s.hello.Exact)
			o := s.run("echo out; echo err >&2; (exit 7)")
			assert.Equal(t, "out\n", o.stdout)
			assert.Equal(t, "err\n", o.stderr)
			assert.Equal(t, 7, o.trailer.ExitCode)
			for _, name := range []string{"perl", "hexdump"} {
				assert.Equal(t, name == tt.process, find(s.cmd.Process.Pid, name) != nil, name)
			}
		})
	}
}

func TestABusyboxHostNeedsNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	busybox := have(t, "busybox")
	for _, name := range []string{"sh", "ash", "busybox", "stty", "tr", "head", "cat", "hexdump"} {
		require.NoError(t, os.Symlink(busybox, filepath.Join(dir, name)))
	}
	s := startAs(t, account{login: []string{filepath.Join(dir, "sh"), "-c"}, env: []string{"PATH=" + dir}}, framing.Shell{})
	assert.True(t, s.hello.Exact)
	o := s.run("printf 'o\\0'; printf 'e\\0\\377' >&2; (exit 7)")
	assert.Equal(t, "o\x00", o.stdout)
	assert.Equal(t, "e\x00\xff", o.stderr)
	assert.Equal(t, 7, o.trailer.ExitCode)
}

// The supervisor without perl is the host's sh: none of its processes hears of the keyboard, the first key after the start
// included, and the shell's programs all do.
func TestTheKeyboardsSignalsMeanTheCommandWhateverTheHostsShIs(t *testing.T) {
	for name, program := range map[string]string{"dash": "dash", "bash": "bash", "ash": "busybox", "mksh": "mksh", "ksh": "ksh93", "zsh": "zsh"} {
		for _, reader := range []string{"hexdump", "lines"} {
			t.Run(name+"/"+reader, func(t *testing.T) {
				t.Parallel()
				haveReader(t, reader)
				bin := t.TempDir()
				require.NoError(t, os.Symlink(have(t, program), filepath.Join(bin, "sh")))
				s := startAs(t, account{login: []string{filepath.Join(bin, "sh"), "-c"}, env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=/"}},
					framing.Shell{Name: "bash", Reader: reader})
				if name != "ksh" { // see shellSupervisor
					s.write([]byte{3})
				}
				o := s.run("echo out; echo err >&2")
				require.Nil(t, o.exit)
				assert.Equal(t, "out\n", o.stdout)
				assert.Equal(t, "err\n", o.stderr)
				var ignored uint64
				for line := range strings.Lines(s.output("cat /proc/self/status")) {
					if mask, ok := strings.CutPrefix(line, "SigIgn:\t"); ok {
						_, err := fmt.Sscanf(mask, "%x", &ignored)
						require.NoError(t, err)
					}
				}
				for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP} {
					assert.Zero(t, ignored>>(sig-1)&1, sig)
				}
				o = s.interruptWhile("sleep 100", "sleep")
				assert.Equal(t, 130, o.trailer.ExitCode)
				assert.Equal(t, "ok\n", s.output("echo ok"))
			})
		}
	}
}

func TestAMissingShellIsToldInWords(t *testing.T) {
	for _, name := range []string{"nosuchshell", "zsh"} {
		_, err := tryStart(t, account{env: []string{onlyWith(t)}}, framing.Shell{Name: name})
		var start *framing.StartupError
		require.ErrorAs(t, err, &start)
		assert.Equal(t, "there is no "+name+" on the host", start.Reason)
		assert.EqualError(t, err, "framing: there is no "+name+" on the host")
	}
}

// What is exported to every shell holds for what picks it, too.
func TestAPathWithoutPrograms(t *testing.T) {
	have(t, "bash")
	_, err := tryStart(t, account{env: []string{"SHELL=/bin/bash"}}, framing.Shell{Env: []string{"PATH=/nonexistent:$PATH"}})
	var start *framing.StartupError
	require.ErrorAs(t, err, &start)
	assert.Equal(t, "no directory of PATH (/nonexistent:$PATH) has sh: env in the inventory, or a start file, sets that PATH", start.Reason)
}

func TestAnAutomaticShellIsTheAccountsElseBash(t *testing.T) {
	for shell, want := range map[string]framing.Dialect{
		"/usr/bin/zsh": framing.Zsh, "/bin/bash": framing.Bash, "/usr/bin/fish": framing.Bash, "/bin/tcsh": framing.Bash, "": framing.Bash, "/bin/dash": framing.POSIX,
	} {
		if _, err := exec.LookPath(shell); shell != "" && err != nil {
			continue
		}
		for _, name := range []string{"", "auto"} {
			s := startAs(t, account{env: append(os.Environ(), "SHELL="+shell)}, framing.Shell{Name: name})
			assert.Equal(t, want, s.hello.Dialect, shell)
			s.close()
		}
	}
}

func TestTheEnvironmentPagesAsksAndRemembersNothing(t *testing.T) {
	eachShell(t, []string{"perl", "hexdump"}, func(t *testing.T, sh framing.Shell) {
		s := startAs(t, account{env: append(os.Environ(), "HISTFILE=/tmp/history", "BASH_ENV=/nonexistent", "ENV=/nonexistent", "PROMPT_COMMAND=echo P",
			"PAGER=less", "TERM=xterm-256color", "x=1", "p=2", "d=3", "b=4", "t=5")}, sh)
		assert.Equal(t, "dumb cat cat cat cat cat 1 0\n", s.output("echo $TERM $PAGER $GIT_PAGER $GH_PAGER $SYSTEMD_PAGER $MANPAGER $NO_COLOR $GIT_TERMINAL_PROMPT"))
		assert.Equal(t, "noninteractive 1\n", s.output("echo $DEBIAN_FRONTEND $GH_PROMPT_DISABLED"))
		assert.Equal(t, "unset unset unset\n", s.output(`echo ${HISTFILE-unset} ${BASH_ENV-unset} ${PROMPT_COMMAND-unset}`))
		assert.NotContains(t, s.output(`echo ${ENV-unset}`), "nonexistent", "ksh93 sets a default of its own")
		assert.Equal(t, "[] []\n", s.output(`echo "[$GIT_ASKPASS] [$SSH_ASKPASS]"`))
		assert.Equal(t, "1 2 3 4 5\n1 2 3 4 5\n", s.output(`echo $x $p $d $b $t; sh -c 'echo $x $p $d $b $t'`), "variables of the account")
		assert.NotContains(t, s.output("env"), "_fl_")
		env, err := os.ReadFile("/proc/self/environ")
		require.NoError(t, err)
		require.NotContains(t, string(env), "_fl_")
	})
}

func TestAVariableGivenWithTheShellWinsOverOurs(t *testing.T) {
	s := start(t, framing.Shell{Name: "bash", Env: []string{"PAGER=less", "TERM=xterm"}})
	assert.Equal(t, "less xterm\n", s.output("echo $PAGER $TERM"))
}

// A login shell reads the account's profile, and what that prints or changes is bounded.
func TestALoginShellReadsTheProfile(t *testing.T) {
	home := realDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(home, ".profile"), []byte("echo Welcome; export FROM_PROFILE=yes; PS1='$ '\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".zprofile"), []byte("echo Welcome; export FROM_PROFILE=yes\n"), 0o600))
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		env := append(os.Environ(), "HOME="+home)
		s := startAs(t, account{env: env}, sh)
		assert.Equal(t, "no\n", s.output("echo ${FROM_PROFILE-no}"))
		s.close()
		sh.Login = true
		s = startAs(t, account{env: env}, sh)
		assert.Equal(t, "yes\n", s.output("echo ${FROM_PROFILE-no}"))
	})
}

// What a program sees is what counts: exactly these, beside what the shell itself exports.
func TestAProgramSeesACleanEnvironment(t *testing.T) {
	eachShell(t, []string{"perl", "lines"}, func(t *testing.T, sh framing.Shell) {
		sh.Clean = true
		for name, env := range map[string][]string{
			"much":   append(os.Environ(), "SECRET=hunter2", "AWS_PROFILE=x", "LC_ALL=C", "SHELL=/bin/bash", "LD_PRELOAD=", "USER=ada", "LOGNAME=ada", "HOME=/", "LANG=C", "TERM=xterm"),
			"little": {"PATH=" + os.Getenv("PATH")},
		} {
			s := startAs(t, account{env: env}, sh)
			for _, script := range []string{"env", "cd /tmp; env", "sh -c env"} {
				got := map[string]string{}
				for line := range strings.Lines(s.output(script)) {
					k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
					switch k {
					case "PWD", "OLDPWD", "SHLVL", "_", "A__z", "_AST_FEATURES": // the shell's own
					default:
						got[k] = v
					}
				}
				assert.ElementsMatch(t, []string{"HOME", "USER", "LOGNAME", "PATH", "LANG", "TERM"}, slices.Collect(maps.Keys(got)), "%s: %s", name, script)
				for k, v := range got {
					assert.NotEmpty(t, v, k)
				}
				if name == "much" {
					assert.Equal(t, "ada", got["USER"])
				}
				assert.Equal(t, os.Getenv("PATH"), got["PATH"])
			}
			s.close()
		}
	})
}

func TestACleanEnvironmentHoldsNothingOfTheAccountsButItsIdentity(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		sh.Clean, sh.Env = true, []string{"GIVEN=1"}
		s := startAs(t, account{env: append(os.Environ(), "SECRET=hunter2", "LINES_OF=a\nHOME=x\nFOO=1", "LD_PRELOAD=", "USER=ada")}, sh)
		assert.Equal(t, "unset unset 1 ada cat\n", s.output(`echo ${SECRET-unset} ${LINES_OF-unset} $GIVEN $USER $PAGER`))
		assert.Equal(t, os.Getenv("PATH")+"\n", s.output("echo $PATH"))
	})
}

// What starts a shell is read in few pieces: read takes one byte at a time.
func TestWhatStartsAShellIsReadInFewPieces(t *testing.T) {
	t.Parallel()
	strace := have(t, "strace")
	have(t, "head")
	for _, sh := range []framing.Shell{{Name: "bash"}, {Name: "dash", Dir: "/", Env: []string{"A=é'\x1e\\ \n"}, Clean: true}} {
		have(t, sh.Name)
		trace := filepath.Join(t.TempDir(), "trace")
		s := startAs(t, account{login: []string{strace, "-f", "-qq", "-o", trace, "-e", "trace=read", "/bin/sh", "-c"}}, sh)
		assert.Equal(t, sh.Dir == "/", s.output("pwd") == "/\n")
		s.close()
		assert.Less(t, strings.Count(slurp(trace), "read(0, "), 1000)
	}
}

// Where no head counts bytes, the text is read line by line.
func TestAShellStartsWithoutAHeadThatCountsBytes(t *testing.T) {
	t.Parallel()
	old := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(old, "head"), []byte("#!/bin/sh\ncase $1 in (-c) echo no -c >&2; exit 2;; esac\nexec "+have(t, "head")+" \"$@\"\n"), 0o755))
	none := strings.TrimPrefix(onlyWith(t, "perl", "env", "sed"), "PATH=")
	require.NoError(t, os.Remove(filepath.Join(none, "head")))
	for _, path := range []string{old + ":" + os.Getenv("PATH"), none} {
		for _, sh := range []framing.Shell{{Name: "bash", Reader: "perl"}, {Name: "bash", Reader: "perl", Clean: true, Dir: "/", Env: []string{"A=x\ny \\"}}} {
			s := startAs(t, account{env: []string{"PATH=" + path, "HOME=/"}}, sh)
			assert.Equal(t, len(sh.Env) > 0, s.output(`printf %s "${A-}"`) == "x\ny \\")
			s.close()
		}
	}
}
