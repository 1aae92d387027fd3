package held_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	hostcodetest.Check(t, hostcodetest.File{Name: "hold.pl", Source: *held.HoldSource, Sent: held.HoldText(), Max: 5700, Shells: []string{"perl"}})
	hostcodetest.Check(t, hostcodetest.File{Name: "watch.pl", Source: *held.WatchSource, Sent: held.WatchText(), Max: 8300, Shells: []string{"perl"}})
}

// hold starts a held shell, as if Landlock had at most a version.
func hold(t testing.TB, name string, version int) *shell {
	t.Helper()
	has(t, name)
	s, err := start(t, framing.Shell{Name: name, Hold: held.ProgramFor(version), Watch: held.Watch()}, nil)
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
var holdable = []string{"bash", "zsh", "dash", "ash", "mksh"}

func TestAHeldShellReadsAndSaysByWhatItIsHeld(t *testing.T) {
	for _, name := range holdable {
		for _, version := range []int{1, 3, 5, newest} {
			t.Run(fmt.Sprint(name, "/", version), func(t *testing.T) {
				s := hold(t, name, version)
				assert.Regexp(t, `^landlock [0-9]+, seccomp$`, s.hello.HeldBy)
				if version != newest && !strings.HasPrefix(s.hello.HeldBy, fmt.Sprintf("landlock %d,", version)) {
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
	for _, end := range []string{"the terminal closes", "exit"} {
		t.Run(end, func(t *testing.T) {
			s := hold(t, "bash", newest)
			dir := strings.TrimSpace(s.run(`echo "$TMPDIR"`).stdout)
			info, err := os.Stat(dir)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700)|os.ModeDir, info.Mode())
			assert.Equal(t, outcome{}, s.run(`for i in 1 2 3; do echo $i >"$TMPDIR/file $i"; done; mkfifo "$TMPDIR/.pipe"; mktemp >/dev/null`))
			for _, refused := range []string{`mkdir "$TMPDIR/d"`, `ln -s /etc "$TMPDIR/l"`, `ln /etc/hostname "$TMPDIR/h"`, `mknod "$TMPDIR/n" c 1 3`, `chmod 777 "$TMPDIR"`} {
				assert.NotZero(t, s.run(refused+" 2>/dev/null").code, refused)
			}
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
	for want, spec := range map[string]framing.Shell{
		"its kernel has no Landlock": {Name: "bash", Hold: held.ProgramFor(0)},
		"it is Tuesday":              {Name: "bash", Hold: `die "it is Tuesday in $ENV{TMPDIR}\n"`},
		"syntax error":               {Name: "bash", Hold: `1 +`},
		"the kernel ended it":        {Name: "bash", Hold: `kill 9, $$; sleep 1000`},
		"it has no perl":             {Name: "bash", Hold: held.Program(), Env: []string{"PATH=" + withoutPerl(t)}},
	} {
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

func TestKsh93IsNotHeld(t *testing.T) {
	has(t, "ksh93")
	_, err := start(t, framing.Shell{Name: "ksh93", Hold: held.Program(), Watch: held.Watch()}, nil)
	var un *framing.UnheldError
	require.ErrorAs(t, err, &un)
	assert.Contains(t, un.Reason, "/dev/shm")
}

// withoutPerl is a directory of programs that has no perl.
func withoutPerl(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"sh", "bash", "stty", "env", "sed", "id", "cat", "head", "tr"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}
