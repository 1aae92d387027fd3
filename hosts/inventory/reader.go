package inventory

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
)

// ref is a name that stands for something declared elsewhere.
type ref struct {
	name string
	pos  hosts.Pos
}

func names(refs []ref) []string {
	var out []string
	for _, r := range refs {
		out = append(out, r.name)
	}
	return out
}

// reader turns values into fields. What it finds wrong goes to problems, and the value in question counts as not set.
type reader struct {
	*problems
	key  string // what is being read, for messages; "" if they name it themselves
	vias []ref  // every jump host mentioned anywhere
}

// under reads the value of key with f.
func (r *reader) under(key string, f func()) {
	before := r.key
	r.key = key
	f()
	r.key = before
}

// add notes a problem with what is being read.
func (r *reader) add(pos hosts.Pos, format string, args ...any) {
	if r.key != "" {
		format, args = "%s: "+format, append([]any{r.key}, args...)
	}
	r.problems.add(pos, format, args...)
}

// bad notes a problem and returns nil, for a field's reader to return.
func (r *reader) bad(n *node, format string, args ...any) any {
	r.add(n.pos, format, args...)
	return nil
}

// unless returns v if n was a list, for readers of lists: items has reported what it was otherwise.
func (r *reader) unless(n *node, v any) any {
	if n.kind != list {
		return nil
	}
	return v
}

func (r *reader) text(n *node) (string, bool) {
	switch n.kind {
	case scalar:
		if i := strings.IndexFunc(n.text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }); i >= 0 {
			r.add(n.pos, "the value holds the control character %U", n.text[i])
			return "", false
		}
		return n.text, true
	case null:
		r.add(n.pos, `a value is missing; the empty text is ""`)
	default:
		r.add(n.pos, "expected a single value, not %s", n.kind)
	}
	return "", false
}

func (r *reader) items(n *node) []*node {
	if n.kind != list {
		r.add(n.pos, "expected a list, as in [a, b], not %s", n.kind)
	}
	return n.items
}

// mapping checks that n is a mapping with no other keys than known.
func (r *reader) mapping(n *node, where string, known ...string) bool {
	if n.kind != mapping {
		r.problems.add(n.pos, "%s: expected a mapping, as in {%s: …}, not %s", where, known[0], n.kind)
		return false
	}
	n.onlyKeys(r.problems, "in "+where, known)
	return true
}

// word returns a reader of one of a few words. The empty text takes an outer value away.
func word(known ...string) func(*reader, *node) any {
	return func(r *reader, n *node) any {
		s, ok := r.text(n)
		switch {
		case !ok:
			return nil
		case s != "" && !slices.Contains(known, s):
			return r.bad(n, "%q is not one of %s%s", clip(s), strings.Join(known, ", "), near.Hint(near.Find(s, slices.Values(known))))
		}
		return s
	}
}

func (r *reader) duration(n *node, least time.Duration) any {
	s, ok := r.text(n)
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil && s != "" && strings.Trim(s, "0123456789.") == "":
		return r.bad(n, "%s has no unit: write %ss for seconds", clip(s), clip(s))
	case err != nil:
		return r.bad(n, "%q is not a duration such as 10s or 2m30s", clip(s))
	case d < least:
		return r.bad(n, "%s is too short", s)
	}
	return d
}

// checkAddr accepts a DNS name, an IP literal, or a range of either.
func checkAddr(s string) error {
	if _, err := netip.ParseAddr(s); err == nil {
		return nil
	}
	switch {
	case strings.HasPrefix(s, "["):
		return errors.New("is an address without brackets, and the port has a field of its own")
	case strings.Contains(s, "@"):
		return errors.New("must not hold a user: that has a field of its own")
	case strings.Count(s, ":") == 1:
		return errors.New("must not hold a port: that has a field of its own")
	}
	if strings.Contains(s, "[") {
		if _, err := hosts.Expand(s); err != nil {
			return fmt.Errorf("is not a range: %s", strings.TrimPrefix(err.Error(), "hosts: selector, "))
		}
		return nil
	}
	return hosts.CheckName(s)
}

// settings are the fields that one place sets, by name. A label is a field of its own, "labels.KEY".
type settings map[string]setting

type setting struct {
	value any
	pos   hosts.Pos
	apply func(*hosts.Host, any)
}

// settings reads the fields in a mapping. extra are keys that the caller reads.
func (r *reader) settings(n *node, where string, extra ...string) settings {
	known := slices.Clone(extra)
	for _, f := range fields {
		known = append(known, f.name)
	}
	if !r.mapping(n, where, known...) {
		return nil
	}
	out := settings{}
	for _, kv := range n.pairs {
		if slices.Contains(extra, kv.key) {
			continue
		}
		if kv.key == labels {
			r.under(labels, func() { r.labels(kv.val, out) })
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == kv.key })
		if i < 0 {
			continue // reported
		}
		r.under(kv.key, func() {
			if v := fields[i].read(r, kv.val); v != nil {
				out[kv.key] = setting{v, kv.val.pos, fields[i].apply}
			}
		})
	}
	return out
}

func (r *reader) labels(n *node, out settings) {
	for _, item := range r.items(n) {
		s, ok := r.text(item)
		if !ok {
			continue
		}
		key, value, found := strings.Cut(s, "=")
		if !found {
			r.add(item.pos, "%q is not key=value", clip(s))
			continue
		}
		if err := hosts.CheckLabel(key, value); err != nil {
			r.add(item.pos, "%q %v", clip(key), err)
			continue
		}
		if _, double := out[labels+"."+key]; double {
			r.add(item.pos, "%q is there twice", key)
			continue
		}
		out[labels+"."+key] = setting{value, item.pos, func(h *hosts.Host, v any) {
			if h.Labels == nil {
				h.Labels = map[string]string{}
			}
			h.Labels[key] = v.(string)
		}}
	}
}

// single reports an address that is a range where only one host's can be.
func (r *reader) single(s settings) {
	if addr, ok := s["addr"]; ok && strings.Contains(addr.value.(string), "[") {
		r.add(addr.pos, "addr: a range is for entries of hosts whose name is one too")
		delete(s, "addr")
	}
}
