package cp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

const editLong = `Edit a file of a host with your editor.

Fairlead copies the file here, starts $VISUAL, $EDITOR or vi on the copy, and writes it back when the editor ends, if it was
changed. It replaces the file only if it has not changed meanwhile; else, and whenever it cannot be written, the
copy is kept and Fairlead says where. Mode and owner stay as they are; hard links, access control lists and extended attributes
of the file are not kept. The copy here is yours alone. ^C is the editor's. If the editor fails, nothing is written and the exit
code is 1. An editor with a window of its own must wait until the file is closed: VISUAL='code --wait', VISUAL='gvim -f'.`

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
	mode, err := o.editable(ctx, hs, src, dir)
	if err != nil {
		return err
	}
	name, err := only(dir)
	if err != nil {
		return err
	}
	if is := filepath.Base(name); is != path.Base(src.path) && strings.ContainsAny(src.path, "*?[") { // nothing can be written to a pattern
		return cmdutil.Usagef("edit is for a single file, and %s is a pattern, which matches %s: name the file", src, cmdutil.OneLine(is))
	}
	// Whatever ends the command now must not end what is edited.
	lasting := context.WithoutCancel(ctx)
	before, err := hashed(lasting, name)
	if err != nil {
		return err
	}
	keep = true
	release := o.Running.Yield()
	failed := o.editor(name)
	release()
	after, err := hashed(lasting, name)
	if err != nil {
		return fmt.Errorf("%s: not written: %w; what the editor has left is in %s", src, err, dir)
	}
	changed := after.Entries[0].SHA256 != before.Entries[0].SHA256
	keep = changed || others(dir)
	if exit, ok := errors.AsType[*exec.ExitError](failed); ok { // a command that exited non-zero, as with git commit
		left := "nothing was changed"
		switch {
		case changed:
			left = "the edited copy is in " + name
		case keep:
			left = "what the editor has left is in " + dir
		}
		fmt.Fprintf(o.IO.Err, "fairlead: %s: not written: the editor %s failed (%s); %s\n", src, cmdutil.OneLine(o.editorLine()), exit, left)
		return cmdutil.Exit(editorCode(exit))
	}
	if failed != nil {
		return failed
	}
	if !changed {
		keep = false // a backup of the editor's is of the same text
		fmt.Fprintf(o.IO.Err, "fairlead: %s: not changed\n", src)
		return nil
	}
	after.Entries[0].Mode = mode
	plan := copies.Plan{Op: copies.Upload, Path: src.path, Entries: after.Entries, IfSHA256: before.Entries[0].SHA256}
	if mode > 0o777 { // which a copy keeps only where that is said
		plan.Mode = fmt.Sprintf("%04o", mode)
	}
	err = o.do(ctx, hs, &copies.Copy{Plan: plan, Source: func(hosts.Host) io.Reader { return after.Reader() }}, newView(o, hs, ""))
	if keep = !done(err); keep {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: not written; the edited copy is in %s\n", src, name)
		if exit, ok := errors.AsType[*cmdutil.ExitError](err); ok && (exit.Code == exitcode.Unreachable || exit.Code == exitcode.Unknown) {
			// The copy has a mode for this account alone, which cp would keep.
			fmt.Fprintf(o.IO.Err, "fairlead: once the host answers, write it with the same options: fairlead cp --mode %s %s %s\n",
				printable.Word(fmt.Sprintf("%04o", mode)), printable.Word(name), printable.Word(src.String()))
		}
	}
	return err
}

// done reports whether a copy has ended well.
func done(err error) bool {
	var exit *cmdutil.ExitError
	return err == nil || errors.As(err, &exit) && exit.Code == 0
}

// editable copies the file into dir, for this account alone, and returns the mode that it has on the host.
func (o *Options) editable(ctx context.Context, hs []hosts.Host, src endpoint, dir string) (mode uint32, err error) {
	quiet := *o
	quiet.silent = true
	files, refused := 0, false
	one := func(e copies.Entry) error {
		if files++; !e.Dir && files == 1 {
			return nil
		}
		refused = true
		return errOneFile
	}
	tree := copies.Tree{Dir: dir, Private: true, Accept: one, Take: func(r copies.Report) {
		if n, err := strconv.ParseUint(r.Mode, 8, 12); err == nil {
			mode = uint32(n)
		}
	}}
	err = quiet.receive(ctx, hs, src.path, func(hosts.Host) copies.Tree { return tree })
	switch {
	case done(err):
		err = nil
	case refused:
		err = cmdutil.Exit(exitcode.Usage)
	}
	return mode, err
}

var errOneFile = errors.New("edit is for a single file, and neither for directories nor for patterns that match several")

// only is the file in a directory that has nothing else.
func only(dir string) (name string, err error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(names) != 1 || !names[0].Type().IsRegular() {
		return "", cmdutil.Usagef("edit is for a file, and neither for patterns nor for devices, FIFOs and sockets")
	}
	return filepath.Join(dir, names[0].Name()), nil
}

// others reports whether an editor has left something beside the file, as vi does where its terminal is gone.
func others(dir string) bool {
	names, err := os.ReadDir(dir)
	return err != nil || len(names) > 1
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

// editorLine is the command line of the editor.
func (o *Options) editorLine() string {
	editor := "vi"
	for _, variable := range []string{"EDITOR", "VISUAL"} {
		if v := o.Getenv(variable); strings.TrimSpace(v) != "" { // of a blank one, sh would run the file
			editor = v
		}
	}
	return editor
}

// editor starts the editor and waits for it. ^C is the editor's, and does not end it.
func (o *Options) editor(name string) error {
	cmd := exec.Command("sh", "-c", o.editorLine()+` "$1"`, "sh", name) // as git and others take it: with arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// editorCode is the exit code for an editor that failed: that of its signal, which the shell may have put into its own, or that of
// a command that exited non-zero.
func editorCode(exit *exec.ExitError) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	if exit.ExitCode() > 128 {
		return exit.ExitCode()
	}
	return exitcode.Failed
}
