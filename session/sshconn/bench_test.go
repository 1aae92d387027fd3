//go:build unix

package sshconn_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func openSSH(b *testing.B) (*sessiontest.SSHD, *sshconn.Dialer) {
	b.Helper()
	sshd := sessiontest.OpenSSHD(b)
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(b))
	require.NoError(b, err)
	return sshd, d
}

// A line typed at a warm shell, and its answer.
func BenchmarkRoundTrip(b *testing.B) {
	sshd, d := openSSH(b)
	tr, err := d.Dial(b.Context(), sshd.Host(b, "sshd"))
	require.NoError(b, err)
	defer tr.Close()
	s, err := tr.Open(b.Context(), session.Program{Line: "exec sh"})
	require.NoError(b, err)
	ask := func() {
		_, err := io.WriteString(s, "printf 'o%s\\n' k\n")
		require.NoError(b, err)
		var got []byte
		buf := make([]byte, 4096)
		for !bytes.Contains(got, []byte("ok\n")) {
			n, err := s.Read(buf)
			require.NoError(b, err)
			got = append(got, buf[:n]...)
		}
	}
	ask()
	for b.Loop() {
		ask()
	}
}

// What a program prints without end.
func BenchmarkThroughput(b *testing.B) {
	sshd, d := openSSH(b)
	tr, err := d.Dial(b.Context(), sshd.Host(b, "sshd"))
	require.NoError(b, err)
	defer tr.Close()
	s, err := tr.Open(b.Context(), session.Program{Line: "exec cat /dev/zero"})
	require.NoError(b, err)
	buf := make([]byte, 32<<10)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := io.ReadFull(s, buf)
		require.NoError(b, err)
	}
}

// A connection that did not exist before.
func BenchmarkDial(b *testing.B) {
	sshd, d := openSSH(b)
	h := sshd.Host(b, "sshd")
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		tr, err := d.Dial(b.Context(), h)
		require.NoError(b, err)
		require.NoError(b, tr.Close())
	}
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// cpu returns the time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// What a connection with one idle shell keeps.
func BenchmarkIdleMemory(b *testing.B) {
	const sessions = 100
	for b.Loop() {
		sshd, d := openSSH(b)
		used := func() uint64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapInuse + m.StackInuse
		}
		before := used()
		var open []session.Transport
		for range sessions {
			tr, err := d.Dial(b.Context(), sshd.Host(b, "sshd"))
			require.NoError(b, err)
			s, err := tr.Open(b.Context(), session.Program{Line: "printf r; exec cat"})
			require.NoError(b, err)
			_, err = s.Read(make([]byte, 1))
			require.NoError(b, err)
			open = append(open, tr)
		}
		b.ReportMetric(float64(used()-before)/sessions/1024, "KiB/session")
		for _, tr := range open {
			require.NoError(b, tr.Close())
		}
	}
}
