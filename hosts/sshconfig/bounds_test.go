package sshconfig_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestFilesHaveALimitOfSize(t *testing.T) {
	const most = 8 << 20
	h := newHome(t)
	text := "Port 5\n#"
	file := h.writeRaw("home/.ssh/config", text+strings.Repeat("x", most-len(text)))
	cfg, err := h.Load()
	require.NoError(t, err)
	s, err := cfg.Resolve("web", sshconfig.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 5, s.Port.V)
	h.writeRaw("home/.ssh/config", text+strings.Repeat("x", most-len(text)+1))
	_, err = h.Load()
	assert.EqualError(t, err, "sshconfig: "+file+": is larger than 8 MiB; this is not a configuration file")
}

func TestAtMostTwentyProblemsAreReported(t *testing.T) {
	for _, n := range []int{19, 20, 21, 1000} {
		_, err := newHome(t).resolve(strings.Repeat("Port x\n", n), "web")
		require.Error(t, err)
		assert.Equal(t, min(n, 20), strings.Count(err.Error(), "sshconfig: "))
	}
}

func TestListsHaveOpenSSHsLimits(t *testing.T) {
	files := func(keyword string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s /k%d\n", keyword, i)
		}
		return b.String()
	}
	for _, keyword := range []string{"IdentityFile", "CertificateFile"} {
		s := must(t, files(keyword, 100)+keyword+" /k5\n", "web")
		assert.Len(t, append(s.CertificateFiles, s.IdentityFiles...)[:100], 100)
		_, err := newHome(t).resolve(files(keyword, 101), "web")
		assert.ErrorContains(t, err, "config:101: "+keyword+": more than 100 files")
		_, err = newHome(t).resolve("Host db\n"+files(keyword, 101), "web")
		assert.NoError(t, err, "they are for another host")
	}
	words := strings.Repeat(" /kh", 32)
	for _, keyword := range []string{"UserKnownHostsFile", "GlobalKnownHostsFile"} {
		s := must(t, keyword+words, "web")
		assert.Equal(t, 32, max(len(s.UserKnownHostsFiles), len(s.GlobalKnownHostsFiles)))
		_, err := newHome(t).resolve(keyword+words+" /x", "web")
		assert.ErrorContains(t, err, "config:1: "+keyword+": more than 32 files")
	}
}

// What is broken is refused also where it is for another host.
func TestBrokenValuesAreRefusedWhereverTheyStand(t *testing.T) {
	for line, want := range map[string]string{
		"IdentityAgent $a-b":             `IdentityAgent: "$a-b" is not the name of an environment variable`,
		"IdentityAgent ${NOPE}/x":        "IdentityAgent: the environment variable NOPE is not set",
		"IdentityAgent ${}":              "IdentityAgent: ${ without a name and a closing brace",
		"IdentityAgent ${KEYS":           "IdentityAgent: ${ without a name and a closing brace",
		"IdentityFile a b":               "IdentityFile: there is more than one value",
		"IdentityFile \"\"":              "IdentityFile: the value is missing",
		"UserKnownHostsFile #":           "UserKnownHostsFile: the value is missing",
		"UserKnownHostsFile a \"\"":      "UserKnownHostsFile: the value is missing",
		"UserKnownHostsFile a none":      "UserKnownHostsFile: none must be the only value",
		"SetEnv #":                       "SetEnv: the value is missing",
		"SetEnv A=1 =x":                  "SetEnv: expected NAME=VALUE",
		"SetEnv A=1 B":                   "SetEnv: expected NAME=VALUE",
		"RekeyLimit #":                   "RekeyLimit: the value is missing",
		"RekeyLimit \"\"":                "RekeyLimit: the value is missing",
		"RekeyLimit 1G 1h 1h":            "RekeyLimit: there is more than one value",
		"RekeyLimit x":                   `RekeyLimit: "x" is not a number of bytes such as 500M, or default`,
		"RekeyLimit K":                   `RekeyLimit: "K" is not a number of bytes such as 500M, or default`,
		"RekeyLimit 15":                  `RekeyLimit: "15" is too small`,
		"RekeyLimit 1G x":                `RekeyLimit: "x" is not a time such as 30, 1m or 1h30m`,
		"Port #":                         "Port: the value is missing",
		"Port 1 2":                       "Port: there is more than one value",
		"Port 65536":                     `Port: "65536" is not a port (1 to 65535)`,
		"Port -1":                        `Port: "-1" is not a port (1 to 65535)`,
		"Port \"\"":                      "Port: the value is missing",
		"ServerAliveCountMax 2147483648": `ServerAliveCountMax: "2147483648" is not a number from 0 to 2147483647`,
		"ServerAliveCountMax -1":         `ServerAliveCountMax: "-1" is not a number from 0 to 2147483647`,
		"ConnectTimeout 1h 2":            "ConnectTimeout: there is more than one value",
		"ConnectTimeout +":               `ConnectTimeout: "+" is not a time such as 30, 1m or 1h30m`,
		"ConnectTimeout 1y":              `ConnectTimeout: "1y" is not a time such as 30, 1m or 1h30m`,
		"ConnectTimeout 2147483647s1":    `ConnectTimeout: "2147483647s1" is not a time such as 30, 1m or 1h30m`,
		"IgnoreUnknown a b":              "IgnoreUnknown: there is more than one value",
		"StrictHostKeyChecking x":        `StrictHostKeyChecking: "x" is not yes, no, ask or accept-new`,
		"PubkeyAuthentication x":         `PubkeyAuthentication: "x" is not yes or no`,
		"ProxyJump a,":                   `ProxyJump: hop "": host name "": refused name: it is empty`,
		"ProxyJump [a":                   `ProxyJump: hop "[a": the bracket is not closed`,
		"ProxyJump [a]x":                 `ProxyJump: hop "[a]x": only a port may follow the bracket`,
		"ProxyJump [a]22":                `ProxyJump: hop "[a]22": only a port may follow the bracket`,
		"ProxyJump [a]:x":                `ProxyJump: hop "[a]:x": "x" is not a port (1 to 65535)`,
		"ProxyJump a:b:c":                `ProxyJump: hop "a:b:c": an IPv6 address needs brackets`,
		"ProxyJump a/b":                  `ProxyJump: hop "a/b": a path is not allowed`,
		"ProxyJump ssh://a/b":            `ProxyJump: hop "ssh://a/b": a path is not allowed`,
		"ProxyJump ssh://u;x@a":          `ProxyJump: hop "ssh://u;x@a": the user part of this address is not supported`,
		"ProxyJump ssh://%zz@a":          `ProxyJump: hop "ssh://%zz@a": the user part of this address is not supported`,
		"ProxyJump -u@a":                 `ProxyJump: hop "-u@a": user name "-u": refused name: it starts with a dash and would be read as an option`,
		"ProxyJump @a":                   `ProxyJump: hop "@a": user name "": refused name: it is empty`,
		"ProxyJump None,a":               `ProxyJump: hop "None": none must be the only value`,
	} {
		for n, text := range []string{line, "Host db\n" + line} {
			h := newHome(t)
			_, err := h.resolve(text, "web")
			assert.EqualError(t, err, fmt.Sprintf("sshconfig: %s/.ssh/config:%d: %s", h.Home, n+1, want), text)
		}
	}
}

func TestTheFirstAndTheLastValueThatIsTaken(t *testing.T) {
	s := must(t, "Port 65535\nServerAliveCountMax 2147483647\nConnectTimeout 2147483647\nRekeyLimit 16\nConnectionAttempts 1\n", "web")
	assert.EqualValues(t, 65535, s.Port.V)
	assert.Equal(t, 2147483647, s.ServerAliveCountMax.V)
	assert.Equal(t, 2147483647*time.Second, s.ConnectTimeout.V)
	assert.EqualValues(t, 16, s.RekeyLimit.V)
	s = must(t, "Port 1\nServerAliveInterval 1w2d3h4m5s\nRekeyLimit 4294967295G\n", "web")
	assert.EqualValues(t, 1, s.Port.V)
	assert.Equal(t, ((9*24+3)*60+4)*time.Minute+5*time.Second, s.ServerAliveInterval.V)
	assert.Equal(t, uint64(4294967295)<<30, s.RekeyLimit.V)
	for text, want := range map[string]uint64{"default": 0, "0": 0, "16": 16, "1k": 1 << 10, "3M": 3 << 20, "2g": 2 << 30} {
		assert.Equal(t, want, must(t, "RekeyLimit "+text, "web").RekeyLimit.V, text)
	}
	for text, want := range map[string]string{"$A_b9": "", "$KEYS": "/keys", "$_": "", "${KEYS}/%r%%": "/keys/alice%", "/a$b": "/a$b"} {
		assert.Equal(t, want, must(t, "IdentityAgent "+text, "web").IdentityAgent.V, text)
	}
}

func TestTheFirstLineOfVariablesCounts(t *testing.T) {
	s := must(t, "Host db\nSetEnv X=1\nHost *\nSetEnv A=1 AB=2 A=3 B=\nSetEnv C=1\n", "web")
	assert.Equal(t, []string{"A=1", "AB=2", "B="}, paths(s.SetEnv))
	assert.Equal(t, 4, s.SetEnv[0].From.Line)
	s = must(t, "RekeyLimit 1G 1h\nRekeyLimit 2G 2h\n", "web")
	assert.EqualValues(t, 1<<30, s.RekeyLimit.V)
	require.Len(t, s.Skipped, 1)
	assert.Equal(t, sshconfig.Directive{Keyword: "RekeyLimit", Value: "after 1h", From: hosts.Pos{File: s.RekeyLimit.From.File, Line: 1}}, s.Skipped[0])
	assert.Empty(t, must(t, "RekeyLimit 1G none\n", "web").Skipped)
	assert.Empty(t, must(t, "Host db\nRekeyLimit 1G 1h\n", "web").Skipped)
}

func TestWhoAsksIsNotLookedUpWhereAllIsGiven(t *testing.T) {
	h := newHome(t)
	cfg, err := h.Open(sshconfig.None)
	require.NoError(t, err)
	s, err := cfg.Resolve("web", sshconfig.Options{Tag: "t", User: "eve"})
	require.NoError(t, err)
	assert.Equal(t, "t", s.Tag.V)
	assert.Equal(t, sshconfig.Given, s.Tag.Source())
	h.Loader.User = ""
	cfg, err = h.Open(h.writeRaw("c", "IdentityFile %d/%i-%l-%L\n"))
	require.NoError(t, err)
	s, err = cfg.Resolve("web", sshconfig.Options{User: "eve"})
	require.NoError(t, err)
	assert.Equal(t, h.Home+"/1000-desk.example.org-desk", s.IdentityFiles[0].V, "what is given stays")

	h.Loader.Hostname, h.Loader.LookupEnv = "", nil
	name, err := os.Hostname()
	require.NoError(t, err)
	t.Setenv("FAIRLEAD_TEST_KEYS", "/from/the/environment")
	cfg, err = h.Open(h.writeRaw("c", "IdentityFile ${FAIRLEAD_TEST_KEYS}/%l\n"))
	require.NoError(t, err)
	s, err = cfg.Resolve("web", sshconfig.Options{User: "eve"})
	require.NoError(t, err)
	assert.Equal(t, "/from/the/environment/"+name, s.IdentityFiles[0].V)
}

func TestHiddenFilesAreFoundOnlyByName(t *testing.T) {
	h := newHome(t)
	h.write("home/.ssh/.d/.a.conf", "Port 5\n")
	h.write("home/.ssh/.d/b.conf", "User bob\n")
	for pattern, want := range map[string]string{
		".d/*": "22 bob", ".d/.*": "5 alice", ".d/?a.conf": "22 alice", ".d/[.]a.conf": "22 alice", "*/b.conf": "22 alice", ".?/b.conf": "22 bob",
		".d//b.conf": "22 bob", ".d/../.d/.a.conf": "5 alice", h.Home + "/.ssh/*d/b.conf": "22 alice",
	} {
		s, err := h.resolve("Include "+pattern, "web")
		require.NoError(t, err, pattern)
		assert.Equal(t, want, fmt.Sprint(s.Port.V, " ", s.User.V), pattern)
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	h := newHome(t)
	circle := filepath.Join(h.dir, "circle")
	require.NoError(t, os.Symlink(circle, circle))
	for _, load := range []func() error{
		func() error { _, err := h.Load(circle); return err },
		func() error { _, err := h.Load(sshconfig.None, circle); return err },
		func() error { _, err := h.Open(circle); return err },
	} {
		err := load()
		assert.EqualError(t, err, "sshconfig: "+circle+": cannot be read: too many levels of symbolic links")
	}
	_, err := h.Load(filepath.Join(h.write("f", ""), "below-a-file"), "", sshconfig.None)
	assert.NoError(t, err)
}
