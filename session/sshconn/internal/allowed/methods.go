package allowed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// The ways to log in, as the protocol calls them.
const (
	ByKey      = "publickey"
	ByPassword = "password"
	ByPrompts  = "keyboard-interactive"
)

// Methods are the ways in which one host may be logged in to.
type Methods struct {
	Order   []string          // in which they are tried
	Off     map[string]string // why others are not
	Prompts int               // how often a password, and how often prompts are tried
}

// AllMethods is OpenSSH's order.
func AllMethods() Methods {
	return Methods{Order: []string{ByKey, ByPrompts, ByPassword}, Prompts: sshconfig.DefaultNumberOfPasswordPrompts}
}

// MethodsOf is what ssh_config says. A host that can be logged in to in no way is an error.
func MethodsOf(s sshconfig.Settings) (Methods, error) {
	m := AllMethods()
	m.Prompts, m.Off = s.NumberOfPasswordPrompts.V, map[string]string{}
	off := func(method, why string) {
		if _, ok := m.Off[method]; !ok {
			m.Off[method] = why
		}
		m.Order = slices.DeleteFunc(m.Order, func(o string) bool { return o == method })
	}
	if p := s.PreferredAuthentications; p.V != "" {
		listed := strings.Split(p.V, ",")
		for _, method := range slices.Clone(m.Order) {
			if !slices.Contains(listed, method) {
				off(method, fmt.Sprintf("%s: PreferredAuthentications %s", p.Source(), p.V))
			}
		}
		slices.SortStableFunc(m.Order, func(a, b string) int { return slices.Index(listed, a) - slices.Index(listed, b) })
	}
	for _, f := range []struct {
		method, keyword string
		v               sshconfig.Value[bool]
	}{
		{ByKey, "PubkeyAuthentication", s.PubkeyAuthentication},
		{ByPassword, "PasswordAuthentication", s.PasswordAuthentication},
		{ByPrompts, "KbdInteractiveAuthentication", s.KbdInteractiveAuthentication},
	} {
		if !f.v.V {
			off(f.method, fmt.Sprintf("%s: %s no", f.v.Source(), f.keyword))
		}
	}
	for _, method := range []string{ByPassword, ByPrompts} {
		if s.BatchMode.V {
			off(method, s.BatchMode.Source()+": BatchMode yes")
		}
		if m.Prompts < 1 {
			off(method, fmt.Sprintf("%s: NumberOfPasswordPrompts %d", s.NumberOfPasswordPrompts.Source(), m.Prompts))
		}
	}
	if len(m.Order) == 0 {
		return m, fmt.Errorf("%s, and no other way to log in is allowed: change it for this host", m.Off[ByKey])
	}
	return m, nil
}

// String tells one from another.
func (m Methods) String() string { return fmt.Sprint(m.Order, m.Prompts) }
