package trust

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// What ssh-keygen prints for DNS names the key.
func TestRecordsForDNSAreExpectedKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "host")
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		needs.Part(t, "ssh-keygen is not installed")
	}
	out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), "ssh-keygen", "-l", "-f", file).Output()
	require.NoError(t, err)
	print := strings.Fields(string(out))[1]
	other, err := sshserver.NewKey()
	require.NoError(t, err)
	for _, args := range [][]string{{"-r", "web1.example.com."}, {"-g", "-r", "Web1.example.com"}} {
		out, err := exec.CommandContext(t.Context(), "ssh-keygen", append(args, "-f", file+".pub")...).Output()
		require.NoError(t, err)
		text := string(out)
		for _, text := range []string{text, strings.ReplaceAll(text, " IN ", "\t3600\tIN\t")} { // dig's
			e, err := readExpected("-", strings.NewReader(text))
			require.NoError(t, err, text)
			assert.True(t, e.by["web1.example.com"][print], text)
			s := &seen{host: hosts.Host{Name: "web1.example.com"}, key: other.PublicKey()}
			s.place.Name = knownhosts.Name("web1.example.com", 22)
			assert.True(t, e.has(s, print))
			assert.False(t, e.has(s, ssh.FingerprintSHA256(other.PublicKey())))
		}
	}
	for text, want := range map[string]string{
		"web1 IN SSHFP 4 1 " + strings.Repeat("ab", 20): "names no key",
		"web1 IN SSHFP 4 2 abcd":                        "-:1 has neither",
		"web1 IN SSHFP":                                 "-:1 has neither",
	} {
		_, err := readExpected("-", strings.NewReader(text))
		assert.ErrorContains(t, err, strings.Replace(want, "-:", "standard input:", 1), text)
	}
}
