package sshconfig_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestWhatOfTheEnvironmentCounts(t *testing.T) {
	for text, want := range map[string]struct {
		names    []string
		programs bool
	}{
		"Host web\nIdentityFile ~/k\nIdentityAgent SSH_AUTH_SOCK\n":                 {},
		"Host web\nIdentityFile ${KEYS}/k\nHost other\nCertificateFile ${EMPTY}c\n": {names: []string{"KEYS"}},
		"IdentityFile ${UNSET}/k\n":                                                 {names: []string{"UNSET"}},
		"IdentityAgent $EMPTY\n":                                                    {names: []string{"EMPTY"}},
		"Host web\nProxyCommand none\n":                                             {},
		"Host web\nProxyCommand nc %h %p\n":                                         {programs: true},
		"Host other\nProxyCommand nc %h %p\n":                                       {},
		"KnownHostsCommand /bin/keys %H\n":                                          {programs: true},
		"Match host web exec \"false\"\nPort 1\n":                                   {programs: true},
		"Match host other exec \"touch @/ran\"\nPort 1\n":                           {},
		"CanonicalizeHostname yes\nCanonicalDomains x\n":                            {programs: true},
		"Include ${KEYS}/*\nHost x\n":                                               {names: []string{"KEYS"}},
	} {
		h := newHome(t)
		cfg, err := h.Open(h.write("home/.ssh/config", text))
		require.NoError(t, err, text)
		names, programs := cfg.FromEnvironment("web", sshconfig.Options{})
		assert.ElementsMatch(t, want.names, names, text)
		assert.Equal(t, want.programs, programs, text)
		assert.NoFileExists(t, h.dir+"/ran")
	}
	names, programs := (&sshconfig.Config{}).FromEnvironment("web", sshconfig.Options{Lines: []string{"ProxyCommand=nc %h"}})
	assert.Empty(t, names)
	assert.True(t, programs, "the command line counts as well")
}

func TestProgramsOfMatchExecGetTheEnvironmentOfTheLoader(t *testing.T) {
	h := newHome(t)
	h.Environ = []string{"SITE=home", "SSH_AUTH_SOCK=/another"}
	s, err := h.resolve("Match exec \"test $SITE$SSH_AUTH_SOCK = home/run/agent\"\nPort 7\n", "web")
	require.NoError(t, err)
	assert.EqualValues(t, 7, s.Port.V)
}
