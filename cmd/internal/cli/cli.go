// Package cli is the program, minus main.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/cmd/internal/version"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// Main runs the program with os.Args and returns its exit code; see package exitcode.
func Main() int {
	cmdutil.CollectLate()
	ios := iostreams.System(os.Getenv)
	if err := checkUmask(); err != nil {
		return finish(ios, &cmdutil.UsageError{Err: err})
	}
	tellUnknown(ios.Err, os.Environ())
	f, done := newFactory(ios, os.Getenv)
	ctx, abort, _ := withSignals(context.Background(), f.Running) // until the end of the program
	ios.End(told(ctx), outputGrace)
	code := make(chan int, 1)
	go func() { // ends with the program, at the latest
		err := Run(ctx, f, asSSH(os.Args))
		code <- finish(ios, afterClosing(ios, err, done()))
	}()
	select {
	case c := <-code:
		return c
	case sig := <-abort:
		iostreams.Unhush()
		// No lock of the streams: whoever asks twice must not hang.
		fmt.Fprintf(os.Stderr, "\nfairlead: %s", outcome.EndedAtOnce(sig, f.Running))
		return 128 + sig.Number
	}
}

// Run builds the command tree and runs it with args.
func Run(ctx context.Context, f *cmdutil.Factory, args []string) error {
	f.Commands = names()
	if asker := f.Asker; asker != nil {
		f.Asker = sync.OnceValue(func() *question.Asker {
			a := asker()
			a.Until(ctx)
			return a
		})
	}
	typed := len(args)
	args, err := aliased(f, args)
	if err != nil {
		return err
	}
	fromAlias := 0
	if len(args) != typed {
		fromAlias = len(args) - (typed - ownFlags(args) - 1)
	}
	root := rootFor(f, args)
	knowHabits(root)
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, cobra.ShellCompRequestCmd) }) {
		completion.Flags(f, root)
	}
	if slices.Contains(args, "completion") || slices.Contains(args, "man") {
		completion.Scripts(root)
	}
	args, err = beforeSSH(root, args)
	if err != nil {
		return err
	}
	if err := givenOnce(root, args, fromAlias); err != nil {
		return err
	}
	root.SetArgs(args)
	noHelp := helpOf(root)
	if cmd, err := root.ExecuteContextC(ctx); err != nil {
		return apart(cmd, args, err)
	}
	return noHelp()
}

// newRoot is the program without its commands.
func newRoot(f *cmdutil.Factory) *cobra.Command {
	root := &cobra.Command{
		Use:   "fairlead COMMAND",
		Short: "Run commands on the machines you operate, exactly and audited",
		Long: `Fairlead runs commands on the machines you operate, exactly and audited.

Hosts come from an inventory and are reached over SSH as ssh would reach them, or through any command that gives a
shell. Every command is recorded before it is sent.`,
		Example: `  fairlead -i inventory.example.yaml run all -- uname -a
  fairlead run root@10.0.0.5 -- uptime
  fairlead hosts list
  fairlead audit verify`,
		Args: cmdutil.Group,
		RunE: runAlone,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmdutil.NoEmptyFlags(cmd); err != nil {
				return err
			}
			return f.Configure(cmd)
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(f.IO.In)
	root.SetOut(f.IO.Out)
	root.SetErr(f.IO.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), usageLines, groupUsage, 1))
	root.Version = version.Read().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().VarP(inventoryFlag{&f.InventoryFile}, "inventory", "i", "read hosts from `file` (YAML, TOML, JSON, or Ansible's)")
	root.PersistentFlags().Var(keeperFlag{&f.KeeperFlag}, "keeper", "go through the background process that holds sessions (default auto)")
	return root
}

// afterClosing adds what went wrong at the very end to how a command ended: the audit log may lack its result then, whatever its exit
// code is. A caller who takes the place of ssh keeps the code of the host's command.
func afterClosing(ios *iostreams.IOStreams, err, closing error) error {
	var exit *cmdutil.ExitError
	switch {
	case err == nil:
		return closing
	case !errors.Is(closing, audit.ErrUnavailable):
		return err
	case errors.As(err, &exit) && !exit.Exact:
		return closing
	}
	tell(ios.Err, closing)
	return err
}

// finish tells what went wrong and returns the exit code.
func finish(ios *iostreams.IOStreams, err error) int {
	var silent *cmdutil.ExitError
	if errors.Is(ios.Out.Err(), syscall.EPIPE) && !(errors.As(err, &silent) && silent.Exact) {
		return exitcode.ClosedPipe // whoever reads the output has enough
	}
	if werr := ios.Out.Err(); werr != nil && (err == nil || err == werr) {
		err = fmt.Errorf("cannot write to standard output: %w", werr)
	}
	if err != nil && !errors.As(err, &silent) {
		tell(ios.Err, err)
	}
	return code(err)
}

// code is where errors become exit codes.
func code(err error) int {
	var (
		exit  *cmdutil.ExitError
		usage *cmdutil.UsageError
		sig   *cmdutil.SignalError
	)
	switch {
	case err == nil:
		return exitcode.OK
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &usage):
		return exitcode.Usage
	case errors.As(err, &sig):
		return 128 + sig.Number
	case errors.Is(err, audit.ErrUnavailable), errors.Is(err, session.ErrAudit):
		return exitcode.Internal
	case errors.Is(err, context.Canceled):
		return exitcode.Interrupted
	}
	return exitcode.Internal
}

// tell prints err: one line for each of the errors that it joins.
func tell(w io.Writer, err error) {
	var usage *cmdutil.UsageError
	if errors.As(err, &usage) {
		err = usage.Err
	}
	var sig *cmdutil.SignalError
	if errors.As(err, &sig) {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && isList(err, joined.Unwrap()) {
		for _, e := range joined.Unwrap() {
			tell(w, e)
		}
		return
	}
	fmt.Fprintf(w, "fairlead: %s\n", printable.Text(cmdutil.Text(err)))
}

// isList reports whether err is no more than the errors in it, as those of errors.Join are.
func isList(err error, all []error) bool { return err.Error() == errors.Join(all...).Error() }
