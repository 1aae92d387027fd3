package shell_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/shell"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

func TestShellParsesItsCommandLine(t *testing.T) {
	for name, tt := range map[string]struct {
		args    []string
		want    shell.Options
		wantErr string
	}{
		"plain":                {args: []string{"web1"}, want: shell.Options{Target: "web1", Escape: '~'}},
		"a host outside":       {args: []string{"root@web1"}, want: shell.Options{Target: "root@web1", Escape: '~'}},
		"no record":            {args: []string{"web1", "--no-record"}, want: shell.Options{Target: "web1", NoRecord: true, Escape: '~'}},
		"record what is typed": {args: []string{"--record-input", "web1"}, want: shell.Options{Target: "web1", RecordInput: true, Escape: '~'}},
		"no escape":            {args: []string{"web1", "-e", "none"}, want: shell.Options{Target: "web1"}},
		"patience":             {args: []string{"web1", "--connect-timeout", "3s"}, want: shell.Options{Target: "web1", Escape: '~', ConnectTimeout: 3 * time.Second}},
		"nothing":              {wantErr: "shell needs a HOST: fairlead shell HOST"},
		"a command":            {args: []string{"web1", "--", "ls", "-l"}, wantErr: "shell takes one HOST and no command: fairlead run web1 -- ls -l"},
		"two hosts":            {args: []string{"web1", "web2"}, wantErr: "shell takes one HOST and no command: fairlead run web1 -- web2"},
		"both":                 {args: []string{"web1", "--no-record", "--record-input"}, wantErr: "--no-record and --record-input exclude each other"},
		"a long escape":        {args: []string{"web1", "-e", "ab"}, wantErr: `invalid argument "ab" for "-e, --escape" flag: must be one printable character other than . and ?, a control character (^A), or none`},
		"too much patience":    {args: []string{"web1", "--connect-timeout", "3h"}, wantErr: "--connect-timeout must be between 0 and 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, _, _ := iostreams.Test()
			var got *shell.Options
			cmd := shell.NewCmd(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }}, func(_ context.Context, o *shell.Options) error {
				got = o
				return nil
			})
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(tt.args)
			err := cmd.ExecuteContext(t.Context())
			if tt.wantErr != "" {
				require.EqualError(t, err, tt.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want.Target, got.Target)
			assert.Equal(t, tt.want.NoRecord, got.NoRecord)
			assert.Equal(t, tt.want.RecordInput, got.RecordInput)
			assert.Equal(t, tt.want.Escape, got.Escape)
			assert.Equal(t, tt.want.ConnectTimeout, got.ConnectTimeout)
		})
	}
}

func TestWhatCannotBecomeATerminalSaysWhyAndLeavesTheTerminalAlone(t *testing.T) {
	_, stranger := serverAs(t, "stranger", sshserver.Config{Faults: sshserver.Faults{RefuseAuth: true}})
	_, changed := serverAs(t, "changed", sshserver.Config{Faults: sshserver.Faults{HostKey: hostKey(t)}})
	_, noTerminal := serverAs(t, "noterm", sshserver.Config{Faults: sshserver.Faults{RefusePTY: true}})
	_, full := serverAs(t, "full", sshserver.Config{Faults: sshserver.Faults{RefuseOpen: true}})
	gone, refused := serverAs(t, "refused", sshserver.Config{})
	require.NoError(t, gone.Close())
	p := newPlace(t, "{name: web1, transport: local}", "{name: web2, transport: local}", stranger,
		changed, noTerminal, full, refused)
	for name, tt := range map[string]struct {
		target string
		code   int
		said   string
	}{
		"several hosts":     {"web*", 2, "fairlead: shell takes one host, and web* picks 2: web[1-2]"},
		"no host":           {"wbe1", 2, "fairlead: no host named wbe1 (did you mean web1?)"},
		"not reached":       {"refused", 3, "fairlead: refused: unreachable: "},
		"not let in":        {"stranger", 3, "fairlead: stranger: not logged in: "},
		"not trusted":       {"changed", 3, "fairlead: changed: not trusted: "},
		"no room":           {"full", 3, "fairlead: full: unreachable: "},
		"no terminal there": {"noterm", 6, "fairlead: noterm: error: "},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, p.command(t, "shell", tt.target))
			assert.Equal(t, tt.code, c.exit())
			c.printed(tt.said)
		})
	}
}

func TestWithoutATerminalHereTheOtherCommandIsNamed(t *testing.T) {
	p := newPlace(t, here)
	cmd := p.command(t, "shell", "here")
	cmd.Stdin = strings.NewReader("ls\n")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 2, exit.ExitCode())
	assert.Equal(t, "fairlead: standard input is not a terminal: shell is for people at one; for a command use fairlead run here -- COMMAND\n", string(out))
	assert.NoDirExists(t, p.audit())
}
