package sshconfig_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestDefaultsAreOpenSSHs(t *testing.T) {
	h := newHome(t)
	cfg, err := h.Open(sshconfig.None)
	require.NoError(t, err)
	s, err := cfg.Resolve("Web", sshconfig.Options{})
	require.NoError(t, err)
	assert.Equal(t, "web", s.HostName.V)
	assert.Equal(t, "Web", s.Alias)
	assert.Equal(t, "alice", s.User.V)
	assert.EqualValues(t, 22, s.Port.V)
	assert.Equal(t, sshconfig.StrictAsk, s.StrictHostKeyChecking.V)
	assert.Equal(t, 3, s.ServerAliveCountMax.V)
	assert.Equal(t, "/run/agent", s.IdentityAgent.V)
	assert.Contains(t, paths(s.IdentityFiles), filepath.Join(h.Home, ".ssh/id_ed25519"))
	assert.NotContains(t, paths(s.IdentityFiles), filepath.Join(h.Home, ".ssh/identity"))
	assert.Equal(t, filepath.Join(h.Home, ".ssh/known_hosts"), s.UserKnownHostsFiles[0].V)
	assert.Equal(t, filepath.Join(h.SystemDir, "ssh_known_hosts"), s.GlobalKnownHostsFiles[0].V)
	assert.Equal(t, "default", s.Port.Source())
	assert.Empty(t, s.Skipped)
}

func TestEveryValueSaysWhereItCameFrom(t *testing.T) {
	h := newHome(t)
	s, err := h.resolve("Host web\n  Port 2222\n\nHost *\n  User bob\n  Port 3\n  HostName %h.example.com\n", "web")
	require.NoError(t, err)
	file := filepath.Join(h.Home, ".ssh/config")
	assert.Equal(t, file+":2", s.Port.Source())
	assert.Equal(t, file+":5", s.User.Source())
	assert.Equal(t, "web.example.com", s.HostName.V)
	assert.Equal(t, file+":7", s.HostName.Source())
	assert.Equal(t, "default", s.ConnectTimeout.Source())

	cfg, err := h.Open(file)
	require.NoError(t, err)
	s, err = cfg.Resolve("web", sshconfig.Options{User: "eve", Port: 99})
	require.NoError(t, err)
	assert.Equal(t, "eve", s.User.V)
	assert.EqualValues(t, 99, s.Port.V)
	assert.Equal(t, sshconfig.Given, s.Port.Source())
}

// Each case is one that the decoding library alone gets wrong.
func TestTheLibrarysFlawsAreWorkedAround(t *testing.T) {
	for name, c := range map[string]struct {
		config, host string
		port         int
	}{
		"Match final all":                       {"Match final all\nPort 5\n", "web", 5},
		"Match user":                            {"User bob\nMatch user bob\nPort 5\n", "web", 5},
		"Match originalhost":                    {"Match originalhost web\nPort 5\n", "web", 5},
		"Match localuser":                       {"Match localuser alice\nPort 5\n", "web", 5},
		"Match canonical":                       {"Match canonical\nPort 5\n", "web", 22},
		"Match of two criteria":                 {"Match host web user bob\nPort 5\n", "web", 22},
		"criteria are not patterns":             {"Match host web user bob\nPort 5\n", "user", 22},
		"negated criterion":                     {"Match host web !user alice\nPort 5\n", "web", 22},
		"Match list":                            {"Match host db,web\nPort 5\n", "web", 5},
		"Match on the resolved name":            {"HostName real\nMatch host real\nPort 5\n", "web", 5},
		"? is one character":                    {"Host web?\nPort 5\n", "web", 22},
		"tabs separate patterns":                {"Host a\tweb\nPort 5\n", "web", 5},
		"quoted pattern":                        {"Host \"web\"\nPort 5\n", "web", 5},
		"Match tagged":                          {"Tag t1\nMatch tagged t1\nPort 5\n", "web", 5},
		"case-sensitive patterns":               {"Host WEB\nPort 5\n", "web", 22},
		"the final pass sees the resolved name": {"Host real\nPort 5\nHost web\nHostName real\nMatch final all\nUser x\n", "web", 5},
		"a byte order mark":                     {"\xef\xbb\xbfHost web\nPort 5\n", "web", 5},
		"CRLF and no last line end":             {"Host web\r\nPort 5", "web", 5},
	} {
		t.Run(name, func(t *testing.T) {
			assert.EqualValues(t, c.port, must(t, c.config, c.host).Port.V)
		})
	}

	s := must(t, "IdentityFile ~/.ssh/key#1\nIdentityFile \"/key #2\"\nIdentityFile /key3 # three\n"+
		"UserKnownHostsFile \"/a b\" /c\nServerAliveInterval 1m\nConnectTimeout none\nIdentitiesOnly YES\n"+
		"ProxyCommand sh -c 'echo #x'\n", "web")
	assert.Equal(t, []string{"~/.ssh/key#1", "/key #2", "/key3"}, []string{s.IdentityFiles[0].Raw, s.IdentityFiles[1].V, s.IdentityFiles[2].V})
	assert.Equal(t, []string{"/a b", "/c"}, paths(s.UserKnownHostsFiles))
	assert.Equal(t, time.Minute, s.ServerAliveInterval.V)
	assert.Zero(t, s.ConnectTimeout.V)
	assert.True(t, s.IdentitiesOnly.V)
	assert.Equal(t, "sh -c 'echo #x'", s.ProxyCommand.V)
}

// Nothing is said of a block of which nobody knows for what it counts.
func TestABrokenMatchCountsForNothing(t *testing.T) {
	for line, want := range map[string]string{
		"Match": "has no value", "Match #": "has no", "Match host": "needs a value", "Match host \"web": "is not closed", "Match all host web": "cannot be combined", "Match place here": "there is no criterion",
		"Match localnetwork here": "Match localnetwork", "Match host we\\'b": "versions of ssh differ", "Match version 9": "is not supported", "Host web \"\"": "an empty pattern",
	} {
		_, err := newHome(t).resolve(line+"\nGSSAPIKeyExchange yes\n", "web")
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "GSSAPIKeyExchange", line)
	}
	_, err := newHome(t).resolve("Match all\nGSSAPIKeyExchange yes\n", "web")
	require.ErrorContains(t, err, "GSSAPIKeyExchange")
}

// A word of a Match line that versions of ssh read differently is refused where the line counts, and only there.
func TestAWordOfMatchThatVersionsReadDifferentlyIsRefused(t *testing.T) {
	for line, differs := range map[string]bool{
		`Match host web\ user bob`: true, `Match host web\  `: false, "Match host web\\\tuser bob": false, `Match host web\`: false, `Match host w\eb`: false,
		`Match host "web"user bob`: true, `Match host "web" user bob`: false, `Match host w"e"b`: true, `Match host w"eb"`: false, `Match host 'web'`: true,
		`Match host "we'b"`: false, `Match host web=user bob`: true, `Match host=web user=bob`: false, `Match host "web"`: false,
		`Match host "we b"`: false, `Match host db user we\ host x`: false, `Match host web,\`: false, `Match host web,\\`: true,
	} {
		_, err := newHome(t).resolve("User bob\n"+line+"\nPort 5\n", "web")
		if differs {
			assert.ErrorContains(t, err, "versions of ssh differ", line)
		} else {
			assert.NoError(t, err, line)
		}
	}
}

// An address in a form of C libraries is the address, up to the largest of each part; anything larger stays a name.
func TestAddressesInShortFormsAreAddresses(t *testing.T) {
	for name, want := range map[string]string{
		"127.1": "127.0.0.1", "010.0.0.0x9": "8.0.0.9", "0": "0.0.0.0",
		"255.255.255.255": "255.255.255.255", "0xff.0377.0xffff": "255.255.255.255", "255.0xffffff": "255.255.255.255", "4294967295": "255.255.255.255",
	} {
		assert.Equal(t, want, must(t, "HostName "+name+"\n", "web").HostName.V, name)
	}
	for _, name := range []string{
		"1.2.3.256", "1.2.256.4", "1.256.4", "256.1", "1.2.65536", "1.16777216", "4294967296", "1.2.3.0400", "0x100.1",
		"1_0.1", "0b1.1", "0o7.1", "08.1", "1..2", "1.2.3.4.5",
	} {
		assert.Equal(t, name, must(t, "HostName "+name+"\n", "web").HostName.V)
	}
}

func TestAHostIsRefusedWhereACriterionThatIsNotSupportedDecides(t *testing.T) {
	h := newHome(t)
	h.NoExec = true
	marker := filepath.Join(h.dir, "ran")
	exec := "exec \"touch " + marker + "\""
	for name, c := range map[string]struct {
		text string
		line int // 0: it does not matter
	}{
		"exec":                       {"Match exec \"true\"\nPort 5\n", 1},
		"exec for the host":          {"\nMatch host web " + exec + "\nPort 5\n", 2},
		"exec before the host":       {"Match " + exec + " host web\n", 1},
		"not exec":                   {"Match !" + exec + " all\nPort 5\n", 1},
		"in a later pass":            {"Match final " + exec + "\nPort 5\n", 1},
		"in an included file":        {"Include @/more\n", 1},
		"sessiontype":                {"Match sessiontype exec\nPort 5\n", 1},
		"command":                    {"Match command ls\nPort 5\n", 1},
		"version":                    {"Match version OpenSSH_10*\nPort 5\n", 1},
		"exec for another":           {"Match host db " + exec + "\nPort 5\n", 0},
		"exec for another, turned":   {"Match " + exec + " !host web\nPort 5\n", 0},
		"exec for another account":   {"Match " + exec + " user bob\nPort 5\n", 0},
		"in a block for another":     {"Host db\nInclude @/more\n", 0},
		"canonical, which is never":  {"Match canonical " + exec + "\nPort 5\n", 0},
		"a tag that nobody has":      {"Match tagged x " + exec + "\nPort 5\n", 0},
		"localnetwork, for another":  {"Match originalhost db localnetwork 10.0.0.0/8\n", 0},
		"behind a value that is set": {"Port 7\nHost db\nMatch host db " + exec + "\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h.writeRaw("more", "Match exec \"touch "+marker+"\"\nPort 5\n")
			s, err := h.resolve(strings.ReplaceAll(c.text, "@", h.dir), "web")
			assert.NoFileExists(t, marker)
			if c.line == 0 {
				require.NoError(t, err)
				assert.NotEqual(t, uint16(5), s.Port.V)
				return
			}
			require.Error(t, err)
			assert.Regexp(t, fmt.Sprintf(`(config|more):%d: Match [a-z]+ (is not supported, and it )?decides what counts for web[:,]`, c.line), err.Error())
		})
	}
}

func TestWhatHasNoEffectIsListed(t *testing.T) {
	s := must(t, "Host web\nForwardAgent yes\nVisualHostKey yes\nLocalForward 1 a:1\nCompression no\nHost db\nTunnel yes\n"+
		"Host *\nForwardAgent no\nLocalForward 2 b:2\nRekeyLimit 1G 1h\nMatch final all\n", "web")
	var got []string
	for _, d := range s.Skipped {
		got = append(got, d.Keyword+" "+d.Value)
		assert.NotZero(t, d.From.Line)
	}
	assert.Equal(t, []string{"ForwardAgent yes", "VisualHostKey yes", "LocalForward 1 a:1", "LocalForward 2 b:2", "RekeyLimit after 1h"}, got)
}

// As Debian, Fedora and Apple ship it.
func TestTheSystemsStockFilesCauseNoMessages(t *testing.T) {
	h := newHome(t)
	h.write("etc/ssh_config", "Include @/etc/more\nHost *\n    SendEnv LANG LC_*\n    HashKnownHosts yes\n    GSSAPIAuthentication yes\n")
	h.write("etc/more", "Match final all\n\tInclude @/etc/crypto\n\tForwardX11Trusted yes\nHost *\n\tSendEnv LANG LC_*\n")
	h.writeRaw("etc/crypto", "Ciphers aes256-gcm@openssh.com,aes256-ctr\nMACs hmac-sha2-256-etm@openssh.com,umac-128@openssh.com\n"+
		"GSSAPIKexAlgorithms gss-curve25519-sha256-\nKexAlgorithms mlkem768x25519-sha256,curve25519-sha256\n"+
		"PubkeyAcceptedAlgorithms ssh-ed25519,rsa-sha2-512\nHostKeyAlgorithms ssh-ed25519\nCASignatureAlgorithms ssh-ed25519\nRequiredRSASize 2048\n")
	cfg, err := h.Load()
	require.NoError(t, err)
	s, err := cfg.Resolve("web", sshconfig.Options{})
	require.NoError(t, err)
	assert.Empty(t, s.Skipped)
	assert.Equal(t, 2048, s.RequiredRSASize.V)
	assert.Equal(t, "aes256-gcm@openssh.com,aes256-ctr", s.Ciphers.V)
}

func TestWhatWouldBeUnsafeToLeaveOutIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"CanonicalizeHostname perhaps":                           `config:1: CanonicalizeHostname: "perhaps" is not yes, no or always`,
		"CanonicalizeHostname yes\nCanonicalizeFallbackLocal no": "config:2: the name web is in none of CanonicalDomains (which is empty), and CanonicalizeFallbackLocal is no",
		"RefuseConnection gone":                                  "refuses connections",
		"RemoteCommand tmux":                                     "remote command",
		"KnownHostsCommand x":                                    "config:1: KnownHostsCommand: \"x\" is not the absolute path of a program",
		"KnownHostsCommand /x %q":                                `"%q" is not known`,
		"PKCS11Provider /lib/p.so":                               "ssh-add -s",
		"SmartcardDevice /lib/p.so":                              "ssh-add -s",
		"SecurityKeyProvider /lib/p.so":                          "ssh-add -S",
		"HostbasedAuthentication yes":                            "log in with a key",
		"GSSAPIKeyExchange yes":                                  "known_hosts",
		"AddressFamily inet4":                                    "not any, inet or inet6",
		"ConnectionAttempts 0":                                   "not a number from 1",
		"RekeyLimit 5":                                           "too small",
		"RekeyLimit 1X":                                          "not a number of bytes",
		"RekeyLimit 1G soon":                                     "not a time",
		"RekeyLimit 1G 1h x":                                     "more than one value",
		"SetEnv A":                                               "expected NAME=VALUE",
		"BatchMode x":                                            "not yes or no",
		"PubkeyAuthentication x":                                 "not yes or no",
		"RequiredRSASize x":                                      "not a number",
		"BindAddress a b":                                        "more than one value",
		"User %u":                                                "tokens and variables in user names",
		"User -x":                                                "starts with a dash",
		"User a\x01b":                                            `it holds '\x01'`,
		"User a\x7fb":                                            `it holds '\x7f'`,
		"HostName a\x7fb":                                        `it holds '\x7f'`,
		"\"Port 5":                                               "a double quote is not closed",
		"HostName -x":                                            "starts with a dash",
		"ProxyJump -x":                                           "starts with a dash",
		"HostName \"a b\"":                                       "it holds ' '",
		"ProxyJump web":                                          "its own jump host",
		"ProxyJump a,none":                                       "none must be the only value",
		"Match host 'web'\nPort 5":                               "use double quotes",
		"Port 0":                                                 `config:1: Port: "0" is not a port`,
		"Prot 22":                                                `"Prot" is not a directive`,
		"IdentityFile ${NOPE}/x":                                 "NOPE is not set",
		"IdentityFile %q":                                        `"%q" is not known`,
		"IdentityFile %":                                         "lone %",
		"IdentityFile ~nobody-at-all/x":                          "no account",
		"IdentityAgent ${NOPE}":                                  "NOPE is not set",
		"IdentityAgent $a-b":                                     "not the name of an environment variable",
		"Match host":                                             "host needs a value",
		"Match weather fine":                                     `no criterion "weather"`,
		"Host a\x00b":                                            "NUL",
		"IdentityFile \"x":                                       "not closed",
		"Host db\nPort x\nHost q\nPrt 23":                        "config:4:",
	} {
		_, err := newHome(t).resolve(text, "web")
		if assert.Error(t, err, text) {
			assert.ErrorContains(t, err, want, text)
			assert.ErrorContains(t, err, "sshconfig: ", text)
		}
	}
	for _, fine := range []string{"CanonicalizeHostname no", "RevokedHostKeys none", "RemoteCommand none", "Host db\nRefuseConnection x",
		"IgnoreUnknown Prot*\nProt 22", "CanonicalizeHostname no\nCanonicalizeHostname yes"} {
		_, err := newHome(t).resolve(fine, "web")
		assert.NoError(t, err, fine)
	}
}

func TestRefusedNamesAreRefusedWhateverTheConfigurationSays(t *testing.T) {
	cfg := &sshconfig.Config{}
	for _, name := range []string{"", "-oProxyCommand=x", "a b", "a\nb", "a'b"} {
		_, err := cfg.Resolve(name, sshconfig.Options{})
		assert.ErrorIs(t, err, sshconfig.ErrBadName, "%q", name)
	}
	for _, user := range []string{"-x", "a\x1fb", "a\nb", "a\x7fb"} {
		_, err := cfg.Resolve("web", sshconfig.Options{User: user})
		assert.ErrorIs(t, err, sshconfig.ErrBadName, "%q", user)
	}
	s, err := cfg.Resolve("web", sshconfig.Options{User: "dom\\user"})
	require.NoError(t, err)
	assert.Equal(t, "dom\\user", s.User.V)
}

func TestTokensVariablesAndHomes(t *testing.T) {
	h := newHome(t)
	s, err := h.resolve("HostName Real.example.com\nUser bob\nPort 7\nIdentityFile ~/%d-%h-%i-%k-%L-%l-%n-%p-%r-%u-%%\n"+
		"IdentityFile ${KEYS}/%C\nIdentityFile ${EMPTY}x\nUserKnownHostsFile ~/kh-%h %d/x\nIdentityAgent $KEYS\nHostKeyAlias Pet\n", "Web")
	require.NoError(t, err)
	assert.Equal(t, []string{h.Home + "/" + h.Home + "-real.example.com-1000-pet-desk-desk.example.org-Web-7-bob-alice-%",
		"/keys/" + filepath.Base(s.IdentityFiles[1].V), "x"}, paths(s.IdentityFiles))
	assert.Len(t, filepath.Base(s.IdentityFiles[1].V), 40)
	assert.Equal(t, []string{h.Home + "/kh-real.example.com", h.Home + "/x"}, paths(s.UserKnownHostsFiles))
	assert.Equal(t, "/keys", s.IdentityAgent.V)
	assert.Equal(t, "pet", s.HostKeyAlias.V)
	for config, want := range map[string]string{"IdentityAgent none": "", "IdentityAgent SSH_AUTH_SOCK": "/run/agent",
		"IdentityAgent ~/sock": "~/sock", "IdentityAgent $UNSET_NAME": "", "IdentityAgent ${KEYS}/%r": "/keys/alice"} {
		h := newHome(t)
		s, err := h.resolve(config, "web")
		require.NoError(t, err)
		if want == "~/sock" {
			want = h.Home + "/sock"
		}
		assert.Equal(t, want, s.IdentityAgent.V, config)
	}
}

func TestTheAgentIsThatOfWhoeverAsks(t *testing.T) {
	cfg, err := newHome(t).Open(sshconfig.None)
	require.NoError(t, err)
	s, err := cfg.Resolve("web", sshconfig.Options{LookupEnv: func(k string) (string, bool) { return "/caller/" + k, true }})
	require.NoError(t, err)
	assert.Equal(t, "/caller/SSH_AUTH_SOCK", s.IdentityAgent.V)
}

func TestJumpHosts(t *testing.T) {
	for config, want := range map[string][]sshconfig.Jump{
		"ProxyJump a,u@b:2200,[::1]:33":     {{Host: "a"}, {User: "u", Host: "b", Port: 2200}, {Host: "::1", Port: 33}},
		"ProxyJump none\nProxyJump a":       nil,
		"ProxyCommand nc %h\nProxyJump a":   nil,
		"ProxyCommand none\nProxyJump a":    nil,
		"ProxyJump a\nProxyCommand nc":      {{Host: "a"}},
		"ProxyJump %r@jump-%h\nUser bob":    {{User: "bob", Host: "jump-web"}},
		"ProxyJump ssh://u@a:5/ # comment":  {{User: "u", Host: "a", Port: 5}},
		"Host web\nProxyJump none # direct": nil,
	} {
		s := must(t, config, "web")
		assert.Equal(t, want, s.ProxyJump.V, config)
		if want != nil {
			assert.Empty(t, s.ProxyCommand.V, config)
		}
	}
	assert.Equal(t, "nc %h", must(t, "ProxyCommand nc %h", "web").ProxyCommand.V)
}

func TestNoneLeavesListsEmpty(t *testing.T) {
	s := must(t, "IdentityFile none\nUserKnownHostsFile none\nGlobalKnownHostsFile none\n", "web")
	assert.Empty(t, s.IdentityFiles)
	assert.Empty(t, s.UserKnownHostsFiles)
	assert.Empty(t, s.GlobalKnownHostsFiles)
}

func TestAnotherAgentIsLentThanTheOneThatLogsIn(t *testing.T) {
	h := newHome(t)
	cfg, err := h.Open(sshconfig.None)
	require.NoError(t, err)
	for option, want := range map[string]string{
		"": "", "no": "", "yes": "/own", "TRUE": "/own", "/other": "/other", "~/a-%h": h.Home + "/a-web", "$KEYS": "/caller/KEYS", "${KEYS}/%r": "/caller/KEYS/alice", "$UNSET": "",
	} {
		lines := []string{"IdentityAgent=/own"}
		if option != "" {
			lines = append(lines, "ForwardAgent="+option, "ForwardAgent=/second")
		}
		s, err := cfg.Resolve("web", sshconfig.Options{Lines: lines, LookupEnv: func(k string) (string, bool) {
			if k != "KEYS" {
				return "", false
			}
			return "/caller/KEYS", true
		}})
		require.NoError(t, err, option)
		assert.Equal(t, want, s.AgentLent, option)
		if option == "$UNSET" {
			assert.True(t, s.ForwardAgent.V, "the caller learns that there is no agent")
			continue
		}
		assert.Equal(t, want != "", s.ForwardAgent.V, option)
		assert.Equal(t, "/own", s.IdentityAgent.V, option)
	}
}
