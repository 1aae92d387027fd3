package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// landlockFrom is landlocked for what came with a version of Landlock.
func landlockFrom(t *testing.T, version int) sandbox.Landlock {
	t.Helper()
	l := landlocked(t)
	if v := sandbox.LandlockVersion(); v < version {
		needs.Part(t, "the kernel's Landlock has version %d, and this came with %d", v, version)
	}
	return l
}

// From version 6 on; kernel_test.go tests the same of bubblewrap.
func TestLandlockHoldsSignalsAndAbstractSockets(t *testing.T) {
	need(t, "perl")
	l := landlockFrom(t, 6)
	dir := treeIn(t, scratch(t))
	pid, unhurt := outside(t)
	name := fmt.Sprintf("@fairlead-scope-%d", os.Getpid())
	connected := listen(t, name)

	script := fmt.Sprintf("kill -9 %[1]d; kill -9 -- -%[1]d; sleep 600 & kill -9 $! && echo own; %[2]s", pid, fmt.Sprintf(perlConnect, perlName(name)))
	out, _ := exec.Command(l.Helper[0], "sandbox-exec", dir+"/box", "sh", "-c", script).Output()
	assert.Equal(t, "own\n", string(out), "its own processes it may signal")
	unhurt()
	assert.False(t, connected(), "an abstract socket outside was reached")
}

// From version 5 on. A device that can be read may not be commanded.
func TestLandlockHoldsCommandsToDevices(t *testing.T) {
	need(t, "perl")
	l := landlockFrom(t, 5)
	const number = `perl -e 'open F, "<", "/dev/ptmx" or die "open: $!\n"; my $n = "\0" x 4; print ioctl(F, 0x80045430, $n) ? "commanded\n" : "held\n"'` // TIOCGPTN
	free, err := exec.Command("sh", "-c", number).Output()
	if err != nil || string(free) != "commanded\n" {
		needs.Part(t, "this machine's /dev/ptmx does not answer (%v)", err)
	}
	out, err := exec.Command(l.Helper[0], "sandbox-exec", treeIn(t, scratch(t))+"/box", "sh", "-c", number).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "held\n", string(out))
}

// The terminal on standard input may be written by its name. A file there may not, whoever opened it and how.
func TestAFileOnStandardInputStaysClosedToWriters(t *testing.T) {
	l := landlocked(t)
	dir := treeIn(t, scratch(t))
	before := snapshot(t, dir+"/out")
	f, err := os.Open(dir + "/out/keep")
	require.NoError(t, err)
	defer f.Close()
	cmd := exec.Command(l.Helper[0], "sandbox-exec", dir+"/box", "sh", "-c", "echo x >../out/keep; echo x >>/proc/self/fd/0; echo x >>/dev/stdin; echo done")
	cmd.Stdin = f
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "done\n", string(out))
	assert.Equal(t, 3, strings.Count(strings.ToLower(said.String()), "permission denied"), said.String())
	assert.Equal(t, before, snapshot(t, dir+"/out"))
}

// filtered is what a filter of seccomp makes of a system call, as the kernel works it out.
func filtered(t *testing.T, filter []unix.SockFilter, number, arch uint32, args ...uint32) uint32 {
	t.Helper()
	data := []uint32{number, arch, 0, 0} // struct seccomp_data, in halves of little-endian words
	for _, a := range args {
		data = append(data, a, 0)
	}
	a := uint32(0)
	for at := 0; at < len(filter); at++ {
		f, holds := filter[at], false
		switch f.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = data[f.K/4]
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= f.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return f.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			holds = a == f.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			holds = a >= f.K
		default:
			t.Fatalf("an instruction that this test does not know: %+v", f)
		}
		if holds {
			at += int(f.Jt)
		} else {
			at += int(f.Jf)
		}
	}
	t.Fatal("the filter says nothing")
	return 0
}

// Also of calls that this machine's kernel may not have: those of another processor, and x86-64's of 32 bits.
func TestTheFilterRefusesSocketsInEveryCall(t *testing.T) {
	if sandbox.NativeArch == 0 {
		t.Skip("there is no filter for this processor")
	}
	const allow, refuse, missing = uint32(unix.SECCOMP_RET_ALLOW), unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	const x32 = 0x40000000
	for name, tt := range map[string]struct {
		number, first, second uint32
		want, offline         uint32
	}{
		"another call":          {unix.SYS_READ, unix.AF_UNIX, unix.SOCK_DGRAM, allow, allow},
		"a unix socket":         {unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, refuse, refuse},
		"a socket of IP":        {unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, allow, refuse},
		"a pair of streams":     {unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, allow, allow},
		"a pair of packets":     {unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_SEQPACKET | unix.SOCK_NONBLOCK, allow, allow},
		"a pair of datagrams":   {unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, refuse, refuse},
		"a pair of raw sockets": {unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_RAW, refuse, refuse},
		"io_uring":              {unix.SYS_IO_URING_SETUP, 1, 0, missing, missing},
	} {
		online, offline := sandbox.SocketFilter(false), sandbox.SocketFilter(true)
		assert.Equal(t, tt.want, filtered(t, online, tt.number, sandbox.NativeArch, tt.first, tt.second), name)
		assert.Equal(t, tt.offline, filtered(t, offline, tt.number, sandbox.NativeArch, tt.first, tt.second), "%s, without a network", name)
		for _, filter := range [][]unix.SockFilter{online, offline} {
			assert.Equal(t, missing, filtered(t, filter, tt.number, unix.AUDIT_ARCH_I386, tt.first, tt.second), "%s of another processor", name)
			if runtime.GOARCH == "amd64" {
				assert.Equal(t, missing, filtered(t, filter, tt.number|x32, sandbox.NativeArch, tt.first, tt.second), "%s of 32 bits", name)
			}
		}
	}
}
