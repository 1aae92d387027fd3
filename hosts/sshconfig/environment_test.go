package sshconfig_test

import (
	"slices"
	"strings"
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

// A process elsewhere, such as a keeper, would take them for files of its own directory.
func TestTheDirectoryCountsForFilesThatAreNamedByIt(t *testing.T) {
	for line, want := range map[string]bool{
		"IdentityFile keys/id": true, "IdentityFile=./id": true, "CertificateFile \"c d\"": true, "UserKnownHostsFile ~/.ssh/a known": true, "GlobalKnownHostsFile known": true,
		"RevokedHostKeys r": true, "ControlPath cm-%h": true, "IdentityAgent a.sock": true, "IdentityFile ${RELATIVE}": true,
		"IdentityFile ~/.ssh/id": false, "IdentityFile /keys/id": false, "IdentityFile %d/id": false, "IdentityFile none": false, "UserKnownHostsFile none": false,
		"ControlPath none": false, "ControlPath /run/cm-%C": false, "RevokedHostKeys none": false, "IdentityFile ${KEYS}/id": false,
	} {
		h := newHome(t)
		others := h.LookupEnv
		h.LookupEnv = func(name string) (string, bool) {
			if name == "RELATIVE" {
				return "keys/id", true
			}
			return others(name)
		}
		for host, counts := range map[string]bool{"web": want, "other": false} {
			cfg, err := h.Open(h.write("home/.ssh/config", "Host "+host+"\n"+line+"\n"))
			require.NoError(t, err, line)
			names, programs := cfg.FromEnvironment("web", sshconfig.Options{})
			assert.Equal(t, counts, slices.Contains(names, "PWD"), "%s for %s", line, host)
			assert.False(t, programs, line)
		}
	}
}

func TestRelativeNamesLeadFromTheDirectoryOfWhoAsks(t *testing.T) {
	h := newHome(t)
	h.Dir = "/project"
	cfg, err := h.Open(h.write("home/.ssh/config", "IdentityFile keys/%h\nIdentityFile /k\nCertificateFile ../c\nUserKnownHostsFile known ~/known\nGlobalKnownHostsFile all\n"+
		"RevokedHostKeys r\nControlPath cm\nIdentityAgent a.sock\n"))
	require.NoError(t, err)
	s, err := cfg.Resolve("web", sshconfig.Options{})
	require.NoError(t, err)
	var files []string
	for _, v := range slices.Concat(s.IdentityFiles, s.CertificateFiles, s.UserKnownHostsFiles, s.GlobalKnownHostsFiles) {
		files = append(files, v.V)
	}
	assert.Equal(t, []string{"/project/keys/web", "/k", "/c", "/project/known", h.Home + "/known", "/project/all"}, files)
	assert.Equal(t, []string{"/project/r", "/project/cm", "/project/a.sock"}, []string{s.RevokedHostKeys.V, s.ControlPath.V, s.IdentityAgent.V})
}

func TestTheDirectoryCountsForProgramsThatNameSomethingInIt(t *testing.T) {
	for line, want := range map[string]bool{
		"Match exec \"test -f .vpn\"": true, "Match exec \"[ -e vpn ]\"": true, "Match exec \"bin/up %h\"": true, "Match exec \"git config x\"": true,
		"Match exec \"test -f /run/vpn\"": false, "Match exec \"test -f ~/vpn -o -d $HOME/x\"": false, "Match exec \"nc -z -w 1 vpn 22\"": false,
		"Match exec \"test $SITE = home\"": false, "Match exec \". ./env\"": true, "Match exec \"test $PWD = /x\"": true,
		"ProxyCommand ./through %h %p": true, "ProxyCommand sh -c 'exec ../x %h'": true, "ProxyCommand -f key nc %h %p": false,
		"ProxyCommand ssh -W %h:%p gate": false, "ProxyCommand /usr/bin/cloudflared access ssh --hostname %h": false, "ProxyCommand none": false,
		"ProxyCommand nc -X connect -x proxy:3128 %h %p": false, "ProxyCommand curl https://x/y": false,
	} {
		h := newHome(t)
		text := line + "\n"
		if strings.HasPrefix(line, "Match") {
			text += "Port 1\n"
		}
		cfg, err := h.Open(h.write("home/.ssh/config", text))
		require.NoError(t, err, text)
		names, _ := cfg.FromEnvironment("web", sshconfig.Options{})
		assert.Equal(t, want, slices.Contains(names, "PWD"), text)
	}
}

func TestProgramsOfMatchExecRunWhereTheLoaderSays(t *testing.T) {
	h := newHome(t)
	h.write("away/vpn", "")
	h.Environ = []string{"PWD=" + h.dir + "/away"}
	s, err := h.resolve("Match exec \"test -f vpn\"\nPort 7\n", "web")
	require.NoError(t, err)
	assert.EqualValues(t, 7, s.Port.V)
}

func TestProgramsOfMatchExecGetTheEnvironmentOfTheLoader(t *testing.T) {
	h := newHome(t)
	h.Environ = []string{"SITE=home", "SSH_AUTH_SOCK=/another"}
	s, err := h.resolve("Match exec \"test $SITE$SSH_AUTH_SOCK = home/run/agent\"\nPort 7\n", "web")
	require.NoError(t, err)
	assert.EqualValues(t, 7, s.Port.V)
}
