package boxes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// hidden is what a sandbox on a host must not show: the keys of the account there, and where the host is this machine the
// keeper's own files and the keys that it logs in with.
func (bs *Boxes) hidden(ctx context.Context, r *realm.Realm, h hosts.Host, look sandbox.Runner) (sandbox.Secrets, error) {
	var further []string
	if bs.Machine.Is(h) {
		further = append(slices.Clone(bs.Own), r.Key.Inventory, connect.AuthSock(ctx), bs.AuthSock, os.Getenv("SSH_AUTH_SOCK"))
		inv, err := r.Inv()
		if err != nil {
			return sandbox.Secrets{}, err
		}
		for other := range inv.All() {
			further = append(further, bs.Machine.Keys(other)...)
		}
		further = slices.DeleteFunc(further, func(name string) bool { return !filepath.IsAbs(name) })
		slices.Sort(further)
		further = slices.Compact(further)
	}
	return sandbox.FindSecrets(ctx, look, h.Name, further)
}

// apart refuses a sandbox that lies among files of the keeper's own. Of one that holds such files it returns them.
func (bs *Boxes) apart(ctx context.Context, h hosts.Host, s sandbox.Sandbox, look sandbox.Runner) (held []string, err error) {
	if !bs.Machine.Is(h) {
		return nil, nil
	}
	at, err := sandbox.Remote{Run: look}.Resolve(ctx, h.Name, "/", append([]string{s.Path}, bs.Own...))
	if err != nil {
		return nil, err
	}
	for _, p := range at[1:] {
		if at[0] == p || strings.HasPrefix(at[0], p+"/") {
			return nil, fmt.Errorf("%w: %s on %s lies among Fairlead's own files. Choose another directory: fairlead sandbox edit %s --path DIR", problem.ErrSandbox, s.Path, h.Name, s.ID)
		}
		if strings.HasPrefix(p, at[0]+"/") {
			held = append(held, p)
		}
	}
	return held, nil
}

// exposed returns one of the paths that is not hidden, since it is not there yet: a program could make it.
func exposed(paths []string, hide sandbox.Secrets) (string, bool) {
	for _, p := range paths {
		in := func(dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
		if !slices.ContainsFunc(hide.Dirs, in) && !slices.Contains(hide.Files, p) {
			return p, true
		}
	}
	return "", false
}
