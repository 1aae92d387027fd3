package inventory

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// credential is one item of credentials.
type credential struct {
	hosts.Credential
	at  hosts.Pos // of the selector
	bad bool      // something is wrong with it that was reported
}

// credential reads one.
func (r *reader) credential(n *node) (c credential) {
	before := len(r.errs)
	defer func() { c.bad = len(r.errs) > before }()
	if !r.mapping(n, "credentials", "principals", "hosts", "user", "identity", "sandboxed") {
		return c
	}
	c.Source = n.pos
	read := func(key string, f func(*node)) bool {
		v := n.get(key)
		if v != nil {
			r.under(key, func() { f(v) })
		}
		return v != nil
	}
	if !read("principals", func(v *node) { c.Principals = r.principals(v) }) {
		r.add(n.pos, "a credential without principals: say whom it is for")
	}
	if !read("hosts", func(v *node) { c.Hosts, c.at = r.selector(v), v.pos }) {
		r.add(n.pos, "a credential without hosts: say where it is for")
	}
	user := read("user", func(v *node) {
		var ok bool
		if c.User, ok = readUser(r, v).(string); ok && c.User == "" {
			r.add(v.pos, "must not be empty")
		}
	})
	if !read("identity", func(v *node) { c.Identity = r.keyFiles(v) }) && !user {
		r.add(n.pos, "a credential without user and identity: say the account, the keys, or both")
	}
	read("sandboxed", func(v *node) {
		if c.Sandboxed, _ = readBool(r, v).(bool); c.Sandboxed && !user {
			r.add(v.pos, "is about an account: say which with user")
		}
	})
	return c
}

func (r *reader) principals(n *node) (out []string) {
	items := r.items(n)
	if n.kind == list && len(items) == 0 {
		r.add(n.pos, "names no principal")
	}
	for _, item := range items {
		s, ok := r.text(item)
		if !ok {
			continue
		}
		if err := hosts.CheckPrincipal(s); err != nil {
			r.add(item.pos, "%q %v", clip(s), err)
			continue
		}
		if slices.Contains(out, s) {
			r.add(item.pos, "%q is there twice", clip(s))
			continue
		}
		out = append(out, s)
	}
	return out
}

// selector reads an expression over hosts; it is zero where it could not be read.
func (r *reader) selector(n *node) (sel hosts.Selector) {
	s, ok := r.text(n)
	if !ok {
		return sel
	}
	sel, err := hosts.ParseSelector(s)
	if err != nil {
		r.wrap(n.pos, fmt.Sprintf("hosts %q", clip(s)), err)
	}
	return sel
}

// keyFiles reads the names of private keys, which must not depend on where the reader of the files is.
func (r *reader) keyFiles(n *node) (out []string) {
	items := r.items(n)
	if n.kind == list && len(items) == 0 {
		r.add(n.pos, "names no key")
	}
	for _, item := range items {
		s, ok := r.text(item)
		switch {
		case !ok:
		case !filepath.IsAbs(s) && (!strings.HasPrefix(s, "~/") || s == "~/"):
			r.add(item.pos, "%q is not the whole path of a file, which begins with / or ~/", clip(s))
		case slices.Contains(out, s):
			r.add(item.pos, "%q is there twice", clip(s))
		default:
			out = append(out, s)
		}
	}
	return out
}

// credentials are those of the file, as values, but for bad ones.
func (doc *document) credentials() (out []hosts.Credential) {
	for _, c := range doc.creds {
		if !c.bad {
			out = append(out, c.Credential)
		}
	}
	return out
}

// checkCredentials reports what can be said about credentials once there are hosts: names that do not exist, and two for
// one principal and host that do not say the same.
func checkCredentials(p *problems, doc *document, all []hosts.Host) {
	if len(doc.creds) == 0 {
		return
	}
	inv, err := doc.plain(all)
	if err != nil {
		return // reported
	}
	for _, c := range doc.creds {
		if err := inv.Check(c.Hosts); err != nil {
			p.wrap(c.at, "hosts", err)
		}
	}
	_, err = inv.WithCredentials(doc.credentials())
	for _, err := range flat(err) {
		if pe, ok := errors.AsType[*hosts.ParseError](err); ok {
			p.errs = append(p.errs, pe)
		}
	}
}

// flat takes joined errors apart.
func flat(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, flat(e)...)
		}
		return out
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
