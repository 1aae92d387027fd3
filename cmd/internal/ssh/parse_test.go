package ssh

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func TestCommandLinesOfProgramsThatCallSSH(t *testing.T) {
	for line, want := range map[string]struct {
		host    string
		set     string
		ask     pipe.Ask
		tty     int
		noInput bool
		sendEnv string
		ignored string
	}{
		"web1 uptime":             {host: "web1", ask: pipe.Ask{Line: "uptime"}},
		"web1 ls -l -- /":         {host: "web1", ask: pipe.Ask{Line: "ls -l -- /"}},
		"-- web1 -l":              {host: "web1", ask: pipe.Ask{Line: "-l"}},
		"web1 -p 22 -l x y":       {host: "web1", set: "Port=22 User=x", ask: pipe.Ask{Line: "y"}},
		"-tt -lroot web1":         {host: "web1", set: "User=root", tty: 2},
		"-T -n web1 true":         {host: "web1", tty: -1, noInput: true, ask: pipe.Ask{Line: "true"}},
		"-nTp2222 web1 x":         {host: "web1", set: "Port=2222", tty: -1, noInput: true, ask: pipe.Ask{Line: "x"}},
		"root@web1 id":            {host: "web1", set: "User=root", ask: pipe.Ask{Line: "id"}},
		"-l bob root@web1 id":     {host: "web1", set: "User=bob User=root", ask: pipe.Ask{Line: "id"}},
		"ssh://ada@web1:2222/ id": {host: "web1", set: "User=ada Port=2222", ask: pipe.Ask{Line: "id"}},
		"ssh://[::1]:22 id":       {host: "::1", set: "Port=22", ask: pipe.Ask{Line: "id"}},
		"-W 10.0.0.1:22 bastion":  {host: "bastion", ask: pipe.Ask{Host: "10.0.0.1", Port: 22}},
		"-W [::1]:22 bastion":     {host: "bastion", ask: pipe.Ask{Host: "::1", Port: 22}},
		"-lDOM\\user web1 id":     {host: "web1", set: `User="DOM\\user"`, ask: pipe.Ask{Line: "id"}},
		"ssh://a%40b@web1 id":     {host: "web1", set: "User=a@b", ask: pipe.Ask{Line: "id"}},
		// git
		"-o SendEnv=GIT_PROTOCOL git@web1 git-upload-pack '/x'": {
			host: "web1", set: "User=git", ask: pipe.Ask{Line: "git-upload-pack '/x'"}, sendEnv: "SendEnv=GIT_PROTOCOL",
		},
		// scp and sftp
		"-x -oPermitLocalCommand=no -oClearAllForwardings=yes -oRemoteCommand=none -oRequestTTY=no -oForwardAgent=no -l u -s -- web1 sftp": {
			host: "web1", set: "RemoteCommand=none User=u", tty: -1, ask: pipe.Ask{Subsystem: "sftp"}, ignored: "-x",
		},
		// Ansible
		"-C -o ControlMaster=auto -o ControlPersist=60s -o KbdInteractiveAuthentication=no -o PasswordAuthentication=no -o ConnectTimeout=10 -o ControlPath=/x -tt web1 /bin/sh": {
			host: "web1", set: "KbdInteractiveAuthentication=no PasswordAuthentication=no ConnectTimeout=10", tty: 2, ask: pipe.Ask{Line: "/bin/sh"},
			ignored: "-C -o ControlMaster -o ControlPersist -o ControlPath",
		},
		"-o SendEnv=LC_* -oStdinNull=yes web1 x":             {host: "web1", noInput: true, ask: pipe.Ask{Line: "x"}, sendEnv: "SendEnv=LC_*"},
		"-o RemoteCommand=top -t web1":                       {host: "web1", set: "RemoteCommand=none", tty: 1, ask: pipe.Ask{Line: "top"}},
		"-A -a web1 x":                                       {host: "web1", ask: pipe.Ask{Line: "x"}},
		"-o ForwardAgent=no -a -oForwardAgent=yes -A web1 x": {host: "web1", set: "ForwardAgent=yes", ask: pipe.Ask{Line: "x"}},
		"-o ForwardAgent=no -oForwardAgent=yes web1 x":       {host: "web1", ask: pipe.Ask{Line: "x"}},
		"-4 -6 web1 x":                                       {host: "web1", set: "AddressFamily=inet6", ask: pipe.Ask{Line: "x"}},
		"-o AddressFamily=inet6 -4 web1 x":                   {host: "web1", set: "AddressFamily=inet", ask: pipe.Ask{Line: "x"}},
		"-b ::1 -c aes128-ctr -b ::2 web1 x":                 {host: "web1", set: "Ciphers=aes128-ctr BindAddress=::2", ask: pipe.Ask{Line: "x"}},
		"-m hmac-sha1 -mhmac-sha2-256 -p 1 web1":             {host: "web1", set: "MACs=hmac-sha2-256 Port=1"},
		"-i /nowhere/key -i /dev/null web1 x":                {host: "web1", set: "IdentityFile=/dev/null", ask: pipe.Ask{Line: "x"}},
		"-N -W a:1 web1":                                     {host: "web1", ask: pipe.Ask{Host: "a", Port: 1}}, // which -W says anyhow
		"-o IgnoreUnknown=Shape,Colo* -o Colour=red web1 x": {
			host: "web1", set: "IgnoreUnknown=Shape,Colo*", ask: pipe.Ask{Line: "x"}, ignored: "-o Colour",
		},
		"-4 -A -J gate -c aes128-ctr web1 x": {
			host: "web1", set: "AddressFamily=inet ForwardAgent=yes ProxyJump=gate Ciphers=aes128-ctr", ask: pipe.Ask{Line: "x"},
		},
	} {
		t.Run(line, func(t *testing.T) {
			c, err := parse(strings.Split(line, " "))
			require.NoError(t, err)
			assert.Equal(t, want.host, c.host)
			assert.Equal(t, want.set, strings.Join(c.set.Set.Lines, " "))
			assert.Equal(t, want.tty, c.tty)
			assert.Equal(t, want.noInput, c.noInput)
			assert.Equal(t, want.ignored, strings.Join(c.ignored, " "))
			assert.Equal(t, want.sendEnv, strings.Join(c.sendEnv, " "))
			ask, err := c.ask()
			require.NoError(t, err)
			assert.Equal(t, want.ask, ask)
		})
	}
}

func TestCommandLinesThatAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		"-J a -J b web1": "-J may be given once", "-W a:1 -W b:2 web1": "-W may be given once",
		"":                                     "the destination is missing",
		"-p":                                   "-p needs a value",
		"-p x web1":                            "Port",
		"-1 web1":                              "protocol 1",
		"-N -L 1:a:2 web1 x":                   "-N runs no command",
		"-L 1:a web1":                          "is not [address:]port:host:port",
		"-L 1:a:0 web1":                        "is not [address:]port:host:port",
		"-L [::1:1:a:2 web1":                   "[ without ]",
		"-f web1":                              "-f needs a command, or -N",
		"-o ForkAfterAuthentication=true web1": "-f needs a command, or -N",
		"-R 1:a web1":                          "the port to listen on",
		"-D 1:a:2 web1":                        "is not [address:]port",
		"-D [::1:1 web1":                       "[ without ]",
		"-o LocalForward=1 web1":               "is not [address:]port:host:port",
		"-o PermitLocalCommand=yes x y":        "PermitLocalCommand: not supported",
		"-o ForwardX11=yes x y":                "ForwardX11: not supported",
		"-o PermitRemoteOpen=a:1 -R 1080 x y":  "PermitRemoteOpen: not supported",
		"-o RequestTTY=bogus x y":              `-o RequestTTY: "bogus" is not yes, no, true, false, force or auto`,
		"-o SessionType=bogus x y":             `"bogus" is not none, subsystem or default`,
		"-o GatewayPorts=clientspecified x y":  `"clientspecified" is not yes, no, true or false`,
		"-o StdinNull=2 x y":                   `-o StdinNull: "2" is not yes`,
		"-o ForkAfterAuthentication=2 x y":     `-o ForkAfterAuthentication: "2" is not yes`,
		"-o ClearAllForwardings=2 x y":         `-o ClearAllForwardings: "2" is not yes`,
		"-o Nonsense=1 x y":                    `"Nonsense" is not a directive`,
		"-e ab web1 x":                         "-e must be one printable character",
		"-o EscapeChar=ab web1 x":              "-o EscapeChar: must be one printable character",
		"-s web1":                              "-s needs the name of one subsystem",
		"-W a:1 web1 x":                        "-W runs no command",
		"-o RemoteCommand=x web1 y":            "RemoteCommand and a command exclude each other",
		"a@ x":                                 "is not a destination",
		"-l -oProxyCommand=x web1":             "user",
		"@web1 x":                              "user is missing",
	} {
		t.Run(line, func(t *testing.T) {
			c, err := parse(strings.Fields(line))
			if err == nil {
				err = c.configured(hostscmd.Program{})
			}
			assert.ErrorContains(t, err, want)
		})
	}
	c, err := parse([]string{"-W", "x", "web1"})
	require.NoError(t, err)
	_, err = c.ask()
	assert.ErrorContains(t, err, "is not host:port")
}

// What files say about the session counts where the command line says nothing.
func TestSessionsThatAreConfigured(t *testing.T) {
	tunnel := hostscmd.Program{Session: "none", SessionFrom: "config:3", NoInput: true, Background: true}
	for line, want := range map[string]call{
		"web1":                       {noCommand: true, background: true, noInput: true},
		"-N web1":                    {noCommand: true, background: true, noInput: true},
		"-W a:1 web1":                {forward: "a:1", background: true, noInput: true},
		"-s web1 sftp":               {subsystem: true, background: true, noInput: true},
		"-o SessionType=default x y": {background: true, noInput: true},
		"-o StdinNull=no -o ForkAfterAuthentication=no web1": {noCommand: true},
	} {
		c, err := parse(strings.Fields(line))
		require.NoError(t, err, line)
		require.NoError(t, c.configured(tunnel), line)
		assert.Equal(t, want, call{noCommand: c.noCommand, background: c.background, noInput: c.noInput, subsystem: c.subsystem, forward: c.forward}, line)
	}
	c, err := parse([]string{"web1", "uptime"})
	require.NoError(t, err)
	assert.ErrorContains(t, c.configured(tunnel), "config:3: SessionType none and a command exclude each other; -o SessionType=default runs the command")
	c, err = parse([]string{"-f", "web1"})
	require.NoError(t, err)
	require.NoError(t, c.configured(hostscmd.Program{Command: "uptime"}), "a command of the files is one")
	c, err = parse([]string{"web1", "sftp"})
	require.NoError(t, err)
	require.NoError(t, c.configured(hostscmd.Program{Session: "subsystem"}))
	assert.True(t, c.subsystem)
}

func TestForwardsOfTheCommandLine(t *testing.T) {
	for text, want := range map[string]hosts.Forward{
		"8080:db1:5432":              {Option: "-L", Bind: "localhost", Port: 8080, Host: "db1", To: 5432},
		"10.0.0.1:8080:db1:5432":     {Option: "-L", Bind: "10.0.0.1", Port: 8080, Host: "db1", To: 5432},
		"*:8080:db1:5432":            {Option: "-L", Port: 8080, Host: "db1", To: 5432},
		"[::1]:8080:[2001:db8::1]:1": {Option: "-L", Bind: "::1", Port: 8080, Host: "2001:db8::1", To: 1},
	} {
		c, err := parse([]string{"-N", "-L", text, "web1"})
		require.NoError(t, err, text)
		assert.Equal(t, []hosts.Forward{want}, c.forwards, text)
		assert.True(t, c.noCommand)
	}
	for text, want := range map[string]hosts.Forward{
		"1080":       {Option: "-D", Bind: "localhost", Port: 1080},
		"*:1080":     {Option: "-D", Port: 1080},
		"[::1]:1080": {Option: "-D", Bind: "::1", Port: 1080},
	} {
		c, err := parse([]string{"-ND", text, "web1"})
		require.NoError(t, err, text)
		assert.Equal(t, []hosts.Forward{want}, c.forwards, text)
	}
	for text, want := range map[string]hosts.Forward{
		"8080:db1:5432":    {Option: "-R", Bind: "localhost", Port: 8080, Host: "db1", To: 5432},
		"0:db1:5432":       {Option: "-R", Bind: "localhost", Host: "db1", To: 5432},
		"*:8080:[::1]:443": {Option: "-R", Port: 8080, Host: "::1", To: 443},
		"1080":             {Option: "-R", Bind: "localhost", Port: 1080},
		"http:db1:ssh":     {Option: "-R", Bind: "localhost", Port: 80, Host: "db1", To: 22},
	} {
		c, err := parse([]string{"-NR", text, "web1"})
		require.NoError(t, err, text)
		assert.Equal(t, []hosts.Forward{want}, c.forwards, text)
	}
	for text, want := range map[string]hosts.Forward{
		"LocalForward=8080 db1:5432":           {Option: "-L", Bind: "localhost", Port: 8080, Host: "db1", To: 5432},
		"RemoteForward 127.0.0.1:0 [::1]:5432": {Option: "-R", Bind: "127.0.0.1", Host: "::1", To: 5432},
		"DynamicForward=1080":                  {Option: "-D", Bind: "localhost", Port: 1080},
	} {
		c, err := parse([]string{"-N", "-o", text, "web1"})
		require.NoError(t, err, text)
		assert.Equal(t, []hosts.Forward{want}, c.forwards, text)
	}
	for _, on := range [][]string{{"-g"}, {"-o", "GatewayPorts=yes"}, {"-o", "GatewayPorts=yes", "-o", "GatewayPorts=no"}} {
		c, err := parse(append(on, "-L", "1:a:2", "-D", "3", "-L", "localhost:4:a:2", "-R", "5:a:2", "web1"))
		require.NoError(t, err)
		assert.True(t, c.gateway)
		var binds []string
		for _, f := range c.wide {
			binds = append(binds, f.Bind)
		}
		assert.Equal(t, []string{"", "", "localhost", "localhost"}, binds)
	}
	c, err := parse([]string{"-o", "GatewayPorts=no", "web1"})
	require.NoError(t, err)
	require.NoError(t, c.configured(hostscmd.Program{Gateway: true}))
	assert.False(t, c.gateway)
	c, err = parse([]string{"-o", "ClearAllForwardings=yes", "-L", "1:a:2", "web1", "true"})
	require.NoError(t, err)
	assert.Empty(t, c.forwards)
}

// OpenSSH compares the patterns of a Host line with the name as it was typed.
func TestANameStaysAsItWasTyped(t *testing.T) {
	c, err := parse([]string{"root@WEB1", "id"})
	require.NoError(t, err)
	assert.Equal(t, "WEB1", c.unlisted().Name)
}

// ssh would run it on this machine.
func TestALocalCommandThatMayRunIsNotLeftOutInSilence(t *testing.T) {
	both := hostscmd.Program{LocalFrom: "config:8", LocalOK: "config:7"}
	for _, tt := range []struct {
		options []string
		files   hostscmd.Program
		want    string
	}{
		{nil, both, "LocalCommand (config:8) is not supported and not run, though config:7 permits it"},
		{[]string{"-o", "LocalCommand=true"}, hostscmd.Program{LocalOK: "config:7"}, "LocalCommand (-o LocalCommand) is not supported"},
		{[]string{"-o", "PermitLocalCommand=no"}, both, ""},
		{[]string{"-o", "LocalCommand=none"}, both, ""},
		{nil, hostscmd.Program{LocalFrom: "config:8"}, ""},
		{[]string{"-o", "LocalCommand=true"}, hostscmd.Program{}, ""},
	} {
		c, err := parse(append(tt.options, "web1", "true"))
		require.NoError(t, err)
		require.NoError(t, c.configured(tt.files))
		if tt.want == "" {
			assert.Empty(t, c.warnings)
		} else if assert.Len(t, c.warnings, 1) {
			assert.Contains(t, c.warnings[0], tt.want)
		}
	}
}
