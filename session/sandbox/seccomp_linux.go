package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nativeArch is this processor's name in seccomp's data; 0 where the filter below was not written for it.
var nativeArch = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64,
}[runtime.GOARCH]

// x32 marks system calls of x86-64's 32-bit interface, which have other numbers.
const x32 = 0x40000000

// Offsets in struct seccomp_data. The processors above are little-endian, so the low half of an argument comes first.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
	dataArg1   = 24
)

// refuseSockets keeps the calling thread, and what it becomes and starts, from making unix sockets, or with network any
// socket.
func refuseSockets(network bool) error {
	f := socketFilter(network)
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("sandbox: the kernel does not take the filter of system calls, and nothing was run: %w", err)
	}
	return nil
}

// socketFilter refuses sockets. io_uring is refused because it makes sockets past this filter, and other processors' system
// calls because they have other numbers. Pairs of datagram sockets are refused too: such a socket can be connected again, to any
// address.
func socketFilter(network bool) []unix.SockFilter {
	const refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	const missing = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	var f []unix.SockFilter
	load := func(at uint32) { f = append(f, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}) }
	and := func(k uint32) { f = append(f, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: k}) }
	jump := func(op uint16, k uint32, yes, no uint8) {
		f = append(f, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k})
	}
	ret := func(k uint32) { f = append(f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}) }

	load(dataArch)
	jump(unix.BPF_JEQ, nativeArch, 1, 0)
	ret(missing)
	load(dataNumber)
	if runtime.GOARCH == "amd64" {
		jump(unix.BPF_JGE, x32, 0, 1)
		ret(missing)
	}
	jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 0, 1)
	ret(missing)
	if network {
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 1)
		ret(refuse)
	} else {
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 4)
		load(dataArg0)
		jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1)
		ret(refuse)
		ret(unix.SECCOMP_RET_ALLOW)
	}
	jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 5)
	load(dataArg1)
	and(0xf) // the rest are flags
	jump(unix.BPF_JEQ, unix.SOCK_STREAM, 2, 0)
	jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 1, 0)
	ret(refuse)
	ret(unix.SECCOMP_RET_ALLOW)
	return f
}
