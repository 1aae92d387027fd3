package keeper

import (
	"path/filepath"
	"slices"

	judging "github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
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
