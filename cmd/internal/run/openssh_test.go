package run_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// newSSHWorld is a world of one host, web1, which is a real sshd.
func newSSHWorld(t testing.TB) *world {
	t.Helper()
	sshd := sessiontest.OpenSSHD(t)
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(t))
	require.NoError(t, err)
	w := newWorld(t)
	h := sshd.Host(t, "web1")
	h.Tier, h.Source = "dev", hosts.Pos{File: "test.yaml", Line: 1}
	w.Inventory = func() (*hosts.Inventory, error) { return hosts.NewInventory([]hosts.Host{h}, nil) }
	w.Pool = func(o cmdutil.PoolOptions) (*session.Pool, error) {
		pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{
			Principal: w.Caller().Principal, Policy: o.Policy, Audit: w.audit, Redact: cmdutil.Redactor(o.Redact),
		}})
		if err == nil {
			t.Cleanup(func() { pool.Close() })
		}
		return pool, err
	}
	return w
}

// flood is size bytes of noise, made as they are read, with their sum.
func flood(size int64) (io.Reader, hash.Hash) {
	h := sha256.New()
	return io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{7}), size), h), h
}

func TestStandardInputReachesARealServer(t *testing.T) {
	w := newSSHWorld(t)
	in, h := flood(16 << 20)
	w.input(in)
	code, err := w.run(t.Context(), "web1", "--stdin", "--", "sha256sum")
	require.NoError(t, err)
	assert.Zero(t, code, w.err.String())
	assert.Equal(t, hex.EncodeToString(h.Sum(nil))+"  -\n", w.out.String())
}

func TestAScriptReachesARealServer(t *testing.T) {
	w := newSSHWorld(t)
	w.input(strings.NewReader(strings.Repeat(": 'a line' that \"does\" nothing\n", 3000) + `printf '%s|' "$@"; exit 3`))
	code, err := w.run(t.Context(), "web1", "--script", "-", "--", "a b", "it's")
	require.NoError(t, err)
	assert.Equal(t, 3, code, w.err.String())
	assert.Equal(t, "a b|it's|", w.out.String())
}

// BenchmarkStdin passes 1 GiB through --stdin into sha256sum on a real sshd, and tells by how much that let the memory of
// this process grow. Run it with -benchtime 1x.
func BenchmarkStdin(b *testing.B) {
	const size = 1 << 30
	w := newSSHWorld(b)
	before := peakRSS(b)
	b.SetBytes(size)
	b.ResetTimer()
	for b.Loop() {
		in, h := flood(size)
		w.input(in)
		w.out.Reset()
		code, err := w.run(context.Background(), "web1", "--stdin", "--", "sha256sum")
		require.NoError(b, err)
		require.Zero(b, code, w.err.String())
		require.Equal(b, hex.EncodeToString(h.Sum(nil))+"  -\n", w.out.String())
	}
	after := peakRSS(b)
	b.ReportMetric(float64(after-before)/(1<<20), "MiB-grown")
	b.ReportMetric(float64(after)/(1<<20), "MiB-peak")
}

// peakRSS is the most memory that this process ever had resident, in bytes.
func peakRSS(b *testing.B) int64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	if runtime.GOOS == "darwin" {
		return u.Maxrss // getrusage(2): bytes there, kibibytes on Linux
	}
	return u.Maxrss << 10
}
