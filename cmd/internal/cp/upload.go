package cp

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// upload copies paths to hosts. dress, if not nil, changes what files and directories look like there; skipped are names that were
// not copied to paths.
func (o *Options) upload(ctx context.Context, paths []string, dst endpoint, dress func(*copies.Entry), skipped []string) error {
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
	plan := copies.Plan{
		Op: copies.Upload, Path: dst.path, Entries: local.Entries, Into: len(paths) > 1,
		Mode: o.Mode, Owner: o.Owner, Delete: o.Delete, DryRun: o.DryRun, Verify: o.Verify, Resume: o.Resume,
	}
	if o.Delete {
		plan.Keep = append(local.Skipped(), skipped...)
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
	if o.DryRun || o.Caller().Mark != "" { // what is approved has hashes
		if err := local.Hash(ctx); err != nil {
			return err
		}
	}
	if o.Delete && !o.DryRun {
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
	v.each = plan.Bytes()
	return o.do(ctx, hs, c, v)
}

// left tells of what is not copied.
func (o *Options) left(all []copies.Report) {
	for i, r := range all {
		if i == 10 {
			fmt.Fprintf(o.IO.Err, "fairlead: warning: and %d more\n", len(all)-i)
			return
		}
		word := "skipped: "
		if r.Done == copies.Sparse {
			word = ""
		}
		fmt.Fprintf(o.IO.Err, "fairlead: warning: %s: %s%s\n", cmdutil.OneLine(r.Name), word, r.Why)
	}
}
