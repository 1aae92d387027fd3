//go:build linux && amd64

package proof

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16
)

// noticed are the system calls that are always reported.
var noticed = []uint32{
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_CREAT, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_SENDMSG, unix.SYS_SENDMMSG,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_RENAME, unix.SYS_RENAMEAT,
	unix.SYS_RENAMEAT2, unix.SYS_LINK, unix.SYS_LINKAT, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT, unix.SYS_TRUNCATE, unix.SYS_MKNOD,
	unix.SYS_MKNODAT, unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_CHOWN, unix.SYS_FCHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWNAT,
	unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_UTIMENSAT, unix.SYS_FUTIMESAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
	unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_REBOOT,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_BPF, unix.SYS_ADD_KEY,
	unix.SYS_REQUEST_KEY, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_FANOTIFY_INIT, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET,
	unix.SYS_MSGCTL, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_SEMGET, unix.SYS_SEMCTL, unix.SYS_SEMOP, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
}

// missing answer that the kernel does not have them: their arguments cannot be read here, and programs do without.
var missing = []uint32{unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP}

// opens are reported where a flag in argument arg says more than reading.
var opens = []struct{ nr, arg uint32 }{{unix.SYS_OPEN, 1}, {unix.SYS_OPENAT, 2}}

const openFlags = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC

func program() []unix.SockFilter {
	var p []unix.SockFilter
	stmt := func(code uint16, k uint32) { p = append(p, unix.SockFilter{Code: code, K: k}) }
	jump := func(op uint16, k uint32, yes, no uint8) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k})
	}
	load := func(at uint32) { stmt(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at) }
	answer := func(k uint32) { stmt(unix.BPF_RET|unix.BPF_K, k) }
	const nosys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

	load(dataArch)
	jump(unix.BPF_JEQ, unix.AUDIT_ARCH_X86_64, 1, 0)
	answer(unix.SECCOMP_RET_KILL_PROCESS)
	load(dataNr)
	jump(unix.BPF_JGE, 0x40000000, 0, 1)
	answer(nosys)
	for _, o := range opens {
		jump(unix.BPF_JEQ, o.nr, 0, 4)
		load(dataArgs + 8*o.arg)
		jump(unix.BPF_JSET, openFlags, 0, 1)
		answer(unix.SECCOMP_RET_USER_NOTIF)
		answer(unix.SECCOMP_RET_ALLOW)
	}
	jump(unix.BPF_JEQ, unix.SYS_SENDTO, 0, 4)
	load(dataArgs + 8*4)
	jump(unix.BPF_JEQ, 0, 1, 0)
	answer(unix.SECCOMP_RET_USER_NOTIF)
	answer(unix.SECCOMP_RET_ALLOW)
	// The terminal's own ioctls are reported only where they put text into somebody's input.
	jump(unix.BPF_JEQ, unix.SYS_IOCTL, 0, 6)
	load(dataArgs + 8)
	jump(unix.BPF_JEQ, unix.TIOCSTI, 2, 0)
	jump(unix.BPF_JGE, 0x5400, 0, 1)
	jump(unix.BPF_JGT, 0x54ff, 0, 1)
	answer(unix.SECCOMP_RET_USER_NOTIF)
	answer(unix.SECCOMP_RET_ALLOW)
	for _, nr := range missing {
		jump(unix.BPF_JEQ, nr, 0, 1)
		answer(nosys)
	}
	for _, nr := range noticed {
		jump(unix.BPF_JEQ, nr, 0, 1)
		answer(unix.SECCOMP_RET_USER_NOTIF)
	}
	answer(unix.SECCOMP_RET_ALLOW)
	return p
}

// install puts the calling thread, and all that it starts, under the filter and returns the descriptor of its listener.
func install() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	p := program()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
