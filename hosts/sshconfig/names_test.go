package sshconfig_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestNamesAreThoseOfHostLinesWithoutWildcards(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"none":                          {"Port 22\n", ""},
		"one":                           {"Host web1\n", "web1"},
		"several on a line":             {"Host web1 web2\tdb\n", "web1 web2 db"},
		"each once":                     {"Host web1\nHost db web1\n", "web1 db"},
		"no wildcards":                  {"Host * web? *.example.com web1\n", "web1"},
		"no negations":                  {"Host !web1 web2\n", "web2"},
		"none that the line leaves out": {"Host web1 web2 !web1\n", "web2"},
		"in quotes":                     {"Host \"web1\" web2\n", "web1 web2"},
		"as it is written":              {"Host Web1.Example.COM\n", "Web1.Example.COM"},
		"no comment":                    {"Host web1 # web2\n", "web1"},
		"none of a Match":               {"Match host web1\nMatch originalhost web2\n", ""},
		"after a Match":                 {"Match host web1\nHost web2\n", "web2"},
		"addresses":                     {"Host 10.0.0.1 2001:db8::1\n", "10.0.0.1 2001:db8::1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			cfg, err := h.Open(h.writeRaw("home/.ssh/config", tt.text))
			require.NoError(t, err)
			assert.Equal(t, tt.want, words(cfg.Names()))
		})
	}
}

func TestNamesOfIncludedFilesCountWhereTheirBlockApplies(t *testing.T) {
	h := newHome(t)
	h.write("home/.ssh/d/1", "Host web1\nHost db1\n")
	h.write("home/.ssh/d/2", "Host web2\nHost db2\n")
	h.write("home/.ssh/d/3", "Host three\n")
	h.write("home/.ssh/d/4", "Host four\n")
	h.write("home/.ssh/d/5", "Host web5\nHost db5\n")
	h.write("home/.ssh/d/6", "Host six\n")
	cfg, err := h.Open(h.write("home/.ssh/config",
		"Include d/1\nHost web*\n  Include d/2\nMatch user bob\n  Include d/3\nMatch all\n  Include d/4\nMatch final\n  Include d/6\nHost * !web5\n Include d/5\n"))
	require.NoError(t, err)
	assert.Equal(t, "web1 db1 web2 four db5", words(cfg.Names()))
	for _, v := range cfg.Names() {
		assert.NotZero(t, v.From.Line, v.V)
		if v.V == "web2" {
			assert.True(t, strings.HasSuffix(v.From.String(), "/d/2:1"), v.From)
		}
	}
}

func TestNamesOfTheUsersFileComeBeforeTheSystems(t *testing.T) {
	h := newHome(t)
	h.write("home/.ssh/config", "Host mine both\n")
	h.write("etc/ssh_config", "Host both theirs\n")
	cfg, err := h.Load()
	require.NoError(t, err)
	assert.Equal(t, "mine both theirs", words(cfg.Names()))
	assert.Empty(t, (&sshconfig.Config{}).Names())
}

func words(names []sshconfig.Value[string]) string {
	var all []string
	for _, v := range names {
		all = append(all, v.V)
	}
	return strings.Join(all, " ")
}
