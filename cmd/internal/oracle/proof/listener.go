//go:build linux && amd64

package proof

import (
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is struct seccomp_notif, reply struct seccomp_notif_resp.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type reply struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// listener notes what the processes of a cage do and lets them go on. Nothing is refused here: mounts and namespaces do that.
type listener struct {
	fd     int
	runner uint32 // the thread that starts the commands, as this process numbers it

	mu     sync.Mutex
	events []Event
	begun  bool // the shell of this run is started
}

func (l *listener) take() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.events
	l.events, l.begun = nil, false
	return e
}

// serve answers until the last process of the cage is gone.
func (l *listener) serve() {
	runtime.LockOSThread()
	// Back with the thread: were it to end with the listener, so would every cage that was started from it before, as their parent.
	defer runtime.UnlockOSThread()
	defer func() { _ = unix.Close(l.fd) }()
	// The process that waits for an answer hands its processor over: without this, a busy machine makes each call slow.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	for {
		fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err == unix.EINTR {
			continue
		} else if err != nil || fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		if err := ioctl(l.fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err == unix.ENOENT || err == unix.EINTR {
			continue
		} else if err != 0 {
			return
		}
		l.note(&n)
		r := reply{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		_ = ioctl(l.fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
	}
}

func ioctl(fd int, request uintptr, p unsafe.Pointer) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(p))
	return e
}

func (l *listener) note(n *notification) {
	if l.runner == 0 {
		l.runner = n.pid
	}
	if n.pid == l.runner {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	start := n.nr == unix.SYS_EXECVE || n.nr == unix.SYS_EXECVEAT
	if !l.begun { // the shell itself
		l.begun = start
		return
	}
	if len(l.events) > 4000 {
		return
	}
	p := process(n.pid)
	defer p.close()
	e := Event{Call: names[n.nr], By: p.comm()}
	a := n.args
	switch n.nr {
	case unix.SYS_EXECVE:
		e.Kind, e.What, e.Args = Start, p.path(a[0], unix.AT_FDCWD), p.words(a[1])
	case unix.SYS_EXECVEAT:
		e.Kind, e.What, e.Args = Start, p.path(a[1], int(int32(a[0]))), p.words(a[2])
	case unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO:
		if int(a[1]) == 0 || p.own(int(int32(a[0]))) {
			return
		}
		e.Kind, e.What = Signal, fmt.Sprintf("%d to %d", a[1], int32(a[0]))
	case unix.SYS_TGKILL, unix.SYS_RT_TGSIGQUEUEINFO:
		if int(a[2]) == 0 || p.own(int(int32(a[0]))) {
			return
		}
		e.Kind, e.What = Signal, fmt.Sprintf("%d to %d", a[2], int32(a[0]))
	case unix.SYS_PIDFD_SEND_SIGNAL:
		e.Kind = Signal
	case unix.SYS_CONNECT, unix.SYS_BIND:
		e.Kind, e.What = Connect, p.address(a[1], a[2])
	case unix.SYS_SENDTO:
		e.Kind, e.What = Connect, p.address(a[4], a[5])
	case unix.SYS_SENDMSG:
		e.Kind, e.What = Connect, p.message(a[1])
	case unix.SYS_SENDMMSG:
		e.Kind, e.What = Connect, p.message(a[1])
	case unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_TRUNCATE,
		unix.SYS_MKNOD, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_SETXATTR,
		unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR:
		e.Kind, e.What = Write, p.path(a[0], unix.AT_FDCWD)
	case unix.SYS_OPENAT, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_MKNODAT,
		unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_FUTIMESAT:
		e.Kind, e.What = Write, p.path(a[1], int(int32(a[0])))
	case unix.SYS_SYMLINK:
		e.Kind, e.What = Write, p.path(a[1], unix.AT_FDCWD)
	case unix.SYS_SYMLINKAT:
		e.Kind, e.What = Write, p.path(a[2], int(int32(a[1])))
	case unix.SYS_FCHMOD, unix.SYS_FCHOWN, unix.SYS_FSETXATTR, unix.SYS_FREMOVEXATTR:
		e.Kind, e.What = Write, p.fd(int(int32(a[0])))
		if strings.HasPrefix(e.What, "socket:") || strings.HasPrefix(e.What, "pipe:") {
			return // ksh93 makes its pipes of sockets
		}
	case unix.SYS_IOCTL:
		if harmlessIoctl(uint32(a[1])) {
			return
		}
		e.Kind, e.What = Other, fmt.Sprintf("%#x on %s", uint32(a[1]), p.fd(int(int32(a[0]))))
	case unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET:
		if a[1] == 0 {
			return
		}
		e.Kind, e.What = Other, fmt.Sprintf("%d %d", a[0], a[1])
	case unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER:
		if a[0] == 0 {
			return
		}
		e.Kind, e.What = Other, strconv.Itoa(int(a[0]))
	case unix.SYS_SHMCTL, unix.SYS_MSGCTL, unix.SYS_SEMCTL:
		op := a[1]
		if n.nr == unix.SYS_SEMCTL {
			op = a[2]
		}
		switch op & 0xff {
		case 2, 3, 11, 12, 13, 14, 15, 18, 19, 20: // the kinds of STAT and INFO, and semctl's GET…
			return
		}
		e.Kind, e.What = Other, strconv.Itoa(int(op))
	default:
		e.Kind, e.What = Other, fmt.Sprintf("%#x %#x %#x", a[0], a[1], a[2])
	}
	// Of a process that was ended meanwhile nothing could be read, and the call is not made (seccomp_unotify(2)).
	if id := n.id; ioctl(l.fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) != unix.ENOENT {
		l.events = append(l.events, e)
	}
}

// harmlessIoctl knows requests outside of the terminal's that ask only: attributes of files, disks, interfaces and clocks.
func harmlessIoctl(request uint32) bool {
	switch request {
	case 0x80086601, 0x80046601, 0x801c581f, 0xc020660b, 0x80087601, // GETFLAGS, FSGETXATTR, FIEMAP, GETVERSION
		0x80247009, 0x80287010: // RTC_RD_TIME, RTC_WKALM_RD
		return true
	}
	switch request >> 8 & 0xff {
	case 'f', 'X': // FS_IOC_…: only those that write are not harmless
		return request>>30 == 2
	case 0x12: // BLKGET…, BLKDISCARDZEROES and their like
		return request>>30 == 2 || request == 0x1260 || request == 0x1268 || request == 0x125e || request == 0x127c || request == 0x1272
	case 0x89: // SIOCG…; the odd ones above 0x8910 mostly ask, and no capability is there to set anything
		return request>>16 == 0
	case 0xb7: // NS_GET_…
		return true
	}
	return false
}

// proc reads a stopped process.
type proc struct {
	pid uint32
	mem *os.File
}

func process(pid uint32) *proc { return &proc{pid: pid} }

func (p *proc) close() {
	if p.mem != nil {
		_ = p.mem.Close()
	}
}

func (p *proc) file(name string) string { return "/proc/" + strconv.Itoa(int(p.pid)) + "/" + name }

func (p *proc) comm() string {
	b, err := os.ReadFile(p.file("comm"))
	if err != nil {
		return "?"
	}
	return strings.TrimSuffix(string(b), "\n")
}

func (p *proc) read(addr uint64, n int) []byte {
	if p.mem == nil {
		f, err := os.Open(p.file("mem"))
		if err != nil {
			return nil
		}
		p.mem = f
	}
	b := make([]byte, n)
	if got, err := p.mem.ReadAt(b, int64(addr)); err != nil && got <= 0 {
		return nil
	} else {
		return b[:got]
	}
}

func (p *proc) text(addr uint64) string {
	if addr == 0 {
		return ""
	}
	var out []byte
	for len(out) < 1<<16 {
		n := 256 - int(addr%256) // pages are multiples of this
		b := p.read(addr, n)
		if i := strings.IndexByte(string(b), 0); i >= 0 {
			return string(append(out, b[:i]...))
		}
		if len(b) < n {
			break
		}
		out, addr = append(out, b...), addr+uint64(n)
	}
	return string(out)
}

func (p *proc) words(addr uint64) (words []string) {
	for len(words) < 2000 {
		b := p.read(addr, 8)
		if len(b) < 8 {
			return words
		}
		at := binary.LittleEndian.Uint64(b)
		if at == 0 {
			return words
		}
		words = append(words, p.text(at))
		addr += 8
	}
	return words
}

func (p *proc) fd(fd int) string {
	s, err := os.Readlink(p.file("fd/" + strconv.Itoa(fd)))
	if err != nil {
		return "fd " + strconv.Itoa(fd)
	}
	return s
}

func (p *proc) path(addr uint64, dir int) string {
	s := p.text(addr)
	if strings.HasPrefix(s, "/") {
		return s
	}
	base := ""
	if dir == unix.AT_FDCWD {
		base, _ = os.Readlink(p.file("cwd"))
	} else {
		base = p.fd(dir)
	}
	if s == "" {
		return base
	}
	return path.Join(base, s)
}

// own reports whether the process may signal pid, as it numbers it, without a word: itself, its group, or what the same
// command started. Init and the runner are there before every command and are not its own.
func (p *proc) own(pid int) bool {
	if pid == 0 {
		return true
	}
	if pid == -1 {
		return false
	}
	if pid < 0 {
		pid = -pid
	}
	if pid <= lastOfOthers {
		return false
	}
	_, err := os.Stat(p.file("root/proc/" + strconv.Itoa(pid)))
	return err == nil || p.isSelf(pid)
}

func (p *proc) isSelf(pid int) bool {
	b, _ := os.ReadFile(p.file("status"))
	for line := range strings.SplitSeq(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
			f := strings.Fields(rest)
			return len(f) > 0 && f[len(f)-1] == strconv.Itoa(pid)
		}
	}
	return false
}

func (p *proc) message(addr uint64) string {
	b := p.read(addr, 16)
	if len(b) < 16 || binary.LittleEndian.Uint64(b) == 0 {
		return ""
	}
	return p.address(binary.LittleEndian.Uint64(b), uint64(binary.LittleEndian.Uint32(b[8:])))
}

func (p *proc) address(addr, size uint64) string {
	b := p.read(addr, int(min(size, 128)))
	if len(b) < 2 {
		return ""
	}
	switch family := binary.LittleEndian.Uint16(b); family {
	case unix.AF_UNIX:
		name := string(b[2:])
		if strings.HasPrefix(name, "\x00") {
			return "unix @" + strings.TrimRight(name[1:], "\x00")
		}
		name, _, _ = strings.Cut(name, "\x00")
		return "unix " + name
	case unix.AF_INET:
		if len(b) < 8 {
			return "inet"
		}
		return fmt.Sprintf("inet %d.%d.%d.%d:%d", b[4], b[5], b[6], b[7], binary.BigEndian.Uint16(b[2:]))
	case unix.AF_INET6:
		return "inet6"
	case unix.AF_NETLINK, unix.AF_UNSPEC:
		return ""
	default:
		return "family " + strconv.Itoa(int(family))
	}
}
