package cp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

const editLong = `Edit a file of a host with your editor.

Fairlead copies the file here, starts $VISUAL, $EDITOR or vi on the copy, and writes it back when the editor ends, if it was
changed. It replaces the file only if it has not changed meanwhile; else, and whenever it cannot be written, the
copy is kept and Fairlead says where. Mode and owner stay as they are.`

// NewEditCmd builds "edit".
func NewEditCmd(f *cmdutil.Factory) *cobra.Command {
	o := newOptions(f)
	cmd := &cobra.Command{
		Use: "edit HOST:PATH", Short: "Edit a file of a host with your editor", Long: editLong,
		Example: "  fairlead edit web1:/etc/nginx/nginx.conf",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !parseEndpoint(args[0]).far() || parseEndpoint(args[0]).path == "" {
				return cmdutil.Usagef("edit needs HOST:PATH: fairlead edit web1:/etc/app.conf")
			}
			o.Forks = 1
			return o.edit(cmd.Context(), parseEndpoint(args[0]))
		},
		ValidArgsFunction: completePaths(f, 1, false),
	}
	fl := cmd.Flags()
	f.SSH.AddWay(fl, "p")
	f.SSH.AddBecome(fl)
	fl.StringVar(&o.Reason, "reason", "", "`reason` to record in the audit log")
	fl.BoolVarP(&o.Yes, "yes", "y", false, "answer confirmations with yes")
	return cmd
}

// edit copies a file here, has it edited, and writes it back.
func (o *Options) edit(ctx context.Context, src endpoint) error {
	hs, err := o.hosts(src.targets)
	if err != nil {
		return err
	}
	if len(hs) > 1 {
		return cmdutil.Usagef("%s picks %d hosts: edit a file of one host, and fairlead cp it to the others", src.targets, len(hs))
	}
	dir, err := os.MkdirTemp("", "fairlead-edit-*")
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			os.RemoveAll(dir)
		}
	}()
	quiet := *o
	quiet.silent = true
	if err := quiet.download(ctx, src, dir+"/"); !done(err) {
		return err
	}
	name, st, err := only(dir)
	if err != nil {
		return err
	}
	before, err := hashed(ctx, name)
	if err != nil {
		return err
	}
	if err := o.editor(ctx, name); err != nil {
		keep = true
		return fmt.Errorf("%w; the copy is in %s", err, name)
	}
	after, err := hashed(ctx, name)
	if err != nil {
		return err
	}
	if after.Entries[0].SHA256 == before.Entries[0].SHA256 {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: not changed\n", src)
		return nil
	}
	after.Entries[0].Mode = copies.Octal(st.Mode())
	plan := copies.Plan{Op: copies.Upload, Path: src.path, Entries: after.Entries, IfSHA256: before.Entries[0].SHA256}
	err = o.do(ctx, hs, &copies.Copy{Plan: plan, Source: func(hosts.Host) io.Reader { return after.Reader() }}, newView(o, hs, ""))
	if !done(err) {
		keep = true
		fmt.Fprintf(o.IO.Err, "fairlead: %s: not written; the edited copy is in %s\n", src, name)
	}
	return err
}

// done reports whether a copy has ended well.
func done(err error) bool {
	var exit *cmdutil.ExitError
	return err == nil || errors.As(err, &exit) && exit.Code == 0
}

// only is the file in a directory that has nothing else.
func only(dir string) (name string, st os.FileInfo, err error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, err
	}
	if len(names) != 1 || !names[0].Type().IsRegular() {
		return "", nil, cmdutil.Usagef("edit is for a single file, and neither for directories nor for patterns that match several")
	}
	name = filepath.Join(dir, names[0].Name())
	st, err = os.Stat(name)
	return name, st, err
}

func hashed(ctx context.Context, name string) (*copies.Local, error) {
	l, err := copies.NewLocal([]string{name})
	if err == nil && (len(l.Entries) != 1 || l.Entries[0].Dir) {
		err = fmt.Errorf("%s is not a file any more", name)
	}
	if err != nil {
		return nil, err
	}
	return l, l.Hash(ctx)
}

// editor starts the editor and waits for it. ^C is the editor's: the end of ctx does not end it.
func (o *Options) editor(_ context.Context, name string) error {
	editor := "vi"
	for _, variable := range []string{"EDITOR", "VISUAL"} {
		if v := o.Getenv(variable); v != "" {
			editor = v
		}
	}
	cmd := exec.Command("sh", "-c", editor+` "$1"`, "sh", name) // as git and others take it: with arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the editor %s failed: %w", cmdutil.OneLine(editor), err)
	}
	return nil
}
