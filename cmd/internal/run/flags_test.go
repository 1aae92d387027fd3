package run_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/run"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
)

func TestRunParsesItsCommandLine(t *testing.T) {
	for name, tt := range map[string]struct {
		args    []string
		want    run.Options
		wantErr string
	}{
		"plain": {args: []string{"web*", "--", "uptime -p"}, want: run.Options{Targets: "web*", Script: "uptime -p"}},
		"words": {args: []string{"web*", "--", "echo", "a b", "--json"},
			want: run.Options{Targets: "web*", Script: `\echo 'a b' --json`}},
		"flags stand anywhere before --": {args: []string{"--json", "all", "-x", "db1", "--timeout", "1m", "--", "id"},
			want: run.Options{Targets: "all", Script: "id", Except: "db1", JSON: true, Timeout: time.Minute}},
		"own exit code":              {args: []string{"a", "--exit-code", "own", "--", "x"}, want: run.Options{Targets: "a", Script: "x", OwnExitCode: true}},
		"a host's exit code":         {args: []string{"a", "--exit-code=host", "--", "x"}, want: run.Options{Targets: "a", Script: "x"}},
		"nothing":                    {wantErr: "run needs TARGETS and a command: fairlead run TARGETS -- COMMAND"},
		"no targets":                 {args: []string{"--", "id"}, wantErr: "run needs TARGETS and a command: fairlead run TARGETS -- COMMAND"},
		"no command":                 {args: []string{"web1"}, wantErr: "run needs a command: fairlead run web1 -- COMMAND"},
		"nothing after --":           {args: []string{"web1", "--"}, wantErr: "no command follows --"},
		"no --":                      {args: []string{"web1", "id"}, wantErr: "write -- before the command: fairlead run web1 -- id"},
		"two targets":                {args: []string{"a", "b", "--", "id"}, wantErr: "run takes one TARGETS, got 2: join selectors with a comma"},
		"a variable without value":   {args: []string{"a", "--env", "A", "--", "id"}, wantErr: "--env needs KEY=VALUE, with a KEY of letters, digits and _ that does not begin with a digit"},
		"a variable without a name":  {args: []string{"a", "--env", "1A=b", "--script", "f"}, wantErr: "--env needs KEY=VALUE, with a KEY of letters, digits and _ that does not begin with a digit"},
		"two formats":                {args: []string{"a", "--json", "--fold", "--", "id"}, wantErr: "--json, --fold and --diff exclude each other"},
		"no forks":                   {args: []string{"a", "--forks", "0", "--", "id"}, wantErr: "--forks must be at least 1, not 0"},
		"negative timeout":           {args: []string{"a", "--timeout", "-1s", "--", "id"}, wantErr: "--timeout must not be negative"},
		"endless connect timeout":    {args: []string{"a", "--connect-timeout", "30h", "--", "id"}, wantErr: "--connect-timeout must be between 0 and 1h0m0s"},
		"unknown exit code mode":     {args: []string{"a", "--exit-code", "mine", "--", "id"}, wantErr: `invalid argument "mine" for "--exit-code" flag: must be host or own`},
		"a word that cannot be sent": {args: []string{"a", "--", "echo", "\x00"}, wantErr: "framing: byte 0 cannot be sent: 0x00"},
		"a script without arguments": {args: []string{"a", "--script", "x.sh"}, want: run.Options{Targets: "a", ScriptFile: "x.sh"}},
		"a script with arguments": {args: []string{"a", "--script=-", "--", "-x", "b c"},
			want: run.Options{Targets: "a", ScriptFile: "-", Args: []string{"-x", "b c"}}},
		"standard input for one":  {args: []string{"a", "--stdin", "--", "x"}, want: run.Options{Targets: "a", Script: "x", Stdin: "host"}},
		"standard input for each": {args: []string{"a", "--stdin=copy", "--", "x"}, want: run.Options{Targets: "a", Script: "x", Stdin: "copy"}},
		"idle, reason, yes and redact": {args: []string{"a", "--idle", "5s", "--reason", "a test", "-y", "--redact", "--policy", "p.yaml", "--", "x"},
			want: run.Options{Targets: "a", Script: "x", Idle: 5 * time.Second, Reason: "a test", Yes: true, Redact: true, PolicyFile: "p.yaml"}},
		"standard input for some": {args: []string{"a", "--stdin=some", "--", "x"},
			wantErr: `invalid argument "some" for "--stdin" flag: must be copy, or nothing at all`},
		"standard input for two purposes": {args: []string{"a", "--stdin", "--script", "-"},
			wantErr: "--script - and --stdin cannot both have standard input: write the script to a file"},
		"no script":                    {args: []string{"a", "--script", ""}, wantErr: "--script needs the name of a file, or - for standard input"},
		"a script without targets":     {args: []string{"--script", "x.sh"}, wantErr: "run needs TARGETS: fairlead run TARGETS --script x.sh"},
		"a script's bare arguments":    {args: []string{"a", "b", "--script", "x.sh"}, wantErr: "write -- before the script's arguments: fairlead run a --script x.sh -- b"},
		"negative idle":                {args: []string{"a", "--idle", "-1s", "--", "id"}, wantErr: "--idle must not be negative"},
		"an unknown flag is not eaten": {args: []string{"a", "--frok", "--", "id"}, wantErr: "unknown flag: --frok"},
	} {
		t.Run(name, func(t *testing.T) {
			var got *run.Options
			cmd := run.NewCmd(&cmdutil.Factory{}, func(_ context.Context, o *run.Options) error {
				got = o
				return nil
			})
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(append([]string{}, tt.args...))
			err := cmd.ExecuteContext(t.Context())
			if tt.wantErr != "" {
				require.Error(t, err)
				if name != "a word that cannot be sent" {
					require.EqualError(t, err, tt.wantErr)
				}
				return
			}
			require.NoError(t, err)
			if tt.want.Forks == 0 {
				tt.want.Forks = run.DefaultForks
			}
			got.Policy, got.Caller, got.Settings, got.Runs, got.Place = nil, nil, nil, nil, place.Chooser{}
			got.Reach, got.SSH = targets.Reach{}, nil // functions cannot be compared
			assert.Equal(t, tt.want, *got)
		})
	}
}
