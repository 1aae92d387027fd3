package sshconfig_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

func TestOptionsAreObeyedWithoutEffectOrRefused(t *testing.T) {
	for text, want := range map[string]struct {
		effect  sshconfig.Effect
		keyword string
		err     string
	}{
		"Port=22":                    {sshconfig.Obeyed, "port", ""},
		"port 22":                    {sshconfig.Obeyed, "port", ""},
		"PORT = 22":                  {sshconfig.Obeyed, "port", ""},
		"ForwardAgent=yes":           {sshconfig.Obeyed, "forwardagent", ""},
		"ForwardAgent=no":            {sshconfig.Anyway, "forwardagent", ""},
		"ForwardAgent=~/a.sock":      {sshconfig.Obeyed, "forwardagent", ""},
		"ForwardAgent=$SOCK":         {sshconfig.Obeyed, "forwardagent", ""},
		"ForwardAgent=${HOME}/a":     {sshconfig.Obeyed, "forwardagent", ""},
		"ForwardAgent=$a-b":          {err: "not the name of an environment variable"},
		"Compression=no":             {sshconfig.Anyway, "compression", ""},
		"Compression=yes":            {sshconfig.NoEffect, "compression", ""},
		"LogLevel=ERROR":             {sshconfig.NoEffect, "loglevel", ""},
		"ControlPath=none":           {sshconfig.Obeyed, "controlpath", ""},
		"PKCS11Provider=/lib/x.so":   {sshconfig.Refused, "pkcs11provider", ""},
		"CanonicalizeHostname=yes":   {sshconfig.Obeyed, "canonicalizehostname", ""},
		"ProxyUseFdpass=yes":         {sshconfig.Refused, "proxyusefdpass", ""},
		"ProxyCommand=nc %h %p # x":  {sshconfig.Obeyed, "proxycommand", ""},
		"IgnoreUnknown=Colour":       {sshconfig.Obeyed, "ignoreunknown", ""},
		"RemoteCommand=none":         {sshconfig.Obeyed, "remotecommand", ""},
		"Colour=red":                 {err: `"Colour" is not a directive of ssh`},
		"Port":                       {err: "Port has no value"},
		"Port=x":                     {err: "Port: "},
		"Port=22 23":                 {err: "Port: there is more than one value"},
		"":                           {err: "an option is Keyword=value"},
		"# Port=22":                  {err: "an option is Keyword=value"},
		"Host=web1":                  {err: "Host is for files"},
		"Match all":                  {err: "Match is for files"},
		"Include=/etc/passwd":        {err: "Include is for files"},
		"Port=22\nProxyCommand=true": {err: "an option is one line of text"},
		"User=a b":                   {err: "User: there is more than one value"},
		"User=-oProxyCommand":        {err: "user"},
		`HostName="web1`:             {err: "is not closed"},
	} {
		t.Run(text, func(t *testing.T) {
			o, err := sshconfig.ParseOption(text)
			if want.err != "" {
				require.ErrorContains(t, err, want.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want.effect, o.Effect)
			assert.Equal(t, want.keyword, o.Keyword)
			assert.Equal(t, want.effect == sshconfig.Refused, o.Why != "")
		})
	}
}

func TestAnOptionKeepsAFileFromRefusingTheHost(t *testing.T) {
	h := newHome(t)
	cfg, err := h.Open(h.writeRaw("home/.ssh/config", "RemoteCommand tmux\nProxyUseFdpass yes\n"))
	require.NoError(t, err)
	_, err = cfg.Resolve("web1", sshconfig.Options{Lines: []string{"RemoteCommand=none"}})
	assert.ErrorContains(t, err, "ProxyUseFdpass yes: not supported")
	_, err = cfg.Resolve("web1", sshconfig.Options{Lines: []string{"RemoteCommand=none", "ProxyUseFdpass=no"}})
	assert.NoError(t, err)
}

func TestOptionsGoBeforeFilesAndTheFirstCounts(t *testing.T) {
	h := newHome(t)
	cfg, err := h.Open(h.writeRaw("home/.ssh/config", "User filed\nHost *\nPort 1\nIdentityFile filed\nConnectTimeout 1\nProxyJump gate\nForwardAgent yes\nMatch user typed\nHostName matched\n"))
	require.NoError(t, err)
	s, err := cfg.Resolve("web1", sshconfig.Options{User: "listed", Port: 2, Lines: []string{
		"User=typed", "User=again", "Port 3", "IdentityFile=one", "IdentityFile=two", "ConnectTimeout=9", "ProxyJump=none",
	}})
	require.NoError(t, err)
	assert.Equal(t, "typed", s.User.V)
	assert.True(t, s.User.OnCommandLine())
	assert.Equal(t, "command line:1", s.User.Source())
	assert.Equal(t, uint16(3), s.Port.V)
	assert.Equal(t, 9*time.Second, s.ConnectTimeout.V)
	assert.Empty(t, s.ProxyJump.V)
	assert.True(t, s.ProxyJump.OnCommandLine())
	assert.Equal(t, "matched", s.HostName.V, "blocks see what was typed")
	assert.False(t, s.ForwardAgent.V, "a file lends no agent")
	require.Len(t, s.IdentityFiles, 3)
	assert.Equal(t, "one", s.IdentityFiles[0].Raw)

	s, err = cfg.Resolve("web1", sshconfig.Options{User: "listed", Port: 2})
	require.NoError(t, err)
	assert.Equal(t, "listed", s.User.V)
	assert.False(t, s.User.OnCommandLine())
	_, err = cfg.Resolve("web1", sshconfig.Options{Lines: []string{"Port=22", "Colour=red"}})
	assert.ErrorContains(t, err, `command line:2: "Colour" is not a directive`)
}

func TestAnUnknownOptionThatIgnoreUnknownNamesIsSkipped(t *testing.T) {
	o, err := sshconfig.ParseOption("Colour=red")
	require.Error(t, err)
	assert.True(t, o.IgnoredBy([]string{"Port=1", "IgnoreUnknown=Shape,colo*"}))
	assert.False(t, o.IgnoredBy([]string{"IgnoreUnknown=Shape", "IgnoreUnknown=Colour"}), "the first counts")
	assert.False(t, o.IgnoredBy(nil))
	o, err = sshconfig.ParseOption("Port=x")
	require.Error(t, err)
	assert.False(t, o.IgnoredBy([]string{"IgnoreUnknown=*"}), "it is known")
}
