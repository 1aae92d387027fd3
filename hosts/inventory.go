package hosts

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
)

// Inventory is a set of hosts and groups that never changes. The zero Inventory is empty. It is safe for concurrent use.
type Inventory struct {
	hosts   []Host
	index   map[string]int // name to place in hosts
	groups  []Group
	byGroup map[string]int // name to place in groups
	logins  *logins        // nil means that there are no credentials
	origins Origins        // nil means that all is in the hosts' own entries
}

// Group is a named set of hosts.
type Group struct {
	Name     string
	Children []string // groups inside this one
	Hosts    []string // every member, those of children included, in file order; filled in by NewInventory
	Source   Pos
}

// NewInventory makes an inventory of hosts, in the order given. It copies what it is given, slices and maps included.
//
// A host says itself which groups it is in ([Host.Groups]); groups adds those that hold nobody, and what they hold inside.
// Groups that only hosts mention are added after them. A name that is bad or there twice is an error; all such errors are
// reported, joined. What Via and Children name is not checked here: that is for the loader, who knows the lines.
func NewInventory(hosts []Host, groups []Group) (*Inventory, error) {
	inv := &Inventory{index: make(map[string]int, len(hosts)), byGroup: make(map[string]int, len(groups))}
	var errs []error
	for _, g := range groups {
		if err := CheckGroup(g.Name); err != nil {
			errs = append(errs, problem(g.Source, "group name %q %w", shorten(g.Name), err))
			continue
		}
		if _, double := inv.byGroup[g.Name]; double {
			errs = append(errs, problem(g.Source, "group %q is there twice", g.Name))
			continue
		}
		inv.addGroup(Group{Name: g.Name, Children: slices.Clone(g.Children), Source: g.Source})
	}
	for _, h := range hosts {
		if err := CheckName(h.Name); err != nil {
			errs = append(errs, problem(h.Source, "host name %q %w", shorten(h.Name), err))
			continue
		}
		if _, double := inv.index[h.Name]; double {
			errs = append(errs, problem(h.Source, "host %q is there twice", h.Name))
			continue
		}
		inv.index[h.Name] = len(inv.hosts)
		inv.hosts = append(inv.hosts, h.clone())
		for _, name := range h.Groups {
			i, ok := inv.byGroup[name]
			if !ok {
				i = inv.addGroup(Group{Name: name})
			}
			inv.groups[i].Hosts = append(inv.groups[i].Hosts, h.Name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return inv, nil
}

func (inv *Inventory) addGroup(g Group) int {
	inv.groups = append(inv.groups, g)
	inv.byGroup[g.Name] = len(inv.groups) - 1
	return len(inv.groups) - 1
}

// clone copies everything h refers to.
func (h Host) clone() Host {
	h.Via, h.Groups, h.Identity = slices.Clone(h.Via), slices.Clone(h.Groups), slices.Clone(h.Identity)
	h.Env, h.Command, h.Ready = slices.Clone(h.Env), slices.Clone(h.Command), slices.Clone(h.Ready)
	h.SSHOptions = slices.Clone(h.SSHOptions)
	h.Labels = maps.Clone(h.Labels)
	return h
}

// Len returns the number of hosts.
func (inv *Inventory) Len() int { return len(inv.hosts) }

// All yields every host in file order.
func (inv *Inventory) All() iter.Seq[Host] {
	return func(yield func(Host) bool) {
		for _, h := range inv.hosts {
			if !yield(inv.login(h)) {
				return
			}
		}
	}
}

// Groups yields every group in file order. Do not modify their slices.
func (inv *Inventory) Groups() iter.Seq[Group] { return slices.Values(inv.groups) }

// Lookup returns the host of that exact name. An unknown name is a [*NoMatchError], which is [ErrNotFound], with near
// misses in its text.
func (inv *Inventory) Lookup(name string) (Host, error) {
	i, ok := inv.index[name]
	if !ok {
		return Host{}, &NoMatchError{Hosts: []string{name}, Near: near.Find(name, inv.names())}
	}
	return inv.login(inv.hosts[i]), nil
}

// Select returns the hosts that sel picks, in file order, or a [*NoMatchError]: when sel picks nobody ([ErrNoMatch]), and
// also ([ErrNotFound]) when it names a host or a group that does not exist anywhere in it, an exclusion included, however
// many others it picks. A range names each of its hosts. A typo must not look like success.
func (inv *Inventory) Select(sel Selector) ([]Host, error) {
	if err := inv.Check(sel); err != nil {
		return nil, err
	}
	var out []Host
	for _, h := range inv.hosts {
		if sel.Match(h) {
			out = append(out, inv.login(h))
		}
	}
	if len(out) == 0 {
		return nil, &NoMatchError{Selector: sel.String(), Near: inv.nearMisses(sel)}
	}
	return out, nil
}

// Check reports the hosts and groups that sel names and that do not exist, as a [*NoMatchError] that is [ErrNotFound].
func (inv *Inventory) Check(sel Selector) error {
	missing := NoMatchError{Selector: sel.String()}
	sel.walk(func(e expr) {
		switch e := e.(type) {
		case *nameExpr:
			for _, n := range e.names {
				if _, ok := inv.index[n]; !ok {
					missing.Hosts = append(missing.Hosts, n)
				}
			}
		case *groupExpr:
			if _, ok := inv.byGroup[e.name]; !ok {
				missing.Groups = append(missing.Groups, "@"+e.name)
			}
		}
	})
	if len(missing.Hosts)+len(missing.Groups) == 0 {
		return nil
	}
	if padded := inv.padded(missing.Hosts); padded != nil {
		missing.Near = append(missing.Near, Fold(padded))
	} else {
		missing.Near = inv.nearNames(missing.Hosts)
	}
	for _, g := range missing.Groups[:min(near.Max, len(missing.Groups))] {
		for _, n := range near.Find(g[1:], inv.groupNames()) {
			missing.Near = append(missing.Near, "@"+n)
		}
	}
	missing.Near = firstOf(append(inv.otherwise(&missing), missing.Near...))
	return &missing
}

// nearNames are hosts that may have been meant by the first of some names.
func (inv *Inventory) nearNames(names []string) (found []string) {
	for _, n := range names[:min(near.Max, len(names))] {
		found = append(found, near.Find(n, inv.names())...)
	}
	return found
}

// otherwise are selectors of hosts that there are, for names that are right elsewhere: a group without its @, web1..3, and
// @web-web1 for all of a group but one; and for a group that is not there, hosts that are named so.
func (inv *Inventory) otherwise(missing *NoMatchError) (found []string) {
	for _, n := range missing.Hosts[:min(near.Max, len(missing.Hosts))] {
		if _, ok := inv.byGroup[n]; ok {
			found = append(found, "@"+n)
		} else if other := habit(n); other != "" {
			if sel, err := ParseSelector(other); err == nil && inv.Check(sel) == nil {
				found = append(found, other)
			}
		}
	}
	for _, g := range missing.Groups[:min(near.Max, len(missing.Groups))] {
		name := g[1:]
		for i := range len(name) {
			_, ok := inv.byGroup[name[:i]]
			if !ok || name[i] != '-' {
				continue
			}
			for _, rest := range []string{strings.TrimPrefix(name[i+1:], "@"), "@" + strings.TrimPrefix(name[i+1:], "@")} {
				if sel, err := ParseSelector("@" + name[:i] + ",!" + rest); err == nil && inv.Check(sel) == nil {
					found = append(found, sel.String())
				}
			}
		}
		if _, ok := inv.index[name]; ok {
			found = append(found, name)
		} else if sel, err := ParseSelector(name + "*"); err == nil && slices.ContainsFunc(inv.hosts, sel.Match) {
			found = append(found, name+"*")
		}
	}
	return found
}

// padded are the hosts whose names are some of these but for zeros before numbers, as lab001 is lab1; nil where they are not
// several.
func (inv *Inventory) padded(names []string) []string {
	if len(names) < 2 {
		return nil
	}
	twins := make(map[string]string, len(inv.hosts))
	for name := range inv.names() {
		twins[near.Unpadded(name)] = name
	}
	all := make([]string, 0, len(names))
	for _, n := range names {
		if twin, ok := twins[near.Unpadded(n)]; ok {
			all = append(all, twin)
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// CheckLabels is [Inventory.Check] for what is written once and used later, such as a rule: it reports labels as well that no
// host has, with that value where the selector names one, and tiers of which there is no host; prod, staging and dev are always known, and
// those in known.
func (inv *Inventory) CheckLabels(sel Selector, known ...string) error {
	missing := &NoMatchError{Selector: sel.String()}
	if err := inv.Check(sel); err != nil {
		missing = err.(*NoMatchError)
	}
	sel.walk(func(e expr) {
		l, ok := e.(*labelExpr)
		if !ok || l.key == "tier" && (l.glob || inv.HasTier(l.value) || slices.Contains(known, l.value)) {
			return
		}
		positive := labelExpr{key: l.key, value: l.value, glob: l.glob}
		if slices.ContainsFunc(inv.hosts, func(h Host) bool { return positive.match(&h) }) {
			return
		}
		missing.Labels = append(missing.Labels, positive.String())
	})
	if len(missing.Labels) > 0 {
		missing.Near = firstOf(append(missing.Near, inv.nearMisses(sel)...))
	}
	if len(missing.Hosts)+len(missing.Groups)+len(missing.Labels) == 0 {
		return nil
	}
	return missing
}

// nearMisses looks at the labels of a selector that matched nothing: a key or a value that nobody has is likely the typo.
func (inv *Inventory) nearMisses(sel Selector) []string {
	var out []string
	sel.walk(func(e expr) {
		l, ok := e.(*labelExpr)
		if !ok || l.glob || len(out) >= near.Max || slices.ContainsFunc(inv.hosts, func(h Host) bool { return l.match(&h) }) {
			return
		}
		if values := slices.Collect(inv.labelValues(l.key)); len(values) > 0 {
			for _, v := range near.Find(l.value, slices.Values(values)) {
				out = append(out, (&labelExpr{key: l.key, value: v, not: l.not}).String())
			}
			return
		}
		for _, k := range near.Find(l.key, inv.labelKeys()) {
			out = append(out, (&labelExpr{key: k, value: l.value, not: l.not}).String())
		}
	})
	return firstOf(out)
}

// firstOf drops doubles and keeps as many words as a message bears.
func firstOf(words []string) []string {
	var out []string
	for _, w := range words {
		if len(out) < near.Max && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func (inv *Inventory) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range inv.hosts {
			if !yield(inv.hosts[i].Name) {
				return
			}
		}
	}
}

func (inv *Inventory) groupNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range inv.groups {
			if !yield(inv.groups[i].Name) {
				return
			}
		}
	}
}

// labelKeys yields the keys in use, sorted, so that messages are the same every time.
func (inv *Inventory) labelKeys() iter.Seq[string] {
	keys := map[string]struct{}{"tier": {}}
	for i := range inv.hosts {
		for k := range inv.hosts[i].Labels {
			keys[k] = struct{}{}
		}
	}
	return slices.Values(slices.Sorted(maps.Keys(keys)))
}

func (inv *Inventory) labelValues(key string) iter.Seq[string] {
	values := map[string]struct{}{}
	for _, h := range inv.hosts {
		if v, ok := h.label(key); ok {
			values[v] = struct{}{}
		}
	}
	return slices.Values(slices.Sorted(maps.Keys(values)))
}

// problem returns an error at a position. The cause, if any, is part of the text.
func problem(pos Pos, format string, args ...any) error {
	return &ParseError{Pos: pos, Msg: fmt.Errorf(format, args...).Error()}
}
