package notify_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
)

func TestAWebhookIsRefusedForItsURL(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(secret), 0o600))
	check := func(url string) error {
		c := notify.Config{Webhook: url, SecretFile: file}
		n, err := notify.New([]notify.Config{c}, func(string) {})
		if err == nil {
			n.Close()
		}
		return err
	}
	for _, url := range []string{"https://example.com/x", "https://h:8443/x?y=z", "http://127.0.0.1:1/x", "http://localhost/", "http://[::1]:80/x"} {
		assert.NoError(t, check(url), url)
	}
	const scheme = "notify: entry 1: webhook must begin with https://, or with http:// for this machine itself"
	for url, want := range map[string]string{
		"http://example.com/":           scheme,
		"http://10.0.0.1/":              scheme,
		"http://127.0.0.1.example.com/": scheme,
		"http://localhost.example.com/": scheme,
		"ftp://example.com/":            scheme,
		"file://h/etc/passwd":           scheme,
		"https://u:hunter2@h/":          "notify: entry 1: webhook must not hold a password: requests are signed with what is in secret_file",
		"https://hunter2@h/":            "notify: entry 1: webhook must not hold a password: requests are signed with what is in secret_file",
		"http://u:hunter2@127.0.0.1/":   "notify: entry 1: webhook must not hold a password: requests are signed with what is in secret_file",
		"https://h/x#hunter2":           "notify: entry 1: webhook must not hold a fragment",
		"https:///x":                    "notify: entry 1: webhook must be a URL",
		"example.com":                   "notify: entry 1: webhook must be a URL",
		"https://h:hunter2/":            "notify: entry 1: webhook must be a URL",
		"https://h/\x00":                "notify: entry 1: webhook must be a URL",
	} {
		assert.EqualError(t, check(url), want, "%q", url)
	}
}
