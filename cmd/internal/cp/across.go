package cp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// between is what is known of files that came from another host first.
type between struct {
	from    string          // its label; "" if the files are of this machine
	skipped []string        // names of what is no file
	unread  []copies.Report // what could not be read there
}

// across copies from one host to others, through this machine: the files are kept here in between, for this account alone.
func (o *Options) across(ctx context.Context, src, dst endpoint) error {
	hs, err := o.one(src)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fairlead-cp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	quiet := *o
	quiet.Mode, quiet.Owner, quiet.silent = "", "", true
	quiet.Delete, quiet.DryRun, quiet.Verify, quiet.Resume = false, false, false, false
	modes := map[string]uint32{}
	came := between{from: targets.Labels(hs)[0]}
	quiet.missed = func(name string) { came.skipped = append(came.skipped, name) }
	quiet.lacks = func(r copies.Report) {
		r.Path, r.Name = came.from+":"+shownPath(r), came.from+":"+r.Name
		came.unread = append(came.unread, r)
	}
	tree := copies.Tree{Dir: dir, Private: true, Times: o.Times, Take: func(r copies.Report) {
		if mode, err := strconv.ParseUint(r.Mode, 8, 12); err == nil {
			modes[r.Name] = uint32(mode) & 0o777
		}
	}}
	if err := quiet.receive(ctx, hs, src.path, func(hosts.Host) copies.Tree { return tree }); err != nil {
		if exit, ok := errors.AsType[*cmdutil.ExitError](err); ok && exit.Code != 0 { // the reports are of what came here
			fmt.Fprintf(o.IO.Err, "fairlead: nothing was copied to %s\n", cmdutil.OneLine(dst.targets))
		}
		return err
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var paths []string
	for _, n := range names {
		paths = append(paths, filepath.Join(dir, n.Name()))
	}
	if len(paths) == 0 {
		return cmdutil.Usagef("there is nothing to copy at %s", src)
	}
	if mergesThere(src.path) {
		if len(names) > 1 {
			return cmdutil.Usagef("several things match %s: name one directory, or leave out the slash behind it", src)
		}
		if !names[0].IsDir() {
			return cmdutil.Usagef("%s is not a directory on the host: name it without a slash behind it", strings.TrimRight(src.path, "/"))
		}
		paths[0] += string(filepath.Separator)
	}
	return o.upload(ctx, paths, dst, func(e *copies.Entry) {
		if mode, known := modes[e.Name]; known {
			e.Mode = mode
		}
	}, came)
}
