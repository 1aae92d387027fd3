//go:build linux && amd64

package proof

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const runnerMark = "FAIRLEAD_ORACLE_RUNNER"

// Bounds of one run.
const (
	maxOutput = 48 << 20
	shown     = 1 << 15
	grace     = 4 * time.Second // for processes that end after their shell has
)

const ordinary = 65534

// InCage runs the part of the oracle that is within the sandbox, where this process is that part, and does not return.
// A program that uses [NewCage] calls it first.
func InCage() {
	if os.Getenv(runnerMark) == "" {
		return
	}
	if err := runner(); err != nil {
		_, _ = os.Stderr.WriteString("oracle: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

func runner() error {
	inherited := os.NewFile(3, "cage")
	generic, err := net.FileConn(inherited)
	if err := errors.Join(err, inherited.Close()); err != nil { // not by its number: the collector would close that again
		return err
	}
	conn := generic.(*net.UnixConn)
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	others, err := bystander()
	if err != nil {
		return err
	}
	starts := make(chan start)
	ready := make(chan error)
	// A collection of garbage signals threads. The one under the filter must not do so before somebody listens.
	gc := debug.SetGCPercent(-1)
	go starter(conn, starts, ready)
	err = <-ready
	debug.SetGCPercent(gc)
	if err != nil {
		_ = out.Encode(done{Failed: err.Error()})
		return err
	}
	if err := fixtures(); err != nil {
		_ = out.Encode(done{Failed: err.Error()})
		return err
	}
	if err := out.Encode(done{}); err != nil {
		return err
	}
	for {
		var j job
		if err := in.Decode(&j); err != nil {
			return nil // the other side is gone
		}
		if err := out.Encode(run1(j, starts, others)); err != nil {
			return err
		}
	}
}

// bystander starts the process that no command may signal, and skips ahead so that process numbers tell who came later.
func bystander() (int, error) {
	p, err := os.StartProcess("/bin/sleep", []string{"bystander", "1000000"}, &os.ProcAttr{Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true, Credential: credential()}})
	if err != nil {
		return 0, err
	}
	last := p.Pid
	for last <= lastOfOthers {
		q, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
		if err != nil {
			return 0, err
		}
		last = q.Pid
		_, _ = q.Wait()
	}
	return p.Pid, nil
}

func credential() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: ordinary, Gid: ordinary}
}

type start struct {
	argv  []string
	attr  *syscall.ProcAttr
	reply chan started
}

type started struct {
	pid int
	err error
}

// starter starts processes from a thread under the filter; the other threads of the runner are not.
func starter(conn *net.UnixConn, starts <-chan start, ready chan<- error) {
	runtime.LockOSThread()
	fd, err := install()
	if err != nil {
		ready <- err
		return
	}
	sent := make(chan error)
	go func() {
		_, _, err := conn.WriteMsgUnix([]byte{0}, unix.UnixRights(fd), nil)
		sent <- errors.Join(err, unix.Close(fd))
	}()
	if err := <-sent; err != nil {
		ready <- err
		return
	}
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), 0) // the first thing reported shows which thread this is
	ready <- nil
	for s := range starts {
		pid, err := syscall.ForkExec(s.argv[0], s.argv, s.attr)
		s.reply <- started{pid, err}
	}
}

func run1(j job, starts chan<- start, bystander int) done {
	if j.Fresh {
		if err := fixtures(); err != nil {
			return done{Failed: err.Error()}
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return done{Failed: err.Error()}
	}
	stdin := null
	if j.Stdin == "pipe" {
		r, w, err := os.Pipe()
		if err != nil {
			return done{Failed: err.Error()}
		}
		_, _ = w.Close(), null.Close()
		stdin = r
	}
	r, w, err := os.Pipe()
	if err != nil {
		return done{Failed: err.Error()}
	}
	s := start{j.Argv, &syscall.ProcAttr{
		Dir: Work, Env: environ(j.Canary), Files: []uintptr{stdin.Fd(), w.Fd(), w.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true, Credential: credential()},
	}, make(chan started)}
	starts <- s
	st := <-s.reply
	_, _ = stdin.Close(), w.Close()
	defer func() { _ = r.Close() }()
	if st.err != nil {
		if errors.Is(st.err, syscall.E2BIG) {
			return done{Failed: tooLong}
		}
		return done{Failed: st.err.Error()}
	}
	flood := make(chan struct{})
	text := make(chan string, 1)
	go drain(r, flood, text)
	exit := make(chan int, 1)
	go func() {
		var ws syscall.WaitStatus
		for {
			if _, err := syscall.Wait4(st.pid, &ws, 0, nil); err != syscall.EINTR {
				break
			}
		}
		exit <- int(ws)
	}()
	var d done
	limit := time.NewTimer(j.Timeout)
	defer limit.Stop()
	select {
	case d.Status = <-exit:
		d.Left = left(bystander, time.Now().Add(grace))
	case <-limit.C:
		d.Endless = true
	case <-flood:
		d.Flood = true
	}
	clear(bystander)
	if d.Endless || d.Flood {
		<-exit
	}
	_ = r.SetReadDeadline(time.Now().Add(time.Second))
	d.Output = <-text
	return d
}

func drain(r *os.File, flood chan<- struct{}, text chan<- string) {
	buf := make([]byte, 1<<16)
	var first []byte
	total := 0
	for {
		n, err := r.Read(buf)
		if len(first) < shown {
			first = append(first, buf[:min(n, shown-len(first))]...)
		}
		if total += n; total > maxOutput {
			close(flood)
			break
		}
		if err != nil {
			break
		}
	}
	text <- string(first)
	if total > maxOutput { // its writers end at the limit
		for {
			if _, err := r.Read(buf); err != nil {
				return
			}
		}
	}
}

// later lists the processes that commands left.
func later(bystander int) (pids []int) {
	names, _ := os.ReadDir("/proc")
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil || pid <= lastOfOthers || pid == bystander {
			continue
		}
		pids = append(pids, pid)
	}
	return pids
}

// left returns the name of a process that is still there when the time is up.
func left(bystander int, until time.Time) string {
	for {
		name := ""
		for _, pid := range later(bystander) {
			stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			s := string(stat)
			if i := strings.LastIndexByte(s, ')'); i > 0 && i+2 < len(s) && s[i+2] != 'Z' && s[i+2] != 'X' {
				name = s[strings.IndexByte(s, '(')+1 : i]
			}
		}
		if name == "" || time.Now().After(until) {
			return name
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// clear ends all processes that commands left.
func clear(bystander int) {
	for range 200 {
		pids := later(bystander)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

func environ(canary bool) []string {
	path := "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
	env := []string{"HOME=" + Work + "/home", "LC_ALL=C.UTF-8", "TERM=dumb", "USER=nobody", "LOGNAME=nobody"}
	if _, err := os.Stat("/tmp/extra"); err == nil {
		dirs := []string{}
		for _, d := range []string{"/usr/bin", "/usr/sbin", "/bin", "/sbin"} {
			dirs = append(dirs, "/tmp/extra"+d)
		}
		path += ":" + strings.Join(dirs, ":")
		env = append(env, "LD_LIBRARY_PATH=/tmp/extra/usr/lib/x86_64-linux-gnu:/tmp/extra/usr/lib:/tmp/extra/lib/x86_64-linux-gnu",
			"PYTHONPATH=/tmp/extra/usr/lib/python3/dist-packages", "RUBYLIB=/tmp/extra/usr/lib/ruby/vendor_ruby:/tmp/extra/usr/lib/ruby/3.1.0:/tmp/extra/usr/lib/x86_64-linux-gnu/ruby/3.1.0", "PERL5LIB=/tmp/extra/usr/share/perl5")
	}
	if canary {
		path = "/tmp/canary"
	}
	sort.Strings(env)
	return append(env, "PATH="+path)
}

// fixtures makes the working directory anew: small files of many kinds, links, and names that look like something else.
func fixtures() error {
	if err := os.RemoveAll(Work); err != nil {
		return err
	}
	if err := os.MkdirAll(Work+"/home", 0o755); err != nil {
		return err
	}
	for _, old := range tempFiles() {
		_ = os.RemoveAll(old)
	}
	for name, text := range fixtureFiles {
		p := filepath.Join(Work, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			return err
		}
	}
	_ = os.Chmod(Work+"/s.sh", 0o755)
	for name, data := range archives() {
		if err := os.WriteFile(filepath.Join(Work, name), data, 0o644); err != nil {
			return err
		}
	}
	if err := repository(); err != nil {
		return err
	}
	for name, to := range map[string]string{"link": "f", "dirlink": "dir", "nowhere": "not/there", "loop": "loop", "out": "/etc"} {
		if err := os.Symlink(to, filepath.Join(Work, name)); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{"/bin/true": "elf"} {
		if b, err := os.ReadFile(from); err == nil {
			_ = os.WriteFile(filepath.Join(Work, to), b, 0o755)
		}
	}
	if err := os.MkdirAll("/tmp/canary", 0o755); err != nil {
		return err
	}
	for _, name := range canaries() {
		_ = os.Symlink("/bin/true", "/tmp/canary/"+name)
	}
	if err := os.Chmod("/tmp", 0o1777); err != nil {
		return err
	}
	if os.Getuid() != 0 {
		return nil
	}
	return filepath.Walk(Work, func(p string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, ordinary, ordinary)
	})
}

func tempFiles() []string {
	all, _ := filepath.Glob("/tmp/*")
	var out []string
	for _, p := range all {
		switch p {
		case Work, "/tmp/extra", "/tmp/canary":
		default:
			out = append(out, p)
		}
	}
	for _, dir := range []string{"/var/tmp/*", "/dev/shm/*", "/run/[a-np-z]*"} {
		more, _ := filepath.Glob(dir)
		out = append(out, more...)
	}
	return out
}
