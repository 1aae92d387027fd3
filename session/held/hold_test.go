package held_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/framing/hostcode/hostcodetest"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// newest stands for the version of Landlock that the kernel has.
const newest = 99

func TestWhatIsSentOfAFileIsSmallAndMeansTheSame(t *testing.T) {
	sizes := map[string]int{"hold.pl": 6000, "watch.pl": 10850, "hold.py": 8500, "watch.py": 2850, "answer.py": 13390}
	for _, f := range held.HostFiles {
		t.Run(f.Name, func(t *testing.T) {
			language := "perl"
			if strings.HasSuffix(f.Name, ".py") {
				python(t)
				language = "python3"
			}
			hostcodetest.Check(t, hostcodetest.File{Name: f.Name, Source: f.Source, Sent: f.Text(), Max: sizes[f.Name], Shells: []string{language}})
		})
	}
}

// shellFor is a shell that is held as if Landlock had at most a version, and whether refused calls are told.
func shellFor(name string, version int, told bool) framing.Shell {
	return shellWith(framing.Shell{Name: name}, held.ProgramFor(version, told))
}

// shellWith is sh with the texts that hold it.
func shellWith(sh framing.Shell, texts held.Texts) framing.Shell {
	sh.Hold, sh.Watch, sh.HoldPython, sh.WatchPython = texts.Hold, texts.Watch, texts.HoldPython, texts.WatchPython
	return sh
}

// hold starts a held shell, as if Landlock had at most a version.
func hold(t testing.TB, name string, version int) *shell {
	t.Helper()
	return holdBy(t, "perl", name, version)
}

// holdBy is hold by one of the supervisors.
func holdBy(t testing.TB, supervisor, name string, version int) *shell {
	t.Helper()
	has(t, name)
	s, err := start(t, by(t, supervisor, shellFor(name, version, true)), nil)
	var un *framing.UnheldError
	if errors.As(err, &un) && (strings.Contains(un.Reason, "has no Landlock") || strings.Contains(un.Reason, "processor")) {
		needs.Part(t, "this machine cannot hold a shell: %s", un.Reason)
	}
	require.NoError(t, err)
	return s
}

// has skips a test that lacks a shell or perl.
func has(t testing.TB, name string) {
	t.Helper()
	for _, p := range []string{program(name), "perl"} {
		if _, err := exec.LookPath(p); err != nil {
			needs.Part(t, "%s is not installed", p)
		}
	}
}

// holdable are the shells that can be held.
var holdable = []string{"bash", "zsh", "dash", "ash", "mksh", "ksh93"}

func TestAHeldShellReadsAndSaysByWhatItIsHeld(t *testing.T) {
	type kind struct {
		supervisor, name string
		version          int
	}
	var kinds []kind
	for _, name := range holdable {
		for _, version := range []int{0, 1, 5, newest} {
			kinds = append(kinds, kind{"perl", name, version})
		}
		kinds = append(kinds, kind{"python3", name, newest})
	}
	for _, k := range append(kinds, kind{"python3", "dash", 1}, kind{"python3", "bash", 0}, kind{"python3", "ksh93", 0}) {
		{
			version := k.version
			t.Run(fmt.Sprint(k.supervisor, "/", k.name, "/", version), func(t *testing.T) {
				s := holdBy(t, k.supervisor, k.name, version)
				s.isOf(t, k.supervisor)
				if version == 0 {
					assert.Equal(t, "seccomp", s.hello.HeldBy)
				} else {
					assert.Regexp(t, `^landlock [0-9]+, seccomp$`, s.hello.HeldBy)
				}
				if version != newest && version != 0 && !strings.HasPrefix(s.hello.HeldBy, fmt.Sprintf("landlock %d,", version)) {
					needs.Part(t, "this kernel's Landlock is older than version %d", version)
				}
				long := strings.Repeat("0123456789abcde\n", 8192) // 128 KiB
				for script, want := range map[string]outcome{
					"echo a >/dev/null && echo b":                  {stdout: "b\n"},
					"seq 150000 | sort -n | tail -n 1":             {stdout: "150000\n"},
					"cat <<E | wc -c\n" + long + "E":               {stdout: "131072\n"},
					"cat <<E\nshort\nE":                            {stdout: "short\n"},
					`echo "$(printf '%s' "$(echo nested)")" | cat`: {stdout: "nested\n"},
					"(exit 3)":             {code: 3},
					"cd /usr && pwd; cd /": {stdout: "/usr\n"},
					"x=$(ls -A \"$TMPDIR\") && echo \"<$x>\"":       {stdout: "<>\n"},
					": >/dev/tty && echo a":                         {stdout: "a\n"},
					"grep -c . /proc/self/status | grep -c '[0-9]'": {stdout: "1\n"},
				} {
					o := s.run(script)
					o.stdout = strings.ReplaceAll(o.stdout, " ", "") // wc of some systems
					assert.Equal(t, want, o, "%.60q", script)
				}
			})
		}
	}
}

// The directory for temporary files is the account's alone, and goes with the shell, whatever it holds.
func TestTheDirectoryForTemporaryFilesGoesWithTheShell(t *testing.T) {
	for i, end := range slices.Repeat([]string{"the terminal closes", "exit"}, 4) {
		supervisor, version := supervisors[i/4], i/2%2*newest
		t.Run(fmt.Sprint(supervisor, "/", version, "/", end), func(t *testing.T) {
			s := holdBy(t, supervisor, "bash", version)
			dir := strings.TrimSpace(s.run(`echo "$TMPDIR"`).stdout)
			info, err := os.Stat(dir)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700)|os.ModeDir, info.Mode())
			assert.Equal(t, outcome{}, s.run(`for i in 1 2 3; do echo $i >"$TMPDIR/file $i"; done; mktemp >/dev/null`))
			// Without Landlock there are no named pipes: the supervisor would wait for their other end.
			assert.Equal(t, version == 0, s.run(`mkfifo "$TMPDIR/.pipe" 2>/dev/null`).code != 0)
			for _, refused := range []string{`mkdir "$TMPDIR/d"`, `ln -s /etc "$TMPDIR/l"`, `ln /etc/hostname "$TMPDIR/h"`, `mknod "$TMPDIR/n" c 1 3`, `chmod 777 "$TMPDIR"`} {
				assert.NotZero(t, s.run(refused+" 2>/dev/null").code, refused)
			}
			// perl and python3 have truncate(2) for the shell too.
			truncate := `perl -e 'for (["f", 3], ["f", 1 << 31], ["f", 0], ["/etc/hostname", 1], ["none", 0]) { print truncate($_->[0], $_->[1]) ? 0 : $! + 0, -s "f" ? -s _ : 0, " " }'`
			if supervisor == "python3" {
				truncate = "python3 -c '\nimport os\nfor f, n in (\"f\", 3), (\"f\", 1 << 31), (\"f\", 0), (\"/etc/hostname\", 1), (\"none\", 0):\n\ttry:\n\t\tos.truncate(f, n)\n\t\tcode = 0\n" +
					"\texcept OSError as error:\n\t\tcode = error.errno\n\tprint(\"%d%d \" % (code, os.path.getsize(\"f\")), end=\"\")'"
			}
			assert.Equal(t, "03 273 00 130 20 ", s.run(`cd "$TMPDIR"; echo 12345 >f; `+truncate+` 2>/dev/null; rm f`).stdout)
			if end == "exit" {
				assert.True(t, s.run("exit 5").gone)
				assert.NoDirExists(t, dir)
			}
			s.close()
			assert.NoDirExists(t, dir)
		})
	}
}

// Where the shell cannot be held there is none, and it says why.
func TestAHostThatCannotHoldSaysWhyAndStartsNoShell(t *testing.T) {
	has(t, "bash")
	neither, both := onlyWith(t), func(perl, python string) framing.Shell {
		return framing.Shell{Name: "bash", Hold: perl, HoldPython: "def hold(channel, environment):\n\t" + python}
	}
	for _, supervisor := range supervisors {
		for want, spec := range map[string]framing.Shell{
			"its kernel has no Landlock":      shellFor("bash", 0, false),
			"it is Tuesday":                   both(`die "it is Tuesday in $ENV{TMPDIR}\n"`, `raise Exception("it is Tuesday\nin " + environment[b"TMPDIR"].decode())`),
			"syntax":                          both(`1 +`, `1 +`),
			"the kernel ended it":             both(`kill 9, $$; sleep 1000`, `import os; os.kill(os.getpid(), 9)`),
			"it has neither perl nor python3": {Name: "bash", Hold: "1", HoldPython: "1", Env: []string{"PATH=" + neither}},
		} {
			if len(spec.Env) == 0 {
				spec = by(t, supervisor, spec)
			}
			_, err := start(t, spec, nil)
			var un *framing.UnheldError
			if assert.ErrorAs(t, err, &un, want) {
				assert.Contains(t, un.Reason, want)
				assert.NotContains(t, un.Reason, "\n")
				if _, dir, ok := strings.Cut(un.Reason, " in /"); ok {
					assert.NoDirExists(t, "/"+dir)
				}
			}
		}
	}
}

// perl holds where the host has both, and python3 where it has no perl. The shell and what it starts see nothing of that.
func TestPython3HoldsWhereThereIsNoPerl(t *testing.T) {
	t.Setenv("PYTHONPATH", "/nowhere") // which is not the supervisor's to follow, and stays
	t.Setenv("LC_ALL", "C")
	said := map[string]outcome{}
	for _, supervisor := range supervisors {
		s := holdBy(t, supervisor, "bash", newest)
		s.isOf(t, supervisor)
		assert.Empty(t, s.hello.Unwatched)
		said[supervisor] = s.run("env | sed '/^PATH=/d; /^_=/d; s/\\.fairlead-[0-9a-f]*/ROOM/'; ulimit -a; " +
			"grep -E '^(Sig[BIC]|Cap|NoNew|Seccomp)' /proc/self/status; ls /proc/self/fd")
		name, err := os.ReadFile(fmt.Sprintf("/proc/%s/cmdline", strings.TrimSpace(s.run("echo $PPID").stdout)))
		require.NoError(t, err)
		assert.Equal(t, "fairlead", strings.TrimRight(string(name), "\x00 "))
		flood := s.run("seq 200000; seq 200000 >&2; (exit 7)")
		assert.Equal(t, []int{1288895, 1288895, 7}, []int{len(flood.stdout), len(flood.stderr), flood.code})
	}
	assert.Equal(t, said["perl"], said["python3"])
	assert.Contains(t, said["perl"].stdout, "PYTHONPATH=/nowhere")
}

// The text for python3 arrives whatever shell reads it.
func TestEveryShReadsTheTextForPython3(t *testing.T) {
	path := os.Getenv("PATH")
	for _, sh := range []string{"bash", "dash", "busybox", "mksh", "zsh", "ksh93"} {
		t.Run(sh, func(t *testing.T) {
			program, err := exec.LookPath(sh)
			if err != nil {
				needs.Part(t, "%s is not installed", sh)
			}
			dir := t.TempDir()
			require.NoError(t, os.Symlink(program, filepath.Join(dir, "sh")))
			t.Setenv("PATH", dir+":"+path)
			s := holdBy(t, "python3", "dash", newest)
			assert.Equal(t, outcome{stdout: "a\n"}, s.run("echo a"))
		})
	}
}

// ksh93 keeps what $(…) and here-documents hold in files that have no names, and none of them is in /dev/shm. Where the kernel does not
// report its calls, it cannot get them, and is not held.
func TestWhatKsh93KeepsInFilesIsNowhere(t *testing.T) {
	for i, supervisor := range slices.Repeat(supervisors, 2) {
		version := newest * (i / 2)
		t.Run(fmt.Sprint(supervisor, "/", version), func(t *testing.T) {
			s := holdBy(t, supervisor, "ksh93", version)
			long := strings.Repeat("0123456789abcde\n", 8192) // 128 KiB
			for script, want := range map[string]outcome{
				"x=$(echo a; echo b); echo \"<$x>\"":                {stdout: "<a\nb>\n"},
				"x=$(seq 100000); echo ${#x}":                       {stdout: "588894\n"},
				"x=$(cat <<E\n" + long + "E\n); echo ${#x}":         {stdout: "131071\n"},
				"x=$(ls -l /proc/self/fd | grep -c shm); echo $x":   {stdout: "0\n"},
				"read -r x <<<'a b'; echo $x":                       {stdout: "a b\n"},
				"echo $(echo $(echo $(ls /dev/shm | grep -c ^sf)))": {stdout: "0\n"},
				"x=$(echo a | cat) && echo $x | wc -c":              {stdout: "2\n"},
			} {
				s.told = nil
				o := s.run(script)
				o.stdout = strings.ReplaceAll(o.stdout, "wc ", "")
				assert.Equal(t, want, o, "%.60q", script)
				assert.Empty(t, s.told, "%.60q", script)
			}
			// Another program, and another name, are as everywhere.
			for _, script := range []string{"exec 3<>/dev/shm/fairlead-x", "mktemp /dev/shm/sfXXX", "(set -C; : >/dev/shm/sf12.abc)"} {
				s.told = nil
				assert.NotZero(t, s.run(script).code, script)
				assert.NotEmpty(t, s.told, script)
			}
			_, err := start(t, by(t, supervisor, shellFor("ksh93", newest, false)), nil)
			var un *framing.UnheldError
			require.ErrorAs(t, err, &un)
			assert.Contains(t, un.Reason, "/dev/shm")
		})
	}
}

// onlyWith is a directory of programs that has neither perl nor python3.
func onlyWith(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"sh", "bash", "stty", "env", "sed", "id", "cat", "head", "tr"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}

// A device that may be written is opened with any flags as ever, also where the supervisor opens it.
func TestDevicesAreOpenedWithAnyFlags(t *testing.T) {
	has(t, "bash")
	perl, err := exec.LookPath("perl")
	if err != nil {
		needs.Part(t, "perl is not installed")
	}
	ask := perl + ` -MFcntl -e 'for (O_NOFOLLOW, O_DIRECTORY) { my $n = 0; for my $i (1..300) { $n++ if sysopen F, "/dev/null", O_WRONLY|$_ } print "$n\n" } print sysopen(F, "/dev/null", O_WRONLY) ? "ok" : "no"'`
	for _, supervisor := range supervisors {
		for _, version := range []int{0, newest} {
			t.Run(fmt.Sprint(supervisor, "/", version), func(t *testing.T) {
				s := holdBy(t, supervisor, "bash", version)
				assert.Equal(t, outcome{stdout: "300\n0\nok"}, s.run("ulimit -n 128; "+ask))
				assert.Equal(t, outcome{stdout: "ok\n"}, s.run("echo ok"))
			})
		}
	}
}
