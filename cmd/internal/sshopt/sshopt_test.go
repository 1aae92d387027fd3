package sshopt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func parse(args ...string) (sshopt.Set, error) {
	var f sshopt.Flags
	fl := pflag.NewFlagSet("x", pflag.ContinueOnError)
	f.Add(fl)
	err := fl.Parse(args)
	return f.Set, err
}

func TestFlagsKeepTheirOrder(t *testing.T) {
	s, err := parse("-p", "1", "-o", "Port=2", "-l", "ada", "-J", "gate,inner", "-A", "-o", "ServerAliveInterval 5")
	require.NoError(t, err)
	assert.Equal(t, []string{"Port=1", "Port=2", "User=ada", "ProxyJump=gate,inner", "ForwardAgent=yes", "ServerAliveInterval=5"}, s.Lines)
	back, err := sshopt.Parse(s.String())
	require.NoError(t, err)
	assert.Equal(t, s, back)
	assert.Empty(t, sshopt.Set{}.String())
	assert.True(t, sshopt.Set{}.Empty())
	assert.Equal(t, "Port, Port, User, ProxyJump, ForwardAgent, ServerAliveInterval", s.Names())
}

func TestUnknownOptionsMayBeIgnored(t *testing.T) {
	s, err := parse("-o", "IgnoreUnknown=Colour", "-o", "Colour=red", "-p", "1")
	require.NoError(t, err)
	assert.Equal(t, []string{"IgnoreUnknown=Colour", "Port=1"}, s.Lines)
	_, err = parse("-o", "Colour=red", "-o", "IgnoreUnknown=Colour")
	assert.ErrorContains(t, err, `"Colour" is not a directive`)
}

func TestFilesAreNamedFromTheRoot(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("conf", nil, 0o600))
	_, err = parse("-F", "conf", "-o", "IdentityFile=a key", "-o", `UserKnownHostsFile="x y" z ~/k /dev/null %d/f`)
	require.Error(t, err, "a name with a blank is two names, as with ssh")
	s, err := parse("-F", "conf", "-o", `IdentityFile="a key"`, "-o", `UserKnownHostsFile="x y" z ~/k /dev/null %d/f`, "-o", "IdentityAgent=SSH_AUTH_SOCK")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "conf"), s.File)
	assert.Equal(t, []string{
		`IdentityFile="` + dir + `/a key"`, `UserKnownHostsFile="` + dir + `/x y" ` + dir + `/z ~/k /dev/null %d/f`, "IdentityAgent=SSH_AUTH_SOCK",
	}, s.Lines)
	for _, none := range []string{"none", "None"} {
		s, err = parse("-F", none)
		require.NoError(t, err)
		assert.Equal(t, "none", s.File)
	}
	_, err = parse("-F", "conf", "-F", "none")
	assert.ErrorContains(t, err, "there can be only one")
	_, err = parse("-F", "")
	assert.ErrorContains(t, err, "a file is missing")
}

func TestEveryOptionThatNamesAFileNamesItFromTheRoot(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "100%")
	require.NoError(t, os.Mkdir(odd, 0o700))
	t.Chdir(odd)
	t.Setenv("KEYS", "/keys/50%")
	t.Setenv("AGENT_SOCK", "/agents/1%")
	t.Setenv("UNDER", "sub")
	dir, err := os.Getwd()
	require.NoError(t, err)
	expanded := strings.ReplaceAll(dir, "%", "%%")
	for given, want := range map[string]string{
		"RevokedHostKeys=krl":           expanded + "/krl",
		"RevokedHostKeys=../krl":        filepath.Dir(expanded) + "/krl",
		"RevokedHostKeys=none":          "none",
		"ControlPath=sock-%C":           expanded + "/sock-%C",
		"ControlPath=None":              "None",
		"IdentityFile=%r.pem":           expanded + "/%r.pem",
		"IdentityFile=%d/k":             "%d/k",
		"IdentityFile=${KEYS}/k":        "/keys/50%%/k", // where it is looked for there may be no such variable
		"IdentityFile=${UNDER}/%h":      expanded + "/sub/%h",
		"IdentityFile=~root/k":          "~root/k",
		"IdentityFile=NONE":             "NONE",
		"IdentityFile2=k":               expanded + "/k",
		"CertificateFile=k-cert.pub":    expanded + "/k-cert.pub",
		"UserKnownHostsFile=known":      expanded + "/known",
		"GlobalKnownHostsFile=%h":       dir + "/%h", // in which ssh expands nothing
		"GlobalKnownHostsFile=~/x":      dir + "/~/x",
		"IdentityAgent=agent.sock":      expanded + "/agent.sock",
		"IdentityAgent=$AGENT_SOCK":     "/agents/1%%",
		"IdentityAgent=$NONE_SUCH":      "none",
		"IdentityAgent=SSH_AUTH_SOCK":   "SSH_AUTH_SOCK",
		"IdentityAgent=${AGENT_SOCK}.2": "/agents/1%%.2",
	} {
		s, err := parse("-o", given)
		require.NoError(t, err, given)
		name, _, _ := strings.Cut(given, "=")
		assert.Equal(t, []string{name + "=" + want}, s.Lines)
	}
}

func TestWhatIsNotObeyedIsRefusedByName(t *testing.T) {
	for _, args := range [][]string{
		{"-o", "Compression=yes"}, {"-o", "Colour=red"}, {"-o", "ProxyUseFdpass=yes"}, {"-o", "Port"}, {"-p", "x"}, {"-p", "0"},
		{"-l", ""}, {"-l", "a b"}, {"-J", " "}, {"-J", "a b"}, {"-F", "/does/not/exist"}, {"-A=maybe"}, {"-o", "Host=x"},
	} {
		s, err := parse(args...)
		require.Error(t, err, "%s", args)
		if strings.Contains(args[1%len(args)], "=") && args[0] == "-o" {
			name, _, _ := strings.Cut(args[1], "=")
			assert.ErrorContains(t, err, name)
		}
		assert.Empty(t, s.Lines)
	}
}

func TestASetChangesAHost(t *testing.T) {
	listed := hosts.Host{Name: "web1", User: "deploy", Port: 22, Source: hosts.Pos{File: "i.yaml", Line: 1}}
	s, err := parse("-l", "ada", "-p", "2222", "-o", "HostName=%h.example.com", "-o", "ConnectTimeout=7", "-F", "none")
	require.NoError(t, err)
	h, err := s.Apply(listed)
	require.NoError(t, err)
	want := listed
	want.User, want.Port, want.Addr, want.ConnectTimeout, want.SSHConfig, want.SSHOptions = "ada", 2222, "web1.example.com", 7*time.Second, "none", s.Lines
	assert.Equal(t, want, h)
	same, err := sshopt.Set{}.Apply(listed)
	require.NoError(t, err)
	assert.Equal(t, listed, same)

	_, err = s.Apply(hosts.Host{Name: "web1", User: "root"})
	assert.EqualError(t, err, "web1 is to be reached as root and as ada: leave one out")
	_, err = s.Apply(hosts.Host{Name: "web1", User: "ada", Port: 1})
	assert.EqualError(t, err, "web1 is to be reached on port 1 and on 2222: leave one out")
	_, err = s.Apply(hosts.Host{Name: "here", Transport: hosts.Local})
	assert.EqualError(t, err, "here: options of ssh are of no use there, because it is reached by local: leave them or this host out")
	h, err = s.Apply(hosts.Host{Name: "web1", User: "ada", Port: 2222})
	require.NoError(t, err)
	assert.Equal(t, uint16(2222), h.Port)
}

// With a HostName of its own a host may be reached through its own server, as with ssh. Which address a name has is in the files.
func TestANameMayBeItsOwnJumpHost(t *testing.T) {
	for _, name := range []string{"web1", "host"} {
		s, err := parse("-J", name)
		require.NoError(t, err)
		h, err := s.Apply(hosts.Host{Name: name, Source: hosts.Pos{File: "config", Line: 1}})
		require.NoError(t, err)
		assert.Equal(t, []string{"ProxyJump=" + name}, h.SSHOptions)
	}
}

func TestOnlyOperatorsSayWhereAndAsWhom(t *testing.T) {
	for _, who := range []string{"agent/a", "program/x", "nonsense", ""} {
		for _, line := range []string{"User=x", "Port=1", "HostName=x", "ProxyCommand=x", "IdentityFile=/x", "ForwardAgent=yes", "ProxyJump=x", "SetEnv=A=b"} {
			if hosts.RoleOf(who) != hosts.RoleOperator {
				assert.Error(t, sshopt.Set{Lines: []string{line}}.MayNot(who), "%s %s", who, line)
			}
		}
		assert.NoError(t, sshopt.Set{Lines: []string{"ConnectTimeout=3"}}.MayNot(who))
	}
	assert.NoError(t, sshopt.Set{File: "/x", Lines: []string{"ProxyCommand=x"}}.MayNot("operator/ada"))
}

func TestValuesOfVariablesAreNotShown(t *testing.T) {
	h := hosts.Host{SSHOptions: []string{"SetEnv=TOKEN=secret", "setenv=A=b", "Port=1"}}
	assert.Equal(t, "SetEnv=…; setenv=…; Port=1", h.ShownOptions())
	assert.Empty(t, hosts.Host{}.ShownOptions())
}
