package approvals

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// WatchOptions is everything that "approvals watch" needs.
type WatchOptions struct {
	Base
	Interval time.Duration
}

// DefaultInterval is how often watch looks for what is new.
const DefaultInterval = time.Second

// NewCmdWatch builds the command. runF replaces the real work in tests of flags.
func NewCmdWatch(b Base, runF func(context.Context, *WatchOptions) error) *cobra.Command {
	o := &WatchOptions{Base: b}
	if runF == nil {
		runF = watchRun
	}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Answer pending approvals on a live screen",
		Long: `Show pending approvals as they arrive, and answer them with the keyboard.

  j k  up down           select
  space b  PgDn PgUp     scroll
  y                      approve the shown command; press y again to confirm
  i                      approve it with all its input; y confirms
  s                      approve it for the session: this exact command, or its first words
  n                      reject it; y confirms
  r                      reject it with a reason
  q                      quit; pending approvals stay pending

A request can be answered once it has been on the screen for half a second, and approved once all of it was shown. A
request that is withdrawn, answered elsewhere or expired keeps its place until you select another one. With an enrolled
key, Fairlead asks for its passphrase, or for a touch, as approve does.`,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Interval <= 0 {
				return cmdutil.Usagef("--interval takes a time such as 1s, not %v", o.Interval)
			}
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().DurationVar(&o.Interval, "interval", DefaultInterval, "how often to look")
	return cmd
}

func watchRun(ctx context.Context, o *WatchOptions) error {
	who := o.Caller()
	if !o.IO.InTTY || !o.IO.OutTTY || o.Terminal == nil {
		return cmdutil.Usagef("approvals watch needs a terminal; without one: fairlead approvals list, then fairlead approvals approve ID --yes")
	}
	if _, err := o.Client(); err != nil { // a place that is not trusted is told before the screen is taken
		return errors.New(plain(err))
	}
	tty, err := o.Terminal()
	if err != nil {
		return errors.Join(errNoTerminal, err)
	}
	defer tty.Close()
	iostreams.DropTyped(tty)
	m := newScreen(ctx, o, who.Principal)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(tty), tea.WithOutput(tty), tea.WithoutSignalHandler())
	o.IO.Hold(func() { _, err = p.Run() })
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !errors.Is(err, io.EOF):
		return err
	}
	return nil
}
