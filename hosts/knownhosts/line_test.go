package knownhosts_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

func TestWhyALineIsSkipped(t *testing.T) {
	k := testKeys()
	ed := line(k.ed.PublicKey())
	blob := strings.Fields(ed)[1]
	twenty := base64.StdEncoding.EncodeToString(make([]byte, 20))
	short, long := base64.StdEncoding.EncodeToString(make([]byte, 19)), base64.StdEncoding.EncodeToString(make([]byte, 21))
	for text, why := range map[string]string{
		"":                                        "",
		" \t\r":                                   "",
		"#web " + ed:                              "",
		"web":                                     "has no key",
		"web # " + ed:                             "has no key",
		"@revoked web":                            "has no key",
		"@magic web " + ed:                        "has an unknown marker",
		"@revoked @revoked web " + ed:             "has two markers",
		"@revoked @magic web " + ed:               "has two markers",
		"web 1024 35 12345":                       "holds a key of SSH protocol 1",
		"web ssh-future":                          "holds no readable key",
		"web ssh-ed25519 " + blob[1:]:             "holds no readable key",
		"web ssh-future " + blob[1:] + "!":        "holds no readable key",
		"web ssh-future AAAA":                     "holds a key of an unknown type",
		"web ssh-rsa " + blob:                     "holds a key of another type than it says",
		"web ssh-future " + blob:                  "holds a key of another type than it says",
		"|2|a|b " + ed:                            "has a name hashed in an unknown way",
		"|1|" + twenty + " " + ed:                 "has a broken hashed name",
		"|1|" + short + "|" + twenty + " " + ed:   "has a broken hashed name",
		"|1|" + twenty + "|" + long + " " + ed:    "has a broken hashed name",
		"|1|" + twenty + "!|" + twenty + " " + ed: "has a broken hashed name",
		"|1|" + twenty + "|" + twenty + "! " + ed: "has a broken hashed name",
	} {
		got, ok := knownhosts.ParseLine(text)
		assert.False(t, ok, text)
		assert.Equal(t, why, got, text)
	}
	for _, text := range []string{"web " + ed, "web\t \t" + ed + " # mine", "@revoked\tweb " + ed, "|1|" + twenty + "|" + twenty + " " + ed} {
		why, ok := knownhosts.ParseLine(text)
		assert.True(t, ok, text)
		assert.Empty(t, why, text)
	}
}

// A type that we can read is not called unknown when its key is broken.
func TestKeysOfEveryTypeThatCanBeReadMayBeBroken(t *testing.T) {
	for _, typ := range []string{"ssh-rsa", "ssh-dss", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
		"sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"} {
		blob := ssh.Marshal(struct{ Type, Rest string }{typ, "x"})
		_, err := ssh.ParsePublicKey(blob)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "unknown key algorithm", typ)
		why, ok := knownhosts.ParseLine("web " + typ + " " + base64.StdEncoding.EncodeToString(blob))
		assert.False(t, ok)
		assert.Equal(t, "holds no readable key", why, typ)
	}
}

func TestACertificateInTheFileIsWarnedOf(t *testing.T) {
	k := testKeys()
	name := file(t, "web "+line(certificate(t, k.ec, k.ca, nil, "web")))
	db, err := knownhosts.Open(name)
	require.NoError(t, err)
	assert.Equal(t, []knownhosts.Warning{{File: name, Line: 1, Reason: "holds a certificate where a key belongs; no host can match it"}}, db.Warnings())
}

func TestNamesAreWrittenInLowerCaseAndWithPortsThatAreNot22(t *testing.T) {
	for _, c := range []struct {
		host string
		port uint16
		want string
	}{
		{"AZaz09@[`{é", 0, "azaz09@[`{é"},
		{"Web", 22, "web"},
		{"Web", 23, "[web]:23"},
		{"web", 1, "[web]:1"},
		{"web", 65535, "[web]:65535"},
	} {
		assert.Equal(t, c.want, knownhosts.Name(c.host, c.port))
	}
}
