package inventory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// checkVias reports jump hosts that do not exist, wherever they are named.
func (r *resolver) checkVias() {
	var all []string
	for _, v := range r.doc.vias {
		if _, ok := r.index[v.name]; ok {
			continue
		}
		if all == nil {
			for _, m := range r.machines {
				all = append(all, m.name)
			}
		}
		r.add(v.pos, "via %q is not a host of this inventory%s", v.name, r.unknown(v.name, all))
	}
}

// checkTransport drops what does not go with the transport, and reports it where it is the host's own.
func (r *resolver) checkTransport(m *machine, h *hosts.Host) {
	own := func(field string) (hosts.Pos, bool) {
		s, ok := m.own[field]
		return s.pos, ok && !isZero(s.value)
	}
	if h.Transport == hosts.Command && len(h.Command) == 0 {
		pos := m.pos
		if at, ok := own("transport"); ok {
			pos = at
		}
		r.once(pos, "transport command needs a command, as in command: [docker, exec, -i, box, sh]")
	}
	if h.Transport != hosts.Command && len(h.Command) > 0 {
		if pos, ok := own("command"); ok {
			r.once(pos, "command goes with transport: command only")
		}
		h.Command = nil
	}
	if h.Transport == "" || h.Transport == hosts.SSH {
		return
	}
	for _, f := range fields {
		if !f.ssh {
			continue
		}
		if pos, ok := own(f.name); ok {
			r.once(pos, fmt.Sprintf("%s has no meaning for transport %s", f.name, h.Transport))
		}
	}
	h.Addr, h.Port, h.User, h.Via, h.Identity, h.SSHConfig, h.Forwards = "", 0, "", nil, nil, "", nil
}

// isZero reports whether a value only takes an outer one away.
func isZero(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []string:
		return len(v) == 0
	case []ref:
		return len(v) == 0
	}
	return false
}

// once adds a problem unless it is there: the hosts of one entry share theirs.
func (r *resolver) once(pos hosts.Pos, msg string) {
	if key := pos.String() + msg; !r.said[key] {
		r.said[key] = true
		r.add(pos, "%s", msg)
	}
}

// checkRoutes reports jump hosts that cannot be one, and routes that lead back to where they began. A jump host is itself
// reached through its own via.
func (r *resolver) checkRoutes(all []hosts.Host) {
	byName := make(map[string]*hosts.Host, len(all))
	for i := range all {
		byName[all[i].Name] = &all[i]
	}
	for _, v := range r.doc.vias {
		if h := byName[v.name]; h != nil && h.Transport != "" && h.Transport != hosts.SSH {
			r.add(v.pos, "via %q cannot be a jump host: its transport is %s", v.name, h.Transport)
		}
	}
	done, on := map[string]bool{}, map[string]bool{} // on the path from where a route began
	var path []string
	var visit func(h *hosts.Host)
	visit = func(h *hosts.Host) {
		if on[h.Name] {
			circle := append(slices.Clone(path[slices.Index(path, h.Name):]), h.Name)
			r.add(r.viaPos(path[len(path)-1], h.Name), "via leads in a circle: %s; a jump host in the group it serves needs via: []",
				clip(strings.Join(circle, " > ")))
			return
		}
		if done[h.Name] {
			return
		}
		done[h.Name], on[h.Name] = true, true
		path = append(path, h.Name)
		for _, name := range h.Via {
			if next := byName[name]; next != nil {
				visit(next)
			}
		}
		path = path[:len(path)-1]
		on[h.Name] = false
	}
	for i := range all {
		visit(&all[i])
	}
}

// viaPos returns where it is said that host is reached via hop.
func (r *resolver) viaPos(host, hop string) hosts.Pos {
	m := r.index[host]
	set, _ := r.settle(m)
	if refs, ok := set["via"].value.([]ref); ok {
		for _, v := range refs {
			if v.name == hop {
				return v.pos
			}
		}
	}
	return m.pos
}
