package copies_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Uploads beside scp's, to the same sshd: 256 MiB in one file, and 5 000 small files.
func BenchmarkUpload(b *testing.B) {
	sshd := sessiontest.OpenSSHD(b)
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(b))
	require.NoError(b, err)
	pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Principal: "operator/bench", Policy: policy.AllowAll, Audit: audit.Discard{}}})
	require.NoError(b, err)
	b.Cleanup(func() { pool.Close() })
	host := sshd.Host(b, "web1")
	src, noise := b.TempDir(), rand.NewChaCha8([32]byte{1})
	content := make([]byte, 256<<20)
	_, _ = noise.Read(content)
	require.NoError(b, os.WriteFile(filepath.Join(src, "large"), content, 0o644))
	for i := range 5000 {
		name := filepath.Join(src, "small", fmt.Sprint(i%50), fmt.Sprint(i))
		require.NoError(b, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(b, os.WriteFile(name, content[i:i+i%4000], 0o644))
	}
	for _, what := range []string{"large", "small"} {
		b.Run("fairlead/"+what, func(b *testing.B) {
			for b.Loop() {
				local, err := copies.NewLocal([]string{filepath.Join(src, what)})
				require.NoError(b, err)
				cmd, err := (&copies.Copy{
					Plan:   copies.Plan{Op: copies.Upload, Path: b.TempDir(), Entries: local.Entries},
					Source: func(hosts.Host) io.Reader { return local.Reader() },
				}).Command()
				require.NoError(b, err)
				_, err = pool.Run(b.Context(), host, cmd)
				require.NoError(b, err)
			}
		})
		b.Run("scp/"+what, func(b *testing.B) {
			for b.Loop() {
				out, err := exec.Command("scp", "-q", "-r", "-F", sshd.Config, filepath.Join(src, what), "sshd:"+b.TempDir()).CombinedOutput()
				require.NoError(b, err, string(out))
			}
		})
	}
}
