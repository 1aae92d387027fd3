package held_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/held"
)

// refusedBy runs a command in a held shell and returns in words what was reported as refused meanwhile.
func (s *shell) refusedBy(t *testing.T, script string) (words []string) {
	t.Helper()
	s.told = nil
	s.run(script)
	for _, report := range s.told {
		call, left, ok := held.Refused([]byte(report))
		require.True(t, ok, "%q", report)
		require.Nil(t, left)
		words = append(words, call.String())
	}
	return words
}

// What was refused is named exactly, by the path that it is about; and what would have changed nothing is not named.
func TestRefusedCallsAreNamed(t *testing.T) {
	for i, version := range []int{0, 1, 3, 5, newest, 0, 1, newest} {
		supervisor := supervisors[i/5]
		t.Run(fmt.Sprint(supervisor, "/", version), func(t *testing.T) {
			s := holdBy(t, supervisor, "bash", version)
			if version != newest && version != 0 && !strings.HasPrefix(s.hello.HeldBy, fmt.Sprintf("landlock %d,", version)) {
				t.Skip("this kernel's Landlock is older")
			}
			assert.Empty(t, s.hello.Unwatched)
			perl, err := exec.LookPath("perl")
			require.NoError(t, err)
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			file := filepath.Join(dir, "a file")
			require.NoError(t, os.WriteFile(file, []byte("kept"), 0o600))
			require.NoError(t, os.Symlink(file, filepath.Join(dir, "link")))
			require.NoError(t, os.Mkdir(filepath.Join(dir, "there"), 0o700))
			s.run("cd " + dir)
			for script, want := range map[string]string{
				"echo x >'a file'":                        "open for writing " + file,
				"echo x >>link":                           "open for writing " + file,
				"echo x >/proc/self/cwd/new":              "open for writing " + dir + "/new",
				"echo x >there/../new":                    "open for writing " + dir + "/new",
				"rm 'a file'":                             "remove " + file,
				"rm link":                                 "remove " + dir + "/link",
				"mv 'a file' there/b":                     "move " + file + " to " + dir + "/there/b",
				"mkdir -p there new":                      "make the directory " + dir + "/new",
				"rmdir there":                             "remove " + dir + "/there",
				"ln -s x new":                             "link " + dir + "/new",
				"chmod 700 'a file'":                      "chmod " + file,
				"mkfifo new":                              "make " + dir + "/new",
				"kill -9 1":                               "signal 9 to 1",
				"(exec 3<>/dev/tcp/127.0.0.1/9)":          "connect 127.0.0.1:9",
				`perl -e 'truncate q(a file), 0'`:         "truncate " + file,
				`perl -e 'socket S, 17, 3, 0'`:            "socket domain 17, type 3, protocol 0",
				`perl -e 'unlink qq(there/../a\x20file)'`: "remove " + file,
				"echo x >/dev/null":                       "",
				"echo x >/dev/tty":                        "",
				"echo x >/dev/stderr":                     "",
				"echo x >\"$TMPDIR/x\"; rm \"$TMPDIR/x\"": "",
				"echo x >none/new":                        "",
				"rm -f none":                              "",
				"mkdir -p there /tmp":                     "",
				"cat 'a file' link":                       "",
				"seq 200000 | sort -n | tail -n 1":        "",
				"cat <<E\nx\nE":                           "",
				"ls -l; id":                               "",
				"sleep 0 & kill -0 0; wait":               "",
			} {
				got := strings.Join(s.refusedBy(t, strings.ReplaceAll(script, "perl -", perl+" -")), "; ")
				assert.Equal(t, want, got, script)
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, "kept", string(text))
		})
	}
}

// A path that a terminal should not see is escaped.
func TestNamesOfRefusedCallsArePrintable(t *testing.T) {
	s := hold(t, "bash", newest)
	dir := t.TempDir()
	name := filepath.Join(dir, "\x1b[1m\xff")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Skip("this file system has no such names")
	}
	words := s.refusedBy(t, "rm "+dir+"/*")
	require.Len(t, words, 1)
	assert.True(t, strings.HasSuffix(words[0], `/\x1b[1m\xff`), words)
}

// Where the kernel puts no calls to the supervisor, the shell is held all the same, and says that refusals are not known.
func TestWhereCallsAreNotReportedTheShellSaysSo(t *testing.T) {
	has(t, "bash")
	for _, supervisor := range supervisors {
		t.Run(supervisor, func(t *testing.T) { whereCallsAreNotReported(t, supervisor) })
	}
}

func whereCallsAreNotReported(t *testing.T, supervisor string) {
	holdBy(t, supervisor, "bash", newest).close()
	s, err := start(t, by(t, supervisor, shellFor("bash", newest, false)), nil)
	require.NoError(t, err)
	assert.Regexp(t, `^landlock [0-9]+, seccomp$`, s.hello.HeldBy)
	assert.NotEmpty(t, s.hello.Unwatched)
	dir := t.TempDir()
	o := s.run("echo x >" + dir + "/f; chmod 700 " + dir)
	assert.Contains(t, o.stderr, "Permission denied")
	assert.Contains(t, o.stderr, "Operation not permitted")
	assert.Empty(t, s.told)
	assert.NoFileExists(t, filepath.Join(dir, "f"))
}

// What a shell leaves behind is reported with its end.
func TestWhatAHeldShellLeavesBehindIsReported(t *testing.T) {
	for script, want := range map[string]held.Left{
		"exit 0":                 {},
		`: >"$TMPDIR/x"; exit 0`: {Files: true},
		"sleep 1000 & exit 0":    {Processes: true},
	} {
		for _, supervisor := range supervisors {
			s := holdBy(t, supervisor, "bash", newest)
			assert.True(t, s.run(script).gone)
			require.NotEmpty(t, s.told, script)
			_, left, ok := held.Refused([]byte(s.told[len(s.told)-1]))
			require.True(t, ok)
			require.NotNil(t, left)
			assert.Equal(t, want, *left, "%s %s", supervisor, script)
			s.close()
		}
	}
}

// Reports that are none are not believed.
func TestAReportThatIsNoneIsNotRead(t *testing.T) {
	for _, report := range []string{"", "x", "left", "left;1", "0;2;0;0;0;0;0;0", "0;2;0;0;0;0;0\x00=a\x00=", "2;2;0;0;0;0;0;0\x00=a\x00=", "0;2;a;0;0;0;0;0\x00=a\x00="} {
		_, _, ok := held.Refused([]byte(report))
		assert.False(t, ok, "%q", report)
	}
	for report, want := range map[string]string{
		"0;257;0;0;577;0;0;0\x00=/a\x00=":                                            "open for writing /a",
		"1;56;0;0;577;0;0;0\x00?\x00=":                                               "open for writing (unknown)",
		"0;257;0;0;0;0;0;0\x00=/a\x00=":                                              "read /a",
		"0;257;0;0;512;0;0;0\x00=/a\x00=":                                            "truncate /a",
		"0;42;0;0;0;0;0;0\x00=0a0001bb0000000000000000000000000000000000000001\x00=": "connect [::1]:443",
		"0;42;0;0;0;0;0;0\x00=01002f72756e2f78\x00=":                                 "connect /run/x",
		"0;42;0;0;0;0;0;0\x00=01000061\x00=":                                         "connect @a",
		"0;42;0;0;0;0;0;0\x00?\x00=":                                                 "connect (unknown)",
		"0;234;5;6;9;0;0;0\x00=5\x00=":                                               "signal 9 to 5",
		"0;9999;0;0;0;0;0;0\x00=\x00=":                                               "system call 9999",
		"0;165;0;0;0;0;0;0\x00=\x00=":                                                "mount",
	} {
		call, _, ok := held.Refused([]byte(report))
		assert.True(t, ok, "%q", report)
		assert.Equal(t, want, call.String())
	}
}
