package held_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// service is a real program behind a local socket: it answers each line with itself, in capitals.
type service struct {
	path  string
	heard atomic.Int64 // connections
}

// serve starts one at a path that any account can connect to; with "@" it is no path, but a name.
func serve(t testing.TB, path string) *service {
	t.Helper()
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	if path[0] != '@' {
		require.NoError(t, os.Chmod(path, 0o777))
	}
	t.Cleanup(func() { l.Close() })
	s := &service{path: path}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.heard.Add(1)
			go func() {
				defer c.Close()
				for in := bufio.NewScanner(c); in.Scan(); {
					fmt.Fprintln(c, strings.ToUpper(in.Text()))
				}
			}()
		}
	}()
	return s
}

// socketDir is a directory with a short name, which other accounts can look into.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fairlead-sockets-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// A program with a socket of its own gets exactly that, by both supervisors, with and without Landlock, and whatever it sets up before it
// connects; and no way that is tried leads to another socket.
func TestExactlyTheSocketsOfACommandAreOpen(t *testing.T) {
	has(t, "bash")
	for who, as := range accounts() {
		for _, supervisor := range supervisors {
			for _, version := range []int{0, newest} {
				t.Run(fmt.Sprint(who, "/", supervisor, "/", version), func(t *testing.T) {
					holdBy(t, supervisor, "bash", version).close() // skips where that cannot be
					dir := socketDir(t)
					open, other := serve(t, filepath.Join(dir, "open")), serve(t, filepath.Join(dir, "other"))
					abstract := serve(t, "@"+filepath.Base(dir))
					datagrams, err := net.ListenPacket("unixgram", filepath.Join(dir, "datagrams"))
					require.NoError(t, err)
					t.Cleanup(func() { datagrams.Close() })
					require.NoError(t, os.Symlink("open", filepath.Join(dir, "link")))
					script, err := os.ReadFile("testdata/sockets.pl")
					require.NoError(t, err)
					require.NoError(t, os.WriteFile(filepath.Join(dir, "sockets.pl"), script, 0o644))
					perl, err := exec.LookPath("perl")
					require.NoError(t, err)
					s, err := startWith(t, by(t, supervisor, shellWith(framing.Shell{Name: "bash"}, held.ProgramFor(version, true, "/nowhere/socket", open.path, filepath.Join(dir, "datagrams")))), as, nil)
					require.NoError(t, err)
					o := s.run(fmt.Sprintf("%s %s/sockets.pl %[2]s %s", perl, dir, filepath.Base(dir)))
					assert.Equal(t, outcome{stdout: "stream: HELLO\nnot blocking: HELLO\nnone: 2\n22 ways\n"}, o)
					assert.Positive(t, open.heard.Load())
					assert.Zero(t, other.heard.Load())
					assert.Zero(t, abstract.heard.Load())
					var words []string
					for _, report := range s.told {
						call, _, ok := held.Refused([]byte(report))
						require.True(t, ok)
						words = append(words, call.String())
					}
					assert.Contains(t, words, "connect "+other.path)
					assert.NotContains(t, words, "connect "+open.path)
				})
			}
		}
	}
}

// A real program of a service gets its answer: docker's asks over HTTP.
func TestARealProgramAsksThroughItsSocket(t *testing.T) {
	docker, err := exec.LookPath("docker")
	if err != nil {
		needs.Part(t, "docker is not installed")
	}
	dir := socketDir(t)
	path, named := fmt.Sprint(dir, "/", os.Getuid(), ".sock"), dir+"/%U.sock"
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	daemon := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		if strings.HasSuffix(r.URL.Path, "/containers/json") {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `[{"Id":"0123456789abcdef","Names":["/web"],"Image":"nginx","Command":"nginx","State":"running","Status":"Up"}]`)
			return
		}
		fmt.Fprint(w, "OK")
	})}
	go daemon.Serve(l)
	t.Cleanup(func() { daemon.Close() })
	command := "DOCKER_HOST=unix://" + path + " " + docker + " ps --format '{{.Names}} {{.Image}}'"
	plain, err := start(t, framing.Shell{Name: "bash"}, nil)
	require.NoError(t, err)
	want := plain.run(command)
	require.Equal(t, outcome{stdout: "web nginx\n"}, want)
	for _, supervisor := range supervisors {
		for _, version := range []int{0, newest} {
			holdBy(t, supervisor, "bash", version).close()
			s, err := start(t, by(t, supervisor, shellWith(framing.Shell{Name: "bash"}, held.ProgramFor(version, true, "it's", named))), nil)
			require.NoError(t, err)
			assert.Equal(t, want, s.run(command), "%s %d", supervisor, version)
			s, err = start(t, by(t, supervisor, shellWith(framing.Shell{Name: "bash"}, held.ProgramFor(version, true))), nil)
			require.NoError(t, err)
			assert.NotZero(t, s.run(command).code)
		}
	}
}

// Names of accounts come from sssd as in any shell. An nscd is as if it were not there: programs look names up themselves then.
func TestNamesOfAccountsComeFromTheirService(t *testing.T) {
	has(t, "bash")
	if os.Getuid() != 0 {
		needs.Part(t, "only root can stand in for the service of names")
	}
	const sssd, nscd = "/var/lib/sss/pipes/nss", "/run/nscd/socket"
	for _, path := range []string{sssd, nscd} {
		if _, err := os.Lstat(path); err == nil {
			needs.Part(t, "a service of names runs here")
		}
		t.Cleanup(func() { // but not what others have put there
			for dir := filepath.Dir(path); os.Remove(dir) == nil; dir = filepath.Dir(dir) {
			}
		})
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	}
	names := serve(t, sssd)
	// A real program of this machine that asks now finds nobody there, at once.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: nscd, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	t.Cleanup(func() { os.Remove(nscd) })
	ask := `perl -MSocket -e 'for (@ARGV) { socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($_)) or print($! + 0, "\n"), next; syswrite(S, "alice\n"); print scalar <S> }' ` + sssd + " /var" + nscd
	for _, supervisor := range supervisors {
		for _, version := range []int{0, newest} {
			t.Run(fmt.Sprint(supervisor, "/", version), func(t *testing.T) {
				s := holdBy(t, supervisor, "bash", version)
				perl, err := exec.LookPath("perl")
				require.NoError(t, err)
				assert.Equal(t, outcome{stdout: "ALICE\n2\n"}, s.run(strings.Replace(ask, "perl", perl, 1)))
				assert.Empty(t, s.told)
			})
		}
	}
	assert.Positive(t, names.heard.Load())
}
