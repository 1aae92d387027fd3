package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// ImportOptions is everything that "hosts import" needs.
type ImportOptions struct {
	IO     *iostreams.IOStreams
	Caller func() cmdutil.Caller

	Format string
	Output string // "" means standard output

	Files []string
}

// NewCmdImport builds the command. runF replaces the real work in tests of flags.
func NewCmdImport(f *cmdutil.Factory, runF func(context.Context, *ImportOptions) error) *cobra.Command {
	o := &ImportOptions{IO: f.IO, Caller: f.Caller}
	if runF == nil {
		runF = importRun
	}
	formats := strings.Join(inventory.Formats(), ", ")
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Write an inventory from those of other programs",
		Long: `Write an inventory of Fairlead's from FILE, and list what has no counterpart, with file and line.

FILE is an inventory of Ansible's (INI, YAML, a directory, or a program that prints JSON), a CSV file, /etc/hosts or
~/.ssh/config; name others with --format. Of an inventory of Fairlead's with sources, only the list is printed. Hosts of which it is not clear where or as whom to log in are left out, as
comments. To follow the files as they change, name them in an inventory under sources: instead.`,
		Example: `  fairlead hosts import hosts.ini -o inventory.yaml
  fairlead hosts import --format clush /etc/clustershell/groups.d/local.cfg
  fairlead hosts import ./ec2.py`,
		Args: cmdutil.Args(1, 1000, "at least one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Files = args
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Format, "format", "", "read FILE as `kind`: "+formats)
	cmd.Flags().StringVarP(&o.Output, "output", "o", "", "write a new `file` (- and the default: standard output)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(inventory.Formats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func importRun(ctx context.Context, o *ImportOptions) error {
	if o.Format != "" && !strings.Contains(", "+strings.Join(inventory.Formats(), ", ")+",", " "+o.Format+",") {
		return &cmdutil.UsageError{Err: fmt.Errorf("--format %q is not one of %s", printable.Clip(o.Format, 80), strings.Join(inventory.Formats(), ", "))}
	}
	got, err := inventory.Import(ctx, o.Files, inventory.Options{
		Format: o.Format, Environ: []string{}, Kept: hosts.RoleOf(o.Caller().Principal) == hosts.RoleAgent,
	})
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	if got.Own && o.Output != "" && o.Output != "-" {
		return &cmdutil.UsageError{Err: fmt.Errorf("%s is an inventory of Fairlead's already: there is nothing to write", printable.Line(o.Files[0]))}
	}
	lost, nameless := 0, 0
	for _, n := range got.Notes {
		switch {
		case n.Minor:
		case n.LeftOut:
			nameless++
		default:
			lost++
		}
		fmt.Fprintf(o.IO.Err, "fairlead: %s\n", printable.Line(n.String()))
	}
	if got.Own {
		fmt.Fprintf(o.IO.Err, "fairlead: %s is an inventory of Fairlead's already; its sources have %s without a counterpart\n",
			printable.Line(o.Files[0]), cmdutil.Count(lost, "setting"))
		return nil
	}
	text, added, left := render(got.Inventory, o.Files)
	for _, name := range added {
		fmt.Fprintf(o.IO.Err, "fairlead: the jump host %s is a host of the inventory now, and \"all\" picks it\n", name)
	}
	if err := o.write(text); err != nil {
		return err
	}
	msg := cmdutil.Count(got.Inventory.Len()+len(added)-left, "host")
	if left > 0 {
		msg += fmt.Sprintf(", %d more left out as comments", left)
	}
	if nameless > 0 {
		msg += fmt.Sprintf(", %d left out because of their names", nameless)
	}
	if lost > 0 {
		msg += fmt.Sprintf(", %s without a counterpart", cmdutil.Count(lost, "setting"))
	}
	fmt.Fprintf(o.IO.Err, "fairlead: %s\n", msg)
	return nil
}

// write makes a new file; one that is there is never replaced.
func (o *ImportOptions) write(text []byte) error {
	if o.Output == "" || o.Output == "-" {
		_, err := o.IO.Out.Write(text)
		return err
	}
	f, err := os.OpenFile(o.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cmdutil.Usagef("cannot write the inventory: %w", reason.NewFile(o.Output, err))
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(o.Output))
	}
	return nil
}
