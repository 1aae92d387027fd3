package notify_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
)

// The key ca_file names the certificates that a web server is trusted by.
func TestAWebServerIsTrustedByTheCertificatesThatAreNamed(t *testing.T) {
	seen := make(chan string, 10)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.URL.Path
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	secretFile, ca := filepath.Join(dir, "secret"), filepath.Join(dir, "ca.pem")
	require.NoError(t, os.WriteFile(secretFile, []byte(secret), 0o600))
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	strange, said := start(t, notify.Config{Webhook: s.URL + "/strange", SecretFile: secretFile})
	strange.Send(notify.Event{Kind: "asked"})
	assert.Contains(t, <-said, "certificate")
	n, _ := start(t, notify.Config{Webhook: s.URL + "/known", SecretFile: secretFile, CAFile: ca})
	n.Send(notify.Event{Kind: "asked"})
	assert.Equal(t, "/known", <-seen)
}
