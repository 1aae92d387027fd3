package completion

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Jobs completes the first argument with the jobs that the keeper knows of, if one runs: those of single hosts, and those of
// several hosts under one name.
func Jobs(f *cmdutil.Factory) Func {
	return Words(1, func(ctx context.Context) []string {
		c, err := f.Keepers.Find(ctx)
		if err != nil {
			return nil
		}
		defer c.Close()
		names, err := c.KnownJobs(ctx)
		if err != nil {
			return nil
		}
		return append(jobGroups(names), names...)
	})
}

// jobGroups are the names of the jobs that are on several hosts. Each member is HOST/ID-NUMBER.
func jobGroups(names []string) (groups []string) {
	on := map[string][]string{}
	var order []string
	for _, name := range names {
		host, id, _ := strings.Cut(name, "/")
		base, _, several := strings.Cut(id, "-")
		if !several || strings.ContainsAny(host, "@:") {
			continue
		}
		if on[base] == nil {
			order = append(order, base)
		}
		on[base] = append(on[base], host)
	}
	for _, base := range order {
		slices.Sort(on[base])
		groups = append(groups, hosts.Fold(slices.Compact(on[base]))+"/"+base)
	}
	return groups
}
