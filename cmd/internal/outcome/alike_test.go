package outcome_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
)

func TestHostsWithUntrustedKeysFailAlike(t *testing.T) {
	one, two := "SHA256:"+strings.Repeat("a", 43), "SHA256:"+strings.Repeat("b", 43)
	unknown := func(host, key string) string {
		return "the key of " + host + " is not known: it shows ssh-ed25519 " + key + "; compare the fingerprint"
	}
	a, own := outcome.Alike(unknown("[127.0.0.1]:2201", one))
	b, _ := outcome.Alike(unknown("[127.0.0.1]:2202", two))
	assert.Equal(t, a, b)
	assert.Equal(t, "the key of the host is not known: it shows ssh-ed25519 SHA256:…; compare the fingerprint", a)
	assert.Equal(t, one, own)

	command := func(host, key, options string) string {
		return unknown("["+host+"]:22", key) + ", then record the key: fairlead hosts trust " + options + host
	}
	for _, options := range []string{"", "-F /my/config ", "-o 'Port=2222' -F '/a b' "} {
		a, _ = outcome.Alike(command("web1", one, options))
		b, _ = outcome.Alike(command("web2", two, options))
		assert.Equal(t, a, b)
		assert.True(t, strings.HasSuffix(outcome.ForHosts(a, []string{"web1", "web2"}), ": fairlead hosts trust "+options+"'web[1-2]'"), a)
		assert.True(t, strings.HasSuffix(outcome.ForHosts(a, []string{"web1"}), ": fairlead hosts trust "+options+"web1"), a)
	}
	a, _ = outcome.Alike(command("ada@web1", one, ""))
	assert.True(t, strings.HasSuffix(outcome.ForHosts(a, []string{"web1"}), ": fairlead hosts trust ada@web1"), "it is in no list: %s", a)
	assert.Equal(t, "scp HOST", outcome.ForHosts("scp HOST", []string{"web1"}))

	changed := func(host, line, key string) string {
		return "the key of " + host + " HAS CHANGED: it shows ssh-ed25519 " + key + ", but /home/u/.ssh/known_hosts:" + line + " has ssh-ed25519 " + two +
			"; only then remove the old key with: ssh-keygen -f /home/u/.ssh/known_hosts -R " + host
	}
	a, _ = outcome.Alike(changed("web1", "3", one))
	b, _ = outcome.Alike(changed("web2", "4", two))
	assert.Equal(t, a, b)
	assert.True(t, strings.HasSuffix(a, "-R HOST"), a)

	refused := "may not log in; offered ssh-ed25519 " + one + " (/home/u/.ssh/id); is the user right?"
	same, own := outcome.Alike(refused)
	assert.Equal(t, refused, same, "the key of the person is the same for all")
	assert.Empty(t, own)

	same, own = outcome.Alike("connection refused")
	assert.Equal(t, "connection refused", same)
	assert.Empty(t, own)
}

func TestHostsWithOneKeyAreNamedTogether(t *testing.T) {
	assert.Equal(t, []string{"web10: SHA256:b", "web[1-3]: SHA256:a"}, outcome.PerHost(map[string]string{"web2": "SHA256:a", "web1": "SHA256:a", "web10": "SHA256:b", "web3": "SHA256:a"}))
	assert.Empty(t, outcome.PerHost(nil))
}

func TestHostsWhoseNamesHaveNoAddressFailAlike(t *testing.T) {
	unknown := func(host string) string {
		return "the name " + host + " has no address (dial tcp: lookup " + host + " on 10.0.0.1:53: no such host)"
	}
	a, own := outcome.Alike(unknown("web1"))
	b, _ := outcome.Alike(unknown("web2"))
	assert.Equal(t, a, b)
	assert.Equal(t, "the name of the host has no address", a)
	assert.Equal(t, "web1", own)
}
