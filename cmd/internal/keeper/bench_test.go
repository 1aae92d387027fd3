package keeper_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestASessionOverSSHIsLikeAnyOther(t *testing.T) {
	w := keepertest.OverSSH(t, sessiontest.OpenSSHD(t))
	s := w.OpenSession("sshd", "work")
	w.RunIn(w.Client, s.ID, "cd /tmp; X=kept")
	r := w.RunIn(w.Client, "work", `printf '%s' "$X"; printf e >&2; exit 3`)
	assert.Equal(t, "kept", r.Stdout)
	assert.Equal(t, "e", r.Stderr)
	assert.Equal(t, "/tmp", r.CWD)
	assert.Equal(t, "exit", r.Status)
}

// BenchmarkRunThroughTheSocket is `true` on a warm session over OpenSSH's sshd, through the keeper's socket, and the same
// as a plain Session.Run, in turns and both with policy and record. The ratio of both says what the keeper costs, whatever
// the machine does meanwhile.
func BenchmarkRunThroughTheSocket(b *testing.B) {
	sshd := sessiontest.OpenSSHD(b)
	w := keepertest.OverSSH(b, sshd)
	s := w.OpenSession("sshd", "")
	plain := plainSession(b, sshd)
	ctx, cmd := context.Background(), wire.Run{Command: "true"}
	through := func() {
		if r, err := w.Run(ctx, s.ID, cmd, ""); err != nil || r.Status != "ok" {
			b.Fatal(r, err)
		}
	}
	bare := func() {
		if r, err := plain.Run(ctx, session.Command{Script: "true"}); err != nil || r.Status != session.StatusOK {
			b.Fatal(r.Status, err)
		}
	}
	median(50, through)
	median(50, bare)
	var socket, direct []time.Duration
	for b.Loop() {
		socket, direct = append(socket, median(300, through)), append(direct, median(300, bare))
	}
	p50 := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Nanoseconds()) / 1000
	}
	b.ReportMetric(p50(socket), "µs/socket")
	b.ReportMetric(p50(direct), "µs/Session.Run")
	b.ReportMetric(p50(socket)/p50(direct), "socket/direct")
	b.ReportMetric(0, "ns/op") // of both together: it says nothing
}

// median runs f n times.
func median(n int, f func()) time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		f()
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[n/2]
}

// plainSession is a session without a keeper.
func plainSession(b *testing.B, sshd *sessiontest.SSHD) *session.Session {
	b.Helper()
	sink, err := audit.Open(filepath.Join(b.TempDir(), "audit"), audit.Config{})
	require.NoError(b, err)
	b.Cleanup(func() { sink.Close() })
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(b))
	require.NoError(b, err)
	pool, err := session.NewPool(session.PoolConfig{
		Dial: d.Dial, Session: session.Config{Principal: "operator/ada", Policy: rules.New(rules.Config{}), Audit: sink},
	})
	require.NoError(b, err)
	b.Cleanup(func() { pool.Close() })
	s, err := pool.Open(sshd.Host(b, "sshd"))
	require.NoError(b, err)
	b.Cleanup(func() { s.Close() })
	return s
}
