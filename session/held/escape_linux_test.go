package held_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// nobody is the account that root's tests attack as, beside root.
var nobody = &syscall.Credential{Uid: 65534, Gid: 65534}

// victims are what attacks aim at: all of it belongs to the account that attacks.
type victims struct {
	dir      string
	process  *exec.Cmd
	signals  *bufio.Reader // a line for each signal that the process got
	port     int
	abstract string
	heard    atomic.Int64 // connections and datagrams
}

func newVictims(t *testing.T, as *syscall.Credential) *victims {
	t.Helper()
	// Not TempDir: other accounts cannot look into that.
	dir, err := os.MkdirTemp("/tmp", "fairlead-victims-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	v := &victims{dir: dir, abstract: filepath.Base(dir)}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("kept"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "spare"), []byte("spare"), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	fifo, err := os.OpenFile(filepath.Join(dir, "fifo"), os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { fifo.Close() })
	hear := func(network, address string) int {
		if strings.HasPrefix(network, "udp") || network == "unixgram" {
			c, err := net.ListenPacket(network, address)
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			go func() {
				for b := make([]byte, 64); ; v.heard.Add(1) {
					if _, _, err := c.ReadFrom(b); err != nil {
						return
					}
				}
			}()
			return 0
		}
		l, err := net.Listen(network, address)
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for ; ; v.heard.Add(1) {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			return a.Port
		}
		return 0
	}
	hear("unix", filepath.Join(dir, "listener"))
	hear("unix", "@"+v.abstract)
	hear("unixgram", filepath.Join(dir, "datagrams"))
	v.port = hear("tcp", "127.0.0.1:0")
	hear("udp", fmt.Sprint("127.0.0.1:", v.port))

	v.process = exec.Command("perl", "-e", `$| = 1; for my $s (grep !/KILL|STOP|CHLD|NUM|ZERO|RTM/, keys %SIG) { $SIG{$s} = sub { print "$s\n" } }
		open F, "<&=3"; print "ready\n"; 1 while sleep 1000`)
	file, err := os.OpenFile(filepath.Join(dir, "file"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	v.process.ExtraFiles = []*os.File{file}
	v.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as}
	out, err := v.process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, v.process.Start())
	v.signals = bufio.NewReader(out)
	t.Cleanup(func() {
		v.process.Process.Kill()
		v.process.Wait()
	})
	ready, err := v.signals.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", ready)
	if as != nil {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			return os.Lchown(path, int(as.Uid), int(as.Gid))
		}))
		sh, err := os.ReadFile("/bin/sh")
		require.NoError(t, err)
		setuid := filepath.Join(dir, "setuid")
		require.NoError(t, os.WriteFile(setuid, sh, 0o755))
		require.NoError(t, os.Chmod(setuid, 0o755|os.ModeSetuid))
	}
	script, err := os.ReadFile("testdata/attacks.pl")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "attacks.pl"), script, 0o644))
	require.NoError(t, os.Chmod(dir, 0o755))
	return v
}

// state is all that can be seen of the victims from outside.
func (v *victims) state(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(v.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			return err
		}
		text := []byte(nil)
		if d.Type().IsRegular() {
			text, _ = os.ReadFile(path)
		}
		fmt.Fprintln(&b, path, st.Mode, st.Uid, st.Gid, st.Nlink, st.Mtim, st.Ctim, sha256.Sum256(text))
		return nil
	}))
	status, err := os.ReadFile(fmt.Sprint("/proc/", v.process.Process.Pid, "/status"))
	require.NoError(t, err)
	limits, err := os.ReadFile(fmt.Sprint("/proc/", v.process.Process.Pid, "/limits"))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "TracerPid") || strings.HasPrefix(line, "Cpus_allowed") || strings.HasPrefix(line, "SigPnd") {
			b.WriteString(line)
		}
	}
	b.Write(limits)
	host, _ := os.Hostname()
	fmt.Fprintln(&b, host, v.heard.Load())
	return b.String()
}

// attack runs the attacks whose names match only in a shell, of which there are at least so many, and returns those that went through.
func (v *victims) attack(t *testing.T, s *shell, only string, least int) (through []string) {
	t.Helper()
	perl, err := exec.LookPath("perl")
	require.NoError(t, err)
	o := s.run(fmt.Sprintf("%s %s/attacks.pl %s %d %d %s '%s'", perl, v.dir, v.dir, v.process.Process.Pid, v.port, v.abstract, only))
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	last := lines[len(lines)-1]
	n, _ := strconv.Atoi(strings.TrimSuffix(last, " ways"))
	require.GreaterOrEqual(t, n, least, "not all ways were tried: %q %q", last, o.stderr)
	for _, line := range lines[:len(lines)-1] {
		through = append(through, strings.TrimPrefix(line, "IN "))
	}
	return through
}

// spoken are the signals that the victim got.
func (v *victims) spoken(t *testing.T) []string {
	t.Helper()
	require.NoError(t, v.process.Process.Signal(syscall.SIGUSR2))
	for all := []string(nil); ; {
		line, err := v.signals.ReadString('\n')
		require.NoError(t, err)
		if line = strings.TrimSpace(line); line == "USR2" {
			return all
		}
		all = append(all, line)
	}
}

// accounts are those that attack: root and another one for root, else the account itself.
func accounts() map[string]*syscall.Credential {
	if os.Getuid() != 0 {
		return map[string]*syscall.Credential{"the account": nil}
	}
	return map[string]*syscall.Credential{"root": nil, "nobody": nobody}
}

// Nothing gets out of a held shell, on any shell and whatever the version of Landlock, and nothing outside of it changes. What python3
// does is compared with what perl does elsewhere: here it is attacked on three shells, and with an old Landlock. Where there are two
// accounts, they share the versions of Landlock between the first and the newest.
func TestNothingGetsOutOfAHeldShell(t *testing.T) {
	for who, as := range accounts() {
		for _, supervisor := range supervisors {
			for _, name := range holdable {
				versions := []int{newest}
				switch {
				case supervisor == "python3" && name == "bash":
					versions = []int{2, newest}
				case supervisor == "python3" && name != "dash" && name != "ksh93":
					continue
				case supervisor == "python3" && name == "dash": // without Landlock it is the supervisor that holds, whatever the shell
					versions = []int{0}
				case name == "ksh93" && supervisor == "perl":
					versions = []int{0, newest}
				case who == "root" && (name == "dash" || name == "mksh") || who == "nobody" && (name == "zsh" || name == "ash"):
					continue // each with one account: it is the kernel that holds them
				case name == "bash" && who == "root":
					versions = []int{0, 2, 4, 6, newest}
				case name == "bash" && who == "nobody":
					versions = []int{0, 1, 3, 5, newest}
				case name == "bash":
					versions = []int{0, 1, 2, 3, 4, 5, 6, newest}
				}
				if needs.Sample { // what is attacked is no code of Go
					if versions = []int{newest}; name != "bash" && name != "ksh93" {
						continue
					}
				}
				for _, version := range versions {
					told(t, fmt.Sprint(who, "/", supervisor, "/", name, "/", version), func(t *testing.T, told bool) {
						if !told && (name != "bash" || version == 0 || supervisor == "python3" && version != newest) {
							return // ksh93 and what has no Landlock are not held there, and the others are held as bash is
						}
						holdBy(t, supervisor, name, version).close() // skips where that cannot be
						v := newVictims(t, as)
						before := v.state(t)
						inherited, err := os.OpenFile(filepath.Join(v.dir, "file"), os.O_RDWR, 0)
						require.NoError(t, err)
						defer inherited.Close()
						s, err := startWith(t, by(t, supervisor, shellFor(name, version, told)), as, inherited)
						require.NoError(t, err)
						s.isOf(t, supervisor)
						assert.Empty(t, besides(v.attack(t, s, ".", 595), version))
						assert.Equal(t, before, v.state(t))
						assert.Empty(t, v.spoken(t))
					})
				}
			}
		}
	}
}

// besides is through without what only reads, and what nothing but Landlock closes to other processes of the account.
func besides(through []string, version int) []string {
	return slices.DeleteFunc(through, func(way string) bool {
		return version == 0 && (way == "the victim's environment" || way == "the victim's memory")
	})
}

// told runs a test where refused calls are reported, and again where the kernel does not put them to the supervisor.
func told(t *testing.T, name string, test func(t *testing.T, told bool)) {
	t.Run(name, func(t *testing.T) { test(t, true) })
	t.Run(name+"/untold", func(t *testing.T) { test(t, false) })
}

// The attacks are real: without being held many of them go through.
func TestTheAttacksGoThroughWhereNothingHolds(t *testing.T) {
	has(t, "bash")
	as := (*syscall.Credential)(nil)
	if os.Getuid() == 0 {
		as = nobody
	}
	v := newVictims(t, as)
	s, err := startWith(t, framing.Shell{Name: "bash"}, as, nil)
	require.NoError(t, err)
	through := v.attack(t, s, "^open|creat|truncate|rename|exchange|link|mkdir|rmdir|mkfifo|chmod|chown|utim|attr|fcntl|lock|owner|lease|kill 10|sigqueueinfo 10|"+
		"signal 10|group|priority|ioprio|sched|prlimit|^a [^q]|^an |TCP|UDP|^socket|netlink: u|write /proc/self|again", 80)
	assert.Greater(t, len(through), 50, "%q", through)
	for _, want := range []string{"openat to write", "chmod", "rename", "kill 10", "a local socket", "TCP", "UDP"} {
		assert.Contains(t, through, want)
	}
}

// A program of another processor's interface ends, and so does one that x86-64 runs for 32 bits.
func TestOtherInterfacesOfTheKernelAreClosed(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("there is no compiler, or there are no such programs")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	require.NoError(t, os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"ran\") }\n"), 0o600))
	build := exec.Command(goTool, "build", "-o", filepath.Join(dir, "program"), source)
	build.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	if err := exec.Command(filepath.Join(dir, "program")).Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("this kernel runs no 32-bit programs, held or not")
	}
	s := hold(t, "bash", newest)
	o := s.run(filepath.Join(dir, "program"))
	assert.NotContains(t, o.stderr, "ran\n")
	assert.Equal(t, 128+int(syscall.SIGSYS), o.code, "%+v", o)
}

// What is tried changes nothing either, on any shell, by any of the ways that are tried on held shells.
func TestNothingGetsOutOfAShellInWhichACommandIsTried(t *testing.T) {
	for who, as := range accounts() {
		for _, supervisor := range supervisors {
			for _, version := range []int{0, newest} {
				if needs.Sample && (supervisor == "perl") == (version == 0) { // what is attacked is no code of Go
					continue
				}
				t.Run(fmt.Sprint(who, "/", supervisor, "/", version), func(t *testing.T) {
					holdBy(t, supervisor, "bash", version).close()
					v := newVictims(t, as)
					before := v.state(t)
					s, err := startWith(t, by(t, supervisor, shellToTryAt(version, "bash")), as, nil)
					require.NoError(t, err)
					assert.Empty(t, v.attack(t, s, ".", 595))
					assert.Equal(t, before, v.state(t))
					assert.Empty(t, v.spoken(t))
				})
			}
		}
	}
}
