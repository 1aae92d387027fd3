package sshconn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// The ways to log in, as the protocol calls them.
const (
	byKey      = "publickey"
	byPassword = "password"
	byPrompts  = "keyboard-interactive"
)

// methods are the ways in which one host may be logged in to.
type methods struct {
	order   []string          // in which they are tried
	off     map[string]string // why others are not
	prompts int               // how often a password, and how often prompts are tried
}

// allMethods is OpenSSH's order.
func allMethods() methods {
	return methods{order: []string{byKey, byPrompts, byPassword}, prompts: sshconfig.DefaultNumberOfPasswordPrompts}
}

// methodsOf is what ssh_config says. A host that can be logged in to in no way is an error.
func methodsOf(s sshconfig.Settings) (methods, error) {
	m := allMethods()
	m.prompts, m.off = s.NumberOfPasswordPrompts.V, map[string]string{}
	off := func(method, why string) {
		if _, ok := m.off[method]; !ok {
			m.off[method] = why
		}
		m.order = slices.DeleteFunc(m.order, func(o string) bool { return o == method })
	}
	if p := s.PreferredAuthentications; p.V != "" {
		listed := strings.Split(p.V, ",")
		for _, method := range slices.Clone(m.order) {
			if !slices.Contains(listed, method) {
				off(method, fmt.Sprintf("%s: PreferredAuthentications %s", p.Source(), p.V))
			}
		}
		slices.SortStableFunc(m.order, func(a, b string) int { return slices.Index(listed, a) - slices.Index(listed, b) })
	}
	for _, f := range []struct {
		method, keyword string
		v               sshconfig.Value[bool]
	}{
		{byKey, "PubkeyAuthentication", s.PubkeyAuthentication},
		{byPassword, "PasswordAuthentication", s.PasswordAuthentication},
		{byPrompts, "KbdInteractiveAuthentication", s.KbdInteractiveAuthentication},
	} {
		if !f.v.V {
			off(f.method, fmt.Sprintf("%s: %s no", f.v.Source(), f.keyword))
		}
	}
	for _, method := range []string{byPassword, byPrompts} {
		if s.BatchMode.V {
			off(method, s.BatchMode.Source()+": BatchMode yes")
		}
		if m.prompts < 1 {
			off(method, fmt.Sprintf("%s: NumberOfPasswordPrompts %d", s.NumberOfPasswordPrompts.Source(), m.prompts))
		}
	}
	if len(m.order) == 0 {
		return m, fmt.Errorf("%s, and no other way to log in is allowed: change it for this host", m.off[byKey])
	}
	return m, nil
}

// String tells one from another.
func (m methods) String() string { return fmt.Sprint(m.order, m.prompts) }
