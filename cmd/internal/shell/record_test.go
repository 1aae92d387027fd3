package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

func TestTheRecordSaysWhoWhereHowLongAndWhatWasRecorded(t *testing.T) {
	s, host := server(t, sshserver.Config{})
	p := newPlace(t, host)
	c := open(t, p.command(t, "shell", "server"))
	c.atShell()
	c.enter("exit 7")
	assert.Equal(t, 7, c.exit())

	events := p.events(t)
	var kinds []audit.Kind
	for _, e := range events {
		kinds = append(kinds, e.Kind)
		assert.Equal(t, events[0].ID, e.ID)
		assert.Equal(t, events[0].Session, e.Session)
		assert.Equal(t, cmdutil.Principal(), e.Principal)
		assert.Equal(t, "server", e.Host)
		assert.Equal(t, s.Addr(), e.Address)
		assert.Equal(t, "tester", e.SSHUser)
		assert.True(t, strings.HasPrefix(e.Key, "SHA256:"), e.Key)
		assert.True(t, strings.HasPrefix(e.HostKey, "SHA256:"), e.HostKey)
		require.NotNil(t, e.UID)
		assert.Equal(t, os.Getuid(), *e.UID)
	}
	require.Equal(t, []audit.Kind{audit.SessionOpen, audit.CommandRequest, audit.CommandResult, audit.SessionClose}, kinds)
	open, request, result, closed := events[0], events[1], events[2], events[3]

	path := p.recording(t)
	hash, size := sum(t, path)
	assert.Equal(t, "recording: "+filepath.Base(path), open.Command)
	assert.Contains(t, request.Command, `exec "${SHELL:-/bin/sh}" -l`)
	assert.Equal(t, "allow", request.Verdict)
	assert.Equal(t, "unknown", request.Class, "nobody can tell what will be typed")
	assert.NotEmpty(t, request.CommandHMAC)
	assert.Equal(t, "exit", result.Status)
	require.NotNil(t, result.ExitCode)
	assert.Equal(t, 7, *result.ExitCode)
	assert.Positive(t, result.DurationMS)
	assert.Positive(t, result.StdinBytes)
	assert.Positive(t, result.StdoutBytes)
	assert.Equal(t, open.Command, closed.Command)
	assert.Equal(t, hash, closed.StdoutSHA256)
	assert.Equal(t, size, closed.StdoutBytes)
	assert.Contains(t, path, open.ID)
}

func TestWhatIsTypedIsRecordedOnlyWhenAskedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want bool
		how  string
	}{
		"by default": {nil, false, "recording: "},
		"asked for":  {[]string{"--record-input"}, true, "recording, what is typed included: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, here)
			c := open(t, p.command(t, append([]string{"shell", "here"}, tt.args...)...))
			c.atShell()
			c.enter(`stty -echo; echo pass""word:; read x; stty echo; echo "got ${#x}"`)
			c.see("password:")
			c.enter("s3cr3t-of-mine")
			c.see("got 14")
			c.enter("exit")
			assert.Zero(t, c.exit())
			data, err := os.ReadFile(p.recording(t))
			require.NoError(t, err)
			assert.Contains(t, string(data), "got 14")
			assert.Equal(t, tt.want, strings.Contains(string(data), "s3cr3t-of-mine"))
			assert.True(t, strings.HasPrefix(p.events(t)[0].Command, tt.how), p.events(t)[0].Command)
		})
	}
}

func TestWithoutARecordingTheRecordSaysSo(t *testing.T) {
	p := newPlace(t, here)
	c := open(t, p.command(t, "shell", "--no-record", "here"))
	c.atShell()
	c.enter("exit")
	assert.Zero(t, c.exit())
	assert.NotContains(t, c.output(), "recorded in")
	assert.NoDirExists(t, p.recordings())
	events := p.events(t)
	assert.Equal(t, "not recorded: --no-record", events[0].Command)
	assert.Equal(t, events[0].Command, events[len(events)-1].Command)
}

func TestARecordingThatCannotBeMadeIsToldAndTheTerminalWorks(t *testing.T) {
	p := newPlace(t, here)
	require.NoError(t, os.MkdirAll(filepath.Dir(p.recordings()), 0o700))
	require.NoError(t, os.WriteFile(p.recordings(), nil, 0o600)) // in the directory's place
	c := open(t, p.command(t, "shell", "here"))
	c.atShell()
	c.enter("exit 5")
	assert.Equal(t, 5, c.exit())
	assert.Equal(t, 1, strings.Count(c.output(), "fairlead: this terminal is not recorded: "))
	assert.Equal(t, "not recorded: not a directory", p.events(t)[0].Command)
}

func TestNothingIsSentWhenItCannotBeRecorded(t *testing.T) {
	p := newPlace(t, here)
	require.NoError(t, os.MkdirAll(filepath.Dir(p.audit()), 0o700))
	require.NoError(t, os.WriteFile(p.audit(), nil, 0o600))
	c := open(t, p.command(t, "shell", "here"))
	assert.Equal(t, 6, c.exit())
	c.see("fairlead: ")
	assert.NoDirExists(t, p.recordings())
}

func TestAnAgentGetsNoTerminalUnlessAPolicySaysSo(t *testing.T) {
	p := newPlace(t, here)
	agent := func(args ...string) *console {
		cmd := p.command(t, append([]string{"shell"}, args...)...)
		cmd.Env = append(cmd.Env, "CLAUDECODE=1", "XDG_CONFIG_HOME="+p.dir)
		return open(t, cmd)
	}
	c := agent("here")
	assert.Equal(t, 5, c.exit())
	c.printed("fairlead: here: denied: ")
	events := p.events(t)
	require.Len(t, events, 2)
	assert.Equal(t, audit.CommandRequest, events[0].Kind)
	assert.Equal(t, "agent/claude-code", events[0].Principal)
	assert.Equal(t, "ask", events[0].Verdict)
	assert.NoDirExists(t, p.recordings())

	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "fairlead", "policy.yaml"), []byte(`version: 1
rules:
  - {name: free, hosts: "tier=dev", principals: ["role=agent"], classes: [unknown], verdict: allow}
`), 0o600))
	c = agent("here")
	c.atShell()
	c.enter("exit")
	assert.Zero(t, c.exit())

	c = agent("--no-record", "here")
	assert.Equal(t, 2, c.exit())
	c.printed("fairlead: --no-record is for operators, and the caller is agent/claude-code")
}

func TestATerminalIsJudgedByThePolicyFileThatIsNamed(t *testing.T) {
	p := newPlace(t, here)
	file := filepath.Join(p.dir, "denies.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`version: 1
rules:
  - {name: no-shells, hosts: all, principals: ["*"], classes: [unknown], verdict: deny}
`), 0o600))
	c := open(t, p.command(t, "shell", "--policy", file, "here"))
	assert.Equal(t, 5, c.exit())
	c.printed("denied: ")
}
