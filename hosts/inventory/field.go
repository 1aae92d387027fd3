package inventory

import (
	"fmt"
	"strconv"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// field is one field of a host as files write it.
type field struct {
	name       string
	list       bool // a list of texts
	structured bool // more than texts: a variable must hold YAML
	ssh        bool // says how to reach a host over SSH
	read       func(*reader, *node) any
	apply      func(*hosts.Host, any)
}

// fields are all of them, but for labels, which are merged one by one: see settings.
var fields = []field{
	{name: "transport", read: word(transports...), apply: func(h *hosts.Host, v any) { h.Transport = hosts.Kind(v.(string)) }},
	{name: "addr", ssh: true, read: readAddr, apply: func(h *hosts.Host, v any) { h.Addr = v.(string) }},
	{name: "port", ssh: true, read: readPort, apply: func(h *hosts.Host, v any) { h.Port = v.(uint16) }},
	{name: "user", ssh: true, read: readUser, apply: func(h *hosts.Host, v any) { h.User = v.(string) }},
	{name: "via", list: true, ssh: true, read: readVia, apply: applyVia},
	{name: labels, list: true},
	{name: "tier", read: readTier, apply: func(h *hosts.Host, v any) { h.Tier = v.(string) }},
	{name: "identity", list: true, ssh: true, read: readTexts, apply: func(h *hosts.Host, v any) { h.Identity = v.([]string) }},
	{name: "ssh_config", ssh: true, read: readText, apply: func(h *hosts.Host, v any) { h.SSHConfig = v.(string) }},
	{name: "connect_timeout", read: readTimeout, apply: func(h *hosts.Host, v any) { h.ConnectTimeout = v.(time.Duration) }},
	{name: "shell", read: readShell, apply: func(h *hosts.Host, v any) { h.Shell = v.(string) }},
	{name: "login", read: readBool, apply: func(h *hosts.Host, v any) { h.Login = v.(bool) }},
	{name: "env", list: true, read: readEnv, apply: func(h *hosts.Host, v any) { h.Env = v.([]string) }},
	{name: "command", list: true, structured: true, read: readTexts, apply: func(h *hosts.Host, v any) { h.Command = v.([]string) }},
	{name: "become", read: readBecome, apply: func(h *hosts.Host, v any) { h.Become = v.(hosts.Become) }},
	{name: "forwards", list: true, ssh: true, read: readForwards, apply: func(h *hosts.Host, v any) { h.Forwards = v.([]hosts.Forward) }},
	{name: "ready", structured: true, read: readReady, apply: func(h *hosts.Host, v any) { h.Ready = v.([]hosts.Ready) }},
}

const labels = "labels"

var (
	transports = []string{"ssh", "local", "command", "demo"}
	shells     = []string{"auto", "bash", "zsh", "ksh", "mksh", "dash", "ash", "sh"}
)

// readAddr checks one address. A range is left to the entry that it belongs to.
func readAddr(r *reader, n *node) any {
	s, ok := r.text(n)
	if !ok {
		return nil
	}
	if err := checkAddr(s); err != nil && s != "" {
		return r.bad(n, "%q %v", clip(s), err)
	}
	return s
}

func readPort(r *reader, n *node) any {
	s, ok := r.text(n)
	if !ok {
		return nil
	}
	port, err := strconv.ParseUint(s, 10, 16)
	if err != nil || port == 0 {
		return r.bad(n, "%q is not between 1 and 65535", clip(s))
	}
	return uint16(port)
}

func readUser(r *reader, n *node) any {
	s, ok := r.text(n)
	if !ok {
		return nil
	}
	if err := hosts.CheckUser(s); err != nil && s != "" {
		return r.bad(n, "%q %v", clip(s), err)
	}
	return s
}

func readVia(r *reader, n *node) any {
	out := []ref{}
	for _, item := range r.items(n) {
		s, ok := r.text(item)
		if !ok {
			return nil
		}
		if err := hosts.CheckName(s); err != nil {
			return r.bad(item, "%q %v; it names a host of this inventory", clip(s), err)
		}
		out = append(out, ref{s, item.pos})
	}
	r.vias = append(r.vias, out...)
	return r.unless(n, out)
}

func readTier(r *reader, n *node) any {
	s, ok := r.text(n)
	if !ok {
		return nil
	}
	if err := hosts.CheckTier(s); err != nil {
		return r.bad(n, "%v", err)
	}
	if s == "unknown" {
		return "" // as if there were none
	}
	return s
}

func readTimeout(r *reader, n *node) any { return r.duration(n, 1) }

func readShell(r *reader, n *node) any {
	if s, ok := word(shells...)(r, n).(string); ok {
		if s == "mksh" {
			s = "ksh"
		}
		return s
	}
	return nil
}

func readBool(r *reader, n *node) any {
	switch s, ok := r.text(n); {
	case !ok:
		return nil
	case s == "true":
		return true
	case s == "false":
		return false
	}
	return r.bad(n, "must be true or false")
}

func readText(r *reader, n *node) any {
	if s, ok := r.text(n); ok {
		return s
	}
	return nil
}

func readTexts(r *reader, n *node) any {
	out := []string{}
	for _, item := range r.items(n) {
		s, ok := r.text(item)
		if !ok {
			return nil
		}
		if s == "" && len(out) == 0 {
			return r.bad(item, "must not be empty")
		}
		out = append(out, s)
	}
	return r.unless(n, out)
}

// readEnv never quotes a value in a message: it may be a secret.
func readEnv(r *reader, n *node) any {
	out, seen := []string{}, map[string]bool{}
	for i, item := range r.items(n) {
		s, ok := r.text(item)
		if !ok {
			return nil
		}
		key, err := envKey(s)
		if err != nil {
			return r.bad(item, "entry %d %v", i+1, err)
		}
		if seen[key] {
			return r.bad(item, "%s is there twice", key)
		}
		seen[key] = true
		out = append(out, s)
	}
	return r.unless(n, out)
}

// readBecome reads an account, or an account and how to become it.
func readBecome(r *reader, n *node) any {
	if n.kind != mapping {
		s, ok := r.text(n)
		if !ok {
			return nil
		}
		b, err := hosts.ParseBecome(s)
		if err != nil {
			return r.bad(n, "%v", err)
		}
		return b
	}
	if !r.mapping(n, "become", "user", "method") {
		return nil
	}
	b := hosts.Become{User: "root"}
	for key, to := range map[string]*string{"user": &b.User, "method": &b.Method} {
		if v := n.get(key); v != nil {
			s, ok := r.text(v)
			if !ok {
				return nil
			}
			*to = s
		}
	}
	if b.User == "" {
		return r.bad(n, "user must not be empty")
	}
	if err := b.Check(); err != nil {
		return r.bad(n, "%v", err)
	}
	return b
}

// readForwards reads what ssh's -L, -R and -D take, each with its option.
func readForwards(r *reader, n *node) any {
	out := []hosts.Forward{}
	for _, item := range r.items(n) {
		s, ok := r.text(item)
		if !ok {
			continue
		}
		f, err := hosts.ParseForwardLine(s)
		if err != nil {
			r.bad(item, "%v", err)
			continue
		}
		out = append(out, f)
	}
	return r.unless(n, out)
}

func readReady(r *reader, n *node) any {
	out := []hosts.Ready{}
	for _, item := range r.items(n) {
		if !r.mapping(item, "ready", "match", "check", "start", "wait") {
			return nil
		}
		var one hosts.Ready
		for key, to := range map[string]*string{"match": &one.Match, "check": &one.Check, "start": &one.Start} {
			if v := item.get(key); v != nil {
				s, ok := r.text(v)
				if !ok {
					return nil
				}
				*to = s
			}
		}
		if one.Match == "" || one.Check == "" {
			return r.bad(item, "match and check are required")
		}
		if w := item.get("wait"); w != nil {
			r.under("wait", func() { one.Wait, _ = r.duration(w, 0).(time.Duration) })
		}
		out = append(out, one)
	}
	return r.unless(n, out)
}

// envKey returns the name of a KEY=value, without ever repeating the value.
func envKey(s string) (string, error) {
	for i, c := range s {
		switch {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9' && i > 0:
		case c == '=' && i > 0:
			return s[:i], nil
		default:
			return "", fmt.Errorf("is not KEY=value")
		}
	}
	return "", fmt.Errorf("is not KEY=value")
}
