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

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// closed are the places that the judge calls secret.
func closed() (all []string) {
	for _, s := range judge.Secrets() {
		all = append(all, held.Closed(s.Patterns, s.Except))
	}
	return all
}

// shellToTryAt is a shell in which a command is tried, as if Landlock had at most a version.
func shellToTryAt(version int, name string, env ...string) framing.Shell {
	return shellWith(framing.Shell{Name: name, Env: env}, held.TrialFor(version, closed()))
}

// try starts a shell in which a command is tried, as if Landlock had at most a version.
func try(t testing.TB, supervisor string, version int, name string, env ...string) *shell {
	t.Helper()
	holdBy(t, supervisor, name, version).close() // skips where that cannot be
	s, err := start(t, by(t, supervisor, shellToTryAt(version, name, env...)), nil)
	require.NoError(t, err)
	require.Empty(t, s.hello.Unwatched)
	return s
}

// A command that is tried reads what is not secret as any does, and nothing is reported of it.
func TestWhatIsTriedReadsAsEver(t *testing.T) {
	type kind struct {
		supervisor, name string
		version          int
	}
	kinds := []kind{{"perl", "bash", 0}, {"perl", "zsh", 0}, {"python3", "bash", newest}, {"python3", "dash", newest}, {"python3", "dash", 0}}
	for _, name := range holdable {
		kinds = append(kinds, kind{"perl", name, newest})
	}
	for _, k := range kinds {
		name := k.name
		t.Run(fmt.Sprint(k.supervisor, "/", k.name, "/", k.version), func(t *testing.T) {
			s := try(t, k.supervisor, k.version, k.name)
			perl, err := exec.LookPath("perl")
			require.NoError(t, err)
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("text\n"), 0o644))
			require.NoError(t, os.Symlink("file", filepath.Join(dir, "link")))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "id_rsa.pub"), []byte("public\n"), 0o644))
			s.run("cd " + dir)
			long := strings.Repeat("0123456789abcde\n", 8192) // 128 KiB
			for script, want := range map[string]outcome{
				"cat file link ./link ../*/file":                             {stdout: "text\ntext\ntext\ntext\n"},
				"cat <file":                                                  {stdout: "text\n"},
				"cat none":                                                   {stderr: "cat: none: No such file or directory\n", code: 1},
				"cat id_rsa.pub":                                             {stdout: "public\n"},
				"ls":                                                         {stdout: "file\nid_rsa.pub\nlink\n"},
				"ls / | grep -c '^etc$'":                                     {stdout: "1\n"},
				"cd / && ls -d etc; cd " + dir:                               {stdout: "etc\n"},
				"echo a | cat - /dev/null":                                   {stdout: "a\n"},
				"echo a | cat /dev/stdin":                                    {stdout: "a\n"},
				"cat <<E | wc -c\n" + long + "E":                             {stdout: "131072\n"},
				"seq 150000 | sort -n | tail -n 1":                           {stdout: "150000\n"},
				"head -c 3 /dev/zero | wc -c":                                {stdout: "3\n"},
				"grep -c . /proc/self/status | grep -c '[0-9]'":              {stdout: "1\n"},
				"readlink -f link":                                           {stdout: dir + "/file\n"},
				"cat /proc/self/cwd/file":                                    {stdout: "text\n"},
				"wc -c /proc/$$/environ | grep -c '[0-9]'":                   {stdout: "1\n"},
				"perl -e 'open F, q(<), q(file); print <F>'":                 {stdout: "text\n"},
				"perl -e 'sysopen(F, q(file), 0300) or print $!+0'":          {stdout: "17"},
				"perl -e 'open(F, q(<), q()) or print $!+0'":                 {stdout: "2"},
				"cat . 2>/dev/null; echo x >none/x; rm -f none; mkdir -p .":  {stderr: "*"},
				"echo x >\"$TMPDIR/x\"; cat \"$TMPDIR/x\"; rm \"$TMPDIR/x\"": {stdout: "x\n"},
			} {
				s.told = nil
				o := s.run(strings.ReplaceAll(script, "perl -", perl+" -"))
				o.stdout = strings.ReplaceAll(o.stdout, " ", "") // wc of some systems
				if want.stderr == "*" {
					want.stderr = o.stderr
				}
				if name == "ksh93" && script == "echo a | cat /dev/stdin" { // its pipelines are sockets, which have no names: unheld too
					want = outcome{stderr: "cat: /dev/stdin: No such device or address\n", code: 1}
				}
				if name == "ash" && want.stderr != "" {
					want.stderr = o.stderr
				}
				assert.Equal(t, want, o, "%.60q", script)
				assert.Empty(t, s.told, "%.60q", script)
			}
		})
	}
}

// What is secret is not read, whichever way leads there, and the report says what was to be read.
func TestWhatIsTriedReadsNoSecrets(t *testing.T) {
	for _, supervisor := range supervisors {
		for _, version := range []int{0, newest} {
			t.Run(fmt.Sprint(supervisor, "/", version), func(t *testing.T) { triedReadsNoSecrets(t, supervisor, version) })
		}
	}
}

func triedReadsNoSecrets(t *testing.T, supervisor string, version int) {
	s := try(t, supervisor, version, "bash", "MY_TOKEN=hidden", "PLAIN=shown")
	perl, err := exec.LookPath("perl")
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range map[string]string{".env": "hidden", "d/.ssh/id_ed25519": "hidden", "d/.aws/credentials": "hidden", "d/key.pem": "hidden", "new\nline/.ssh/id_rsa": "hidden", "plain": "shown"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	require.NoError(t, os.Symlink(".env", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("plain", filepath.Join(dir, "d/.netrc")))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "d/up")))
	s.run("cd " + dir)
	outside := os.Getppid()
	for script, want := range map[string]string{
		"cat .env":                              "read " + dir + "/.env",
		"cat link":                              "read " + dir + "/.env",
		"cat d/up/d/../link":                    "read " + dir + "/.env",
		"cat /proc/self/cwd/.env":               "read " + dir + "/.env",
		"cat /proc/self/root" + dir + "/link":   "read " + dir + "/.env",
		"cat d/.ssh/id_ed25519":                 "read " + dir + "/d/.ssh/id_ed25519",
		"cd d/.ssh; cat id_ed25519; cd ../..":   "read " + dir + "/d/.ssh/id_ed25519",
		"cat d/.netrc":                          "read " + dir + "/d/plain",
		"cat new*/.ssh/id_rsa":                  "read " + dir + `/new\nline/.ssh/id_rsa`,
		"cat new*/../.env":                      "read " + dir + "/.env",
		"cat d/key.pem":                         "read " + dir + "/d/key.pem",
		"cat /etc/shadow":                       "read /etc/shadow",
		"(. ./.env)":                            "read " + dir + "/.env",
		"./.env":                                "read " + dir + "/.env",
		"exec 3<.env":                           "read " + dir + "/.env",
		"dd if=.env iflag=nofollow 2>/dev/null": "read " + dir + "/.env",
		"perl -e 'sysopen F, q(.env), 0x200000; open G, q(<), q(/proc/self/fd/).fileno F; print <G>'": "read " + dir + "/.env",
		"perl -e 'sysopen F, q(.env), 0100; print <F>'":                                               "create " + dir + "/.env",
		"perl -e 'sysopen F, q(.env), 2; print <F>'":                                                  "open for writing " + dir + "/.env",
		fmt.Sprintf("cat /proc/%d/environ", outside):                                                  fmt.Sprintf("read /proc/%d/environ", outside),
		fmt.Sprintf("cat /proc/%d/task/%[1]d/mem", outside):                                           fmt.Sprintf("read /proc/%d/task/%[1]d/mem", outside),
		fmt.Sprintf("ls -l /proc/%d/exe", outside):                                                    fmt.Sprintf("read /proc/%d/exe", outside),
		fmt.Sprintf("cat /proc/%d/root%s/.env", outside, dir):                                         "*",
		fmt.Sprintf("cat /proc/%d/cwd/harness_test.go", outside):                                      "*",
		"cat /proc/$PPID/environ":                                                                     "*",
		"cat /proc/kmsg":                                                                              "read /proc/kmsg",
		"env | grep -c hidden":                                                                        "",
		"tr '\\0' '\\n' </proc/self/environ | grep hidden":                                            "",
		"tr '\\0' '\\n' </proc/$$/environ | grep hidden":                                              "",
	} {
		s.told = nil
		o := s.run(strings.ReplaceAll(script, "perl -", perl+" -"))
		assert.NotContains(t, o.stdout+o.stderr, "hidden", script)
		assert.NotContains(t, o.stdout, "shown", script)
		var words []string
		for _, report := range s.told {
			call, _, ok := held.Refused([]byte(report))
			require.True(t, ok)
			words = append(words, call.String())
		}
		if want == "*" {
			assert.NotEmpty(t, words, script)
			continue
		}
		if want == "" {
			assert.Empty(t, words, script)
			continue
		}
		if assert.NotEmpty(t, words, script) {
			assert.Equal(t, want, words[0], script)
		}
	}
}

// Whatever a policy's patterns hold, what they say is closed, and nothing else.
func TestPatternsOfAnyCharactersCloseWhatTheySay(t *testing.T) {
	for _, supervisor := range supervisors {
		t.Run(supervisor, func(t *testing.T) {
			holdBy(t, supervisor, "bash", newest).close()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			names := map[string]string{"it's": "hidden", `a\b`: "hidden", "two words": "hidden", "é": "hidden", "a\nb": "hidden", "(x)": "hidden", "c1": "hidden", "c2": "shown",
				"its": "shown", "ab": "shown", "it's not": "shown", "it's\n": "shown"}
			for name, text := range names {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			sh := shellWith(framing.Shell{Name: "bash"}, held.Trial([]string{held.Closed([]string{dir + "/it's", dir + `/a\b`, dir + "/two words", "**/é", dir + "/a\nb", dir + "/(x)", "/**/c[1']", "**/c2"}, []string{"c2"})}))
			s, err := start(t, by(t, supervisor, sh), nil)
			require.NoError(t, err)
			for name, text := range names {
				quoted, err := framing.Quote(filepath.Join(dir, name))
				require.NoError(t, err)
				o := s.run("cat " + quoted)
				assert.Equal(t, map[string]string{"hidden": "", "shown": "shown"}[text], o.stdout, "%q %s", name, o.stderr)
			}
		})
	}
}

// A path that changes while it is looked at leads to no secret: what is read is what was looked at.
func TestAPathThatChangesLeadsToNoSecret(t *testing.T) {
	for _, supervisor := range supervisors {
		for _, version := range []int{0, newest} {
			t.Run(fmt.Sprint(supervisor, "/", version), func(t *testing.T) { changingPathLeadsToNoSecret(t, supervisor, version) })
		}
	}
}

func changingPathLeadsToNoSecret(t *testing.T, supervisor string, version int) {
	python := python(t)
	s := try(t, supervisor, version, "bash")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	plain, secret := filepath.Join(dir, "abcd"), filepath.Join(dir, ".env")
	require.NoError(t, os.WriteFile(plain, []byte("plain"), 0o644))
	require.NoError(t, os.WriteFile(secret, []byte("hidden"), 0o644))
	script, err := filepath.Abs("testdata/race.py")
	require.NoError(t, err)
	o := s.run(fmt.Sprintf("%s %s %s %s 2000", python, script, plain, secret))
	assert.Equal(t, outcome{stdout: "opened\n", stderr: o.stderr}, o)
	assert.NotEmpty(t, s.told)
}
