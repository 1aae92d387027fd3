package hosts

import (
	"cmp"
	"slices"
	"strings"
)

// Origins are the places of fields of hosts that stand elsewhere than in the host's own entry: in a group, a rule, the defaults, a
// source, or a variable of the environment. They are by the host's name and the field's; a label is a field of its own, "labels.KEY".
type Origins map[string]map[string]Pos

// WithOrigins returns inv with the places of fields. It keeps o, which must not change any more.
func (inv *Inventory) WithOrigins(o Origins) *Inventory {
	out := *inv
	out.origins = o
	return &out
}

// Origin returns the places in which a field of a host is set, as the inventory spells its name: the host's entry, unless
// [Inventory.WithOrigins] has been told of others. Only "labels" can have several.
func (inv *Inventory) Origin(h Host, field string) (all []Pos) {
	at := inv.origins[h.Name]
	if pos, ok := at[field]; ok {
		return []Pos{pos}
	}
	if field == "labels" {
		for key := range h.Labels {
			pos, ok := at["labels."+key]
			if !ok {
				pos = h.Source
			}
			if !slices.Contains(all, pos) {
				all = append(all, pos)
			}
		}
		slices.SortFunc(all, func(a, b Pos) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	}
	if len(all) == 0 {
		all = []Pos{h.Source}
	}
	return all
}
