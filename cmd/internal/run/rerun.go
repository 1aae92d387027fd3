package run

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// stillThere are those of a run's hosts that --except does not pick, by their place in picked. A host that has left the inventory
// since is an error, so that the rest is not taken for all, until --except names it.
func (o *Options) stillThere(rec *runstore.Record, picked []runstore.Host) (map[int]hosts.Host, error) {
	sel := targets.Resolver{Inventory: o.Inventory, In: o.listInput(), Reach: o.Reach}
	all, lacking := make([]hosts.Host, len(picked)), make([]bool, len(picked))
	for i, p := range picked {
		switch hs, err := sel.Resolve(p.Name, ""); {
		case errors.Is(err, hosts.ErrNotFound):
			all[i], lacking[i] = hosts.Host{Name: p.Name}, true
		case err != nil:
			return nil, &cmdutil.UsageError{Err: err}
		default:
			all[i] = hs[0]
		}
	}
	not, err := sel.Except(o.Except, all)
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	at := map[int]hosts.Host{}
	var gone []string
	for i, h := range all {
		switch {
		case not.Match(h):
		case lacking[i]:
			gone = append(gone, h.Name)
		default:
			at[i] = h
		}
	}
	switch {
	case len(gone) > 0:
		names := hosts.Fold(gone)
		return nil, cmdutil.Usagef("%s of %s: not in the inventory any more; to run it on the others, add: --except %s", names, rec.ID, printable.Word(names))
	case len(at) == 0:
		return nil, cmdutil.Usagef("no host is left after --except")
	}
	return at, nil
}
