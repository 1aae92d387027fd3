package exec_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exec"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestFlagsAndArgumentsSayWhatRunsWhere(t *testing.T) {
	for name, tt := range map[string]struct {
		argv []string
		want exec.Options
		err  string
	}{
		"source":                 {argv: []string{"web1", "--", "ls | wc"}, want: exec.Options{Target: "web1", Script: "ls | wc"}},
		"words":                  {argv: []string{"web1", "--", "ls", "a b"}, want: exec.Options{Target: "web1", Script: `\ls 'a b'`}},
		"a session, and all":     {argv: []string{"-s", "b", "web1", "--timeout", "1m", "--cwd", "/x", "--reason", "why", "--json", "-y", "--", "ls"}, want: exec.Options{Target: "web1", Script: "ls", Session: "b", Timeout: time.Minute, CWD: "/x", Reason: "why", JSON: true, Yes: true}},
		"nothing":                {err: "exec needs a host or a session, and a command: fairlead exec HOST -- COMMAND"},
		"no host":                {argv: []string{"--", "ls"}, err: "exec needs a host or a session, and a command: fairlead exec HOST -- COMMAND"},
		"no command":             {argv: []string{"web1"}, err: "exec needs a command: fairlead exec web1 -- COMMAND"},
		"no command after --":    {argv: []string{"web1", "--"}, err: "no command follows --"},
		"no --":                  {argv: []string{"web1", "ls"}, err: "write -- before the command: fairlead exec web1 -- ls"},
		"two hosts":              {argv: []string{"web1", "web2", "--", "ls"}, err: "exec takes one host or session, got 2: fairlead run takes many"},
		"a session without name": {argv: []string{"-s", "", "web1", "--", "ls"}, err: "-s takes the name of a session"},
		"a negative time":        {argv: []string{"--timeout", "-1s", "web1", "--", "ls"}, err: "--timeout must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			ios, _, _, _ := iostreams.Test()
			var got *exec.Options
			cmd := exec.NewCmd(&cmdutil.Factory{IO: ios}, func(_ context.Context, o *exec.Options) error {
				got = o
				return nil
			})
			cmd.SetArgs(tt.argv)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.ExecuteContext(t.Context())
			if tt.err != "" {
				var usage *cmdutil.UsageError
				require.ErrorAs(t, err, &usage)
				assert.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			have := exec.Options{
				Target: got.Target, Script: got.Script, Session: got.Session, Timeout: got.Timeout, CWD: got.CWD, Reason: got.Reason,
				JSON: got.JSON, Yes: got.Yes,
			}
			assert.Equal(t, tt.want, have)
		})
	}
}
