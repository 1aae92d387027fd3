package hostkeys

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// keygen runs ssh-keygen in a directory of its own.
type keygen struct {
	t   *testing.T
	dir string
}

func (k keygen) run(args ...string) error {
	k.t.Helper()
	cmd := exec.CommandContext(k.t.Context(), "ssh-keygen", args...)
	cmd.Dir = k.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		k.t.Logf("%q: %s", args, out)
	}
	return err
}

func (k keygen) must(args ...string) {
	k.t.Helper()
	require.NoError(k.t, k.run(args...))
}

func (k keygen) key(name string) ssh.PublicKey {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, name+".pub"))
	require.NoError(k.t, err)
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	require.NoError(k.t, err)
	return key
}

func (k keygen) line(name string) string { return string(ssh.MarshalAuthorizedKey(k.key(name))) }

// What a list revokes is for ssh-keygen -Q to say.
func TestKeysInAKeyRevocationListAreRevoked(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		needs.Part(t, "ssh-keygen is not installed")
	}
	k := keygen{t, t.TempDir()}
	for _, name := range []string{"a", "b", "ca", "ca2"} {
		k.must("-q", "-t", "ed25519", "-N", "", "-f", name)
	}
	certify := func(name, key, ca, serial, id string) {
		text, err := os.ReadFile(filepath.Join(k.dir, key+".pub"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(k.dir, name+".pub"), text, 0o600))
		k.must("-q", "-h", "-s", ca, "-I", id, "-z", serial, "-n", "web1", name+".pub")
	}
	certify("c7", "a", "ca", "7", "seven")
	certify("c300", "a", "ca", "300", "three hundred")
	certify("c0", "a", "ca", "0", "none")
	certify("d7", "a", "ca2", "7", "seven")
	shown := []string{"a", "b", "c7-cert", "c300-cert", "c0-cert", "d7-cert"}
	for name, list := range map[string]struct {
		spec string
		args []string
	}{
		"nothing":              {},
		"key":                  {spec: "key: " + k.line("a")},
		"another key":          {spec: "key: " + k.line("b")},
		"hash":                 {spec: "sha1: " + k.line("a")},
		"newer hash":           {spec: "sha256: " + k.line("a")},
		"authority":            {spec: "key: " + k.line("ca")},
		"hash of an authority": {spec: "sha256: " + k.line("ca2")},
		"number":               {spec: "serial: 7\n", args: []string{"-s", "ca.pub"}},
		"numbers":              {spec: "serial: 5\nserial: 300\nserial: 9000000\n", args: []string{"-s", "ca.pub"}},
		"range":                {spec: "serial: 200-400\n", args: []string{"-s", "ca.pub"}},
		"bitmap":               {spec: "serial: 1\nserial: 3\nserial: 5\nserial: 7\nserial: 8\nserial: 10\nserial: 12\nserial: 13\n", args: []string{"-s", "ca.pub"}},
		"identity":             {spec: "id: seven\nid: x\n", args: []string{"-s", "ca.pub"}},
		"of any authority":     {spec: "serial: 7\n", args: []string{"-s", "none"}},
		"several":              {spec: "serial: 6-8\nid: none\nkey: " + k.line("b") + "sha256: " + k.line("ca2"), args: []string{"-s", "ca.pub"}},
		"a certificate":        {spec: "key: " + k.line("c300-cert")},
	} {
		t.Run(name, func(t *testing.T) {
			spec, file := filepath.Join(k.dir, "spec"), filepath.Join(k.dir, "krl")
			require.NoError(t, os.WriteFile(spec, []byte(list.spec), 0o600))
			k.must(append(append([]string{"-q", "-k", "-z", "3", "-f", file}, list.args...), spec)...)
			for _, name := range shown {
				want := k.run("-Q", "-q", "-f", file, name+".pub") != nil
				err := Revoked{File: file, From: "config:1"}.Check(k.key(name), "web1")
				if !want {
					assert.NoError(t, err, name)
					continue
				}
				var revoked *knownhosts.RevokedError
				require.ErrorAs(t, err, &revoked, name)
				assert.ErrorContains(t, err, "is revoked by "+file+" (ssh-ed25519 SHA256:", name)
			}
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			for n := range data {
				_, _, _ = revokedByKRL(data[:n], k.key("c7-cert"))
				damaged := append([]byte(nil), data...)
				damaged[n] ^= 0xff
				_, _, _ = revokedByKRL(damaged, k.key("c7-cert"))
			}
			_, _, err = revokedByKRL(data[:len(data)-1], k.key("a"))
			assert.ErrorContains(t, err, "truncated")
		})
	}
	_, _, err := revokedByKRL([]byte(string(krlMagic)+"\x00\x00\x00\x02"+strings.Repeat("\x00", 40)), k.key("a"))
	assert.ErrorContains(t, err, "version 2")
	_, _, err = revokedByKRL([]byte(string(krlMagic)+"\x00\x00\x00\x01"+strings.Repeat("\x00", 32)+"\x09\x00\x00\x00\x00"), k.key("a"))
	assert.ErrorContains(t, err, "type 9")
}
