package sandbox

import (
	"context"
	"errors"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func execute(t *testing.T, cmd *cobra.Command, argv ...string) error {
	t.Helper()
	cmd.SetArgs(argv)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(t.Context())
}

func TestAnEditChangesWhatIsNamedAndNothingElse(t *testing.T) {
	text, off, on, empty := "/srv", false, true, ""
	for name, tt := range map[string]struct {
		argv []string
		want wire.SandboxChange
		err  string
	}{
		"nothing":        {argv: []string{"b"}, err: "sandbox edit needs something to change: --label, --path, --network or --active=false"},
		"a path":         {argv: []string{"b", "--path", "/srv"}, want: wire.SandboxChange{Path: &text}},
		"no label":       {argv: []string{"b", "--label", ""}, want: wire.SandboxChange{Label: &empty}},
		"off":            {argv: []string{"b", "--active=false"}, want: wire.SandboxChange{Active: &off}},
		"on, as it is":   {argv: []string{"b", "--active"}, want: wire.SandboxChange{Active: &on}},
		"no sandbox":     {argv: []string{"--active"}, err: "edit takes the ID or the label of one sandbox, got 0 arguments"},
		"two of them":    {argv: []string{"a", "b", "--active"}, err: "edit takes the ID or the label of one sandbox, got 2 arguments"},
		"a path as well": {argv: []string{"b", "--path", "/srv", "--active=false"}, want: wire.SandboxChange{Path: &text, Active: &off}},
	} {
		t.Run(name, func(t *testing.T) {
			var got *EditOptions
			err := execute(t, NewCmdEdit(Base{}, func(_ context.Context, o *EditOptions) error {
				got = o
				return nil
			}), tt.argv...)
			if tt.err != "" {
				var usage *cmdutil.UsageError
				require.ErrorAs(t, err, &usage)
				assert.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "b", got.Name)
			assert.Equal(t, tt.want, got.Change)
		})
	}
}

// nobody is a machine on which no keeper can be started.
type nobody struct{}

func (nobody) Find(context.Context) (*client.Client, error) { return nil, cmdutil.ErrNoKeeper }
func (nobody) Start(context.Context) (*client.Client, error) {
	return nil, errors.New("keeper: the disk is full")
}

func TestWithoutAKeeperThereAreNoSandboxes(t *testing.T) {
	for mode, want := range map[config.KeeperMode]string{
		config.Auto: "sandboxes need the keeper: the disk is full",
		config.Off:  "sandboxes are the keeper's, and the keeper is off: ",
	} {
		b := Base{KeeperMode: func() (config.KeeperMode, error) { return mode, nil }, Keepers: nobody{}}
		err := b.with(t.Context(), func(*client.Client) error { panic("there is none") })
		assert.ErrorContains(t, err, want)
	}
}

func TestWhatTheKeeperSaysBecomesAnExitCode(t *testing.T) {
	for code, want := range map[string]int{
		"forbidden": exitcode.Denied, "denied": exitcode.Denied, "unreachable": exitcode.Unreachable, "auth": exitcode.Unreachable,
		"hostkey": exitcode.Unreachable, "timeout": exitcode.Unknown, "lost": exitcode.Unknown,
	} {
		ios, _, _, errOut := iostreams.Test()
		b := Base{IO: ios}
		var exit *cmdutil.ExitError
		require.ErrorAs(t, b.told(&wire.Problem{Code: code, Detail: "no\nway"}), &exit, code)
		assert.Equal(t, want, exit.Code, code)
		assert.Equal(t, "fairlead: no; way\n", errOut.String())
	}
	var usage *cmdutil.UsageError
	b := Base{}
	for _, code := range []string{"not_found", "invalid", "inventory"} {
		assert.ErrorAs(t, b.told(&wire.Problem{Code: code}), &usage, code)
	}
	assert.NoError(t, b.told(nil))
	other := errors.New("gone")
	assert.Equal(t, other, b.told(other))
}

func TestTextThatIsNotWhatItLooksLikeIsQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"app": "app", "/srv/my app": "/srv/my app", "über": "über", "": `""`, " app": `" app"`, `a"b`: `"a\"b"`, `a\b`: `"a\\b"`,
		"a\u202eb": `"a\u202eb"`, "a\u200bb": `"a\u200bb"`, "a\x1b[31m": `"a\x1b[31m"`, "a\tb": `"a\tb"`, "\xff": `"\xff"`,
	} {
		assert.Equal(t, want, word(text), "%q", text)
	}
}
