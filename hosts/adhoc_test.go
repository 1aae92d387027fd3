package hosts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestParseAdHoc(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want hosts.Host
	}{
		"user and host":         {"root@web01", hosts.Host{Name: "web01", User: "root"}},
		"a port":                {"root@web01.example.com:2222", hosts.Host{Name: "web01.example.com", User: "root", Port: 2222}},
		"an IPv4 address":       {"root@10.0.0.1:22", hosts.Host{Name: "10.0.0.1", User: "root", Port: 22}},
		"an IPv6 address":       {"root@[2001:db8::1]", hosts.Host{Name: "2001:db8::1", User: "root"}},
		"one with port":         {"root@[2001:db8::1]:22", hosts.Host{Name: "2001:db8::1", User: "root", Port: 22}},
		"one with a zone":       {"root@[fe80::1%eth0]", hosts.Host{Name: "fe80::1%eth0", User: "root"}},
		"a user with an at":     {"me@corp.example@web01", hosts.Host{Name: "web01", User: "me@corp.example"}},
		"a user with a domain":  {`corp\me@web01`, hosts.Host{Name: "web01", User: `corp\me`}},
		"a host with underline": {"me@_gateway", hosts.Host{Name: "_gateway", User: "me"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, ok, err := hosts.ParseAdHoc(tt.text)
			require.NoError(t, err)
			assert.True(t, ok)
			assert.Equal(t, tt.want, h)
			assert.Equal(t, "prod", h.TierName())
			assert.Zero(t, h.Source)
		})
	}
}

func TestParseAdHocLeavesSelectorsAlone(t *testing.T) {
	for _, text := range []string{
		"", "web01", "@web", "@web&a@b", "a@b,c@d", "!a@b", "(a@b)", "role=a@b", "~a@b", "re:a@b", "^a@b", "file:a@b", "a@b c", "-",
	} {
		_, ok, err := hosts.ParseAdHoc(text)
		assert.NoError(t, err, text)
		assert.False(t, ok, text)
	}
}

func TestParseAdHocRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a user like an option":     {"-oProxyCommand@h", `"-oProxyCommand@h": user name must not begin with -`},
		"a host like an option":     {"me@-h", `"me@-h": host name must not begin with '-'`},
		"no host":                   {"me@", `"me@": host name is empty`},
		"a user for a shell":        {"$HOME@h", `"$HOME@h": user name must not contain '$'`},
		"a backslash at the end":    {`me\@h`, `"me\\@h": user name must not end in \`},
		"a host for a shell":        {"me@h;reboot", `"me@h;reboot": host name must not contain ';'`},
		"a port that is none":       {"me@h:ssh", `"me@h:ssh": port "ssh" is not between 1 and 65535`},
		"port zero":                 {"me@h:0", `"me@h:0": port "0" is not between 1 and 65535`},
		"a port too large":          {"me@h:65536", `"me@h:65536": port "65536" is not between 1 and 65535`},
		"an empty port":             {"me@h:", `"me@h:": no port follows the colon`},
		"IPv6 without brackets":     {"me@fe80::1", `"me@fe80::1": write an IPv6 address in brackets, as in user@[2001:db8::1]`},
		"an open bracket":           {"me@[::1", `"me@[::1": [ without ]`},
		"rubbish behind a bracket":  {"me@[::1]22", `"me@[::1]22": after ] only :port may follow`},
		"a name in brackets":        {"me@[h]", `"me@[h]": "h" is not an IPv6 address`},
		"an IPv4 in brackets":       {"me@[10.0.0.1]", `"me@[10.0.0.1]": "10.0.0.1" is not an IPv6 address`},
		"a path, as scp has it":     {"me@h:/etc", `"me@h:/etc": port "/etc" is not between 1 and 65535`},
		"an endless user":           {strings.Repeat("u", 300) + "@h", `user name has 300 bytes, more than 255`},
		"the word all":              {"me@all", `"me@all": host name is a word of selectors: "all" means every host`},
		"a user of invisible signs": {"ro\u200bot@h", `user name must not contain '\u200b'`},
	} {
		t.Run(name, func(t *testing.T) {
			_, ok, err := hosts.ParseAdHoc(tt.text)
			assert.True(t, ok)
			require.ErrorContains(t, err, tt.want)
			var pe *hosts.ParseError
			assert.ErrorAs(t, err, &pe)
		})
	}
}

func TestFormatAdHocWritesWhatParseAdHocReads(t *testing.T) {
	for _, text := range []string{"root@web1", "root@10.0.0.5:2222", "a.b@[2001:db8::1]", "a@[::1]:22"} {
		h, ok, err := hosts.ParseAdHoc(text)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, text, hosts.FormatAdHoc(h))
	}
}
