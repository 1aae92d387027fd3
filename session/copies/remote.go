package copies

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// names are what is in a directory.
func names(ctx context.Context, r hostfs.FS, dir string) (all []hostfs.Meta, err error) {
	err = r.List(ctx, dir, func(m hostfs.Meta) error {
		if len(all) >= hostfs.MaxNames {
			return fault(files.CodeTooLarge, "the directory has more than %d names", hostfs.MaxNames)
		}
		all = append(all, m)
		return nil
	})
	return all, err
}

// absolute makes a path of one that may begin in the home directory.
func absolute(ctx context.Context, r hostfs.FS, name string) (string, error) {
	if strings.HasPrefix(name, "/") {
		return clean(name), nil
	}
	home, err := r.Home(ctx)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(home, "/") || len(home) > maxPath {
		return "", &files.Error{Code: files.CodeError, Err: errors.New("the host reports an invalid home directory")}
	}
	return clean(path.Join(home, relative(name))), nil
}

// clean takes away what a path does not need, but for "..", which counts after links.
func clean(name string) string {
	parts := strings.Split(name, "/")
	var keep []string
	for _, p := range parts {
		if p != "" && p != "." {
			keep = append(keep, p)
		}
	}
	return "/" + strings.Join(keep, "/")
}

func fault(code, format string, args ...any) error {
	return &files.Error{Code: code, Err: fmt.Errorf(format, args...)}
}
