package cp

import (
	"context"
	"os"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// across copies from one host to others, through this machine: the files are kept here in between.
func (o *Options) across(ctx context.Context, src, dst endpoint) error {
	dir, err := os.MkdirTemp("", "fairlead-cp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	quiet := *o
	quiet.Mode, quiet.silent = "", true
	if err := quiet.download(ctx, src, dir+"/"); err != nil {
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
	return o.upload(ctx, paths, dst)
}
