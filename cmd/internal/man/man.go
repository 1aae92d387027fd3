// Package man implements "fairlead man", which writes the manual pages.
package man

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
)

const long = `Write a manual page for each command into DIR, which is created if it does not exist.

The pages say what --help says. They name no date, so the same program always writes the same pages.`

const example = `  fairlead man ~/.local/share/man/man1
  man fairlead-run`

// Options is everything that the command needs.
type Options struct {
	IO  *iostreams.IOStreams
	Dir string
}

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := &Options{IO: f.IO}
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages", Long: long, Example: example,
		Args: cmdutil.Args(1, 1, "the DIR to write to"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = args[0]
			return run(o, cmd.Root())
		},
	}
}

func run(o *Options, root *cobra.Command) error {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return cmdutil.Usagef("cannot write the manual pages: %w", reason.NewFile(o.Dir, err))
	}
	n, err := write(o.Dir, root)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.IO.Out, "wrote %d pages to %s\n", n, o.Dir)
	return err
}

// write writes the pages of a command and of all below it.
func write(dir string, cmd *cobra.Command) (pages int, err error) {
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		n, err := write(dir, sub)
		if pages += n; err != nil {
			return pages, err
		}
	}
	name := filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
	if err := os.WriteFile(name, []byte(page(cmd)), 0o644); err != nil {
		return pages, fmt.Errorf("cannot write the manual pages: %w", reason.NewFile(name, err))
	}
	return pages + 1, nil
}
