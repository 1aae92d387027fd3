package cp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/files"
)

// upload copies paths to hosts. dress, if not nil, changes what files and directories look like there; came is of paths that another
// host's files were copied to.
func (o *Options) upload(ctx context.Context, paths []string, dst endpoint, dress func(*copies.Entry), came between) error {
	hs, err := o.hosts(dst.targets)
	if err != nil {
		return err
	}
	local, err := copies.NewLocal(paths)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	for i := range local.Entries {
		if dress != nil {
			dress(&local.Entries[i])
		}
	}
	if o.Times {
		local.Times()
	}
	plan := copies.Plan{
		Op: copies.Upload, Path: dst.path, Entries: local.Entries, Into: len(paths) > 1,
		Mode: o.Mode, Owner: o.Owner, Delete: o.Delete, DryRun: o.DryRun, Verify: o.Verify, Resume: o.Resume, Times: o.Times,
	}
	if o.Delete {
		plan.Keep = append(local.Skipped(), came.skipped...)
	}
	if len(paths) == 1 && merges(paths[0]) {
		plan.Merge = true
	}
	o.left(local.Left)
	if len(plan.Entries) == 0 {
		return cmdutil.Usagef("there is nothing to copy: name a file or a directory")
	}
	if err := plan.Check(); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	unread := append(local.Lost, came.unread...)
	switch {
	case o.DryRun:
		var more []copies.Report
		if plan, more, err = readable(ctx, plan, local); err != nil {
			return err
		}
		unread = append(unread, more...)
		if len(plan.Entries) == 0 {
			for _, r := range unread {
				fmt.Fprintf(o.IO.Err, "fairlead: %s: %s\n", cmdutil.OneLine(r.Name), cmdutil.OneLine(r.Why))
			}
			return cmdutil.Exit(1)
		}
	case o.Caller().Mark != "": // what is approved has hashes
		if err := local.Hash(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintf(o.IO.Err, "fairlead: nothing was copied: %s\n", cmdutil.OneLine(err.Error()))
			return cmdutil.Exit(1)
		} else if err != nil {
			return err
		}
		if len(unread) > 0 {
			fmt.Fprintf(o.IO.Err, "fairlead: nothing was copied: %s: %s\n", cmdutil.OneLine(unread[0].Name), cmdutil.OneLine(unread[0].Why))
			return cmdutil.Exit(1)
		}
	}
	if len(unread) > 0 { // nothing is removed where something is not copied
		plan.Delete, plan.Keep = false, nil
	}
	if plan.Delete && !o.DryRun {
		if err := o.confirmDeletes(ctx, hs, plan, local); err != nil {
			return err
		}
	}
	c := &copies.Copy{Plan: plan, Source: func(hosts.Host) io.Reader { return local.Reader() }}
	v := newView(o, hs, "copied to")
	v.old = func(name string) []byte { // what a dry run compares with
		text, _ := os.ReadFile(local.Path(name))
		return text
	}
	v.each, v.unread, v.from, v.odd = plan.Bytes(), unread, came.from, odd(plan.Entries)
	if o.DryRun {
		if v.copy, err = o.foretell(ctx, hs, plan); err != nil {
			return err
		}
	}
	return o.do(ctx, hs, c, v)
}

// readable is a plan for a report, of what can be read here. What cannot is kept on the hosts, as a copy would keep it.
func readable(ctx context.Context, plan copies.Plan, local *copies.Local) (_ copies.Plan, unread []copies.Report, err error) {
	plan.Entries, unread, err = local.Readable(ctx)
	if plan.Delete {
		for _, r := range unread {
			plan.Keep = append(plan.Keep, r.Name)
		}
	}
	return plan, unread, err
}

// left tells of what is not copied.
func (o *Options) left(all []copies.Report) {
	for i, r := range all {
		if i == 10 {
			fmt.Fprintf(o.IO.Err, "fairlead: warning: and %d more\n", len(all)-i)
			return
		}
		word := ""
		if r.Done == copies.Skipped {
			word = "skipped: "
		}
		fmt.Fprintf(o.IO.Err, "fairlead: warning: %s: %s%s\n", cmdutil.OneLine(r.Name), word, r.Why)
	}
}

// odd are the names that hold what a policy may deny: it judges a copy as a command with all of them.
func odd(all []copies.Entry) (found []copies.Report) {
	for i := range all {
		name := all[i].Name
		if name = path.Base(name); strings.IndexFunc(name, func(r rune) bool {
			return r != '\n' && r != '\t' && r != utf8.RuneError && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}) >= 0 {
			found = append(found, copies.Report{Done: copies.Failed, Name: all[i].Name, Code: files.CodeInvalid, Why: "its name has a control character: rename it, or leave it out"})
		}
	}
	return found
}
