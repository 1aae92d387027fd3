//go:build unix

package notify_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
)

func TestASecretThatIsANamedPipeIsRefusedAtOnce(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err := notify.New([]notify.Config{{Webhook: "https://example.com/", SecretFile: fifo}}, func(string) {})
	require.ErrorContains(t, err, "must be a file that no other account may read")
}
