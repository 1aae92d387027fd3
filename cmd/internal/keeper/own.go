package keeper

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
	judging "github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// ownPaths are the files and directories of this keeper, which no agent may use and no sandbox shows.
func (c Config) ownPaths() []string {
	all := slices.Concat(c.Own, []string{c.AuditDir, c.Recordings, c.ApprovalsDir, c.Inventory, c.AgentDoor.Socket, c.TCP.KeyFile}, c.PolicyFiles)
	if c.Store != nil {
		all = append(all, c.Store.Files()...)
	}
	all = slices.DeleteFunc(all, func(name string) bool { return !filepath.IsAbs(name) || filepath.Clean(name) == "/" })
	slices.Sort(all)
	return slices.Compact(all)
}

// withOwn adds what is this keeper's own to an engine.
func (k *Keeper) withOwn(e *rules.Engine) *rules.Engine {
	return e.WithOwn(judging.Own{Paths: k.cfg.ownPaths()}, k.machine.Is)
}

// hidden is what a sandbox on a host must not show: the keys of the account there, and where the host is this machine the
// keeper's own files and the keys that it logs in with.
func (k *Keeper) hidden(ctx context.Context, r *realm.Realm, h hosts.Host, look sandbox.Runner) (sandbox.Secrets, error) {
	var further []string
	if k.machine.Is(h) {
		sock, _ := ctx.Value(connect.AuthSockKey{}).(string)
		further = append(k.cfg.ownPaths(), r.Key.Inventory, sock, k.cfg.AgentDoor.AuthSock, os.Getenv("SSH_AUTH_SOCK"))
		inv, err := r.Inv()
		if err != nil {
			return sandbox.Secrets{}, err
		}
		for other := range inv.All() {
			further = append(further, k.machine.Keys(other)...)
		}
		further = slices.DeleteFunc(further, func(name string) bool { return !filepath.IsAbs(name) })
		slices.Sort(further)
		further = slices.Compact(further)
	}
	return sandbox.FindSecrets(ctx, look, h.Name, further)
}

// apart refuses a sandbox that lies among files of the keeper's own. Of one that holds such files it returns them.
func (k *Keeper) apart(ctx context.Context, h hosts.Host, s sandbox.Sandbox, look sandbox.Runner) (held []string, err error) {
	if !k.machine.Is(h) {
		return nil, nil
	}
	at, err := sandbox.Remote{Run: look}.Resolve(ctx, h.Name, "/", append([]string{s.Path}, k.cfg.ownPaths()...))
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
