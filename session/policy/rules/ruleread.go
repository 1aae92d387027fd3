package rules

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

const maxRules = 1000

func (p *problems) rules(n *yaml.Node) []*rule {
	if n.Kind != yaml.SequenceNode {
		p.Add(n.Line, "rules: expected a list of rules, each beginning with - name:")
		return nil
	}
	if len(n.Content) > maxRules {
		p.Add(n.Line, "rules: more than %d of them", maxRules)
		return nil
	}
	var out []*rule
	lines := map[string]int{}
	for _, c := range n.Content {
		before := len(p.Found())
		r, examples := p.rule(c)
		if r == nil {
			continue
		}
		if r.name != "" {
			if first, twice := lines[r.name]; twice {
				p.Add(c.Line, "rule %q: the name is taken by the rule on line %d", strictyaml.Clip(r.name), first)
			}
			lines[r.name] = c.Line
		}
		if len(p.Found()) == before {
			p.check(r, examples)
		}
		out = append(out, r)
	}
	return out
}

// example is a command that a rule must, or must not, match.
type example struct {
	line    int
	command string
	match   bool
}

func (p *problems) rule(n *yaml.Node) (*rule, []example) {
	f := p.Fields(n, "a rule", "name", "hosts", "principals", "classes", "programs", "paths", "to", "verdict", "reason", "match", "not_match")
	if f == nil {
		return nil, nil
	}
	r := &rule{pos: hosts.Pos{File: p.file, Line: n.Line}}
	for _, key := range []string{"name", "hosts", "principals", "verdict"} {
		if f[key] == nil {
			p.Add(n.Line, "a rule needs %s", key)
		}
	}
	if v := f["name"]; v != nil {
		r.name = p.name(v)
	}
	if v := f["hosts"]; v != nil {
		r.hosts = p.selector(v)
	}
	if v := f["principals"]; v != nil {
		p.Texts(v, "principals", func(line int, s string) { p.principal(line, s, &r.principals) })
	}
	if v := f["verdict"]; v != nil {
		if s, ok := p.Scalar(v, "verdict"); ok {
			if s != "deny" && s != "ask" && s != "allow" {
				p.Add(v.Line, "verdict: %q is not one of deny, ask, allow", strictyaml.Clip(s))
			}
			_ = r.verdict.UnmarshalText([]byte(s))
		}
	}
	if v := f["reason"]; v != nil {
		if s, ok := p.Scalar(v, "reason"); ok {
			if r.reason = s; len(s) > 500 || strings.ContainsAny(s, "\n\r\t") {
				p.Add(v.Line, "reason: must be one line of at most 500 bytes")
			}
		}
	}
	p.conditions(n, f, r)
	return r, p.examples(f)
}

func (p *problems) conditions(n *yaml.Node, f map[string]*yaml.Node, r *rule) {
	if f["classes"] == nil && f["programs"] == nil && f["paths"] == nil && f["to"] == nil {
		p.Add(n.Line, "a rule needs classes, programs, paths or to: it would be for everything")
	}
	if v := f["classes"]; v != nil {
		p.Texts(v, "classes", func(line int, s string) {
			c := policy.Class(s)
			switch {
			case !slices.Contains(policy.Classes[:], c):
				p.Add(line, "classes: %q is not one of %s", strictyaml.Clip(s), classNames())
			case slices.Contains(r.classes, c):
				p.Add(line, "classes: %s is there twice", s)
			}
			r.classes = append(r.classes, c)
		})
	}
	if v := f["programs"]; v != nil {
		p.Texts(v, "programs", func(line int, s string) {
			pat, err := parsePattern(s)
			if err != nil {
				p.Add(line, "programs: %q %v", strictyaml.Clip(s), err)
				return
			}
			r.programs = append(r.programs, pat)
		})
	}
	if v := f["paths"]; v != nil {
		p.Texts(v, "paths", func(line int, s string) {
			pat, err := parsePathPattern(s)
			if err != nil {
				p.Add(line, "paths: %q %v", strictyaml.Clip(s), err)
				return
			}
			r.paths = append(r.paths, pat)
		})
	}
	if v := f["to"]; v != nil {
		p.addresses(v, r)
	}
	reads := slices.Contains(r.classes, policy.SensitiveRead) || slices.Contains(r.classes, policy.NetworkRead)
	if v := f["paths"]; v != nil && reads && r.verdict == policy.Allow && len(r.programs) == 0 && !slices.ContainsFunc(r.classes, changes) {
		p.Add(v.Line, "paths: they are of files that are written, and limit no reads: name the class write too, or leave paths out")
	}
}

// changes reports whether a command of the class may write files by what it is.
func changes(c policy.Class) bool {
	return c != policy.ReadOnly && c != policy.SensitiveRead && c != policy.NetworkRead
}

// addresses reads where commands may connect to. A rule that could never allow anything is a mistake.
func (p *problems) addresses(n *yaml.Node, r *rule) {
	p.Texts(n, "to", func(line int, s string) {
		a, err := parseAddressPattern(s)
		if err != nil {
			p.Add(line, "to: %q %v", strictyaml.Clip(s), err)
			return
		}
		if a.metadata() && r.verdict == policy.Allow && !slices.Contains(r.classes, policy.SensitiveRead) {
			p.Add(line, "to: %s is a metadata service, which returns credentials: name the classes network-read and sensitive-read", strictyaml.Clip(s))
		}
		r.to = append(r.to, a)
	})
	switch {
	case r.verdict != policy.Allow:
	case len(r.classes) > 0 && !slices.Contains(r.classes, policy.NetworkRead):
		p.Add(n.Line, "to: the rule can allow nothing: Fairlead knows all addresses only of commands of the class network-read, which classes must name")
	case len(r.programs) > 0 && !slices.ContainsFunc(r.programs, pattern.connects):
		p.Add(n.Line, "to: the rule can allow nothing: name a program with network reads, such as curl, dig, ping or nc -z")
	}
}

func (p *problems) examples(f map[string]*yaml.Node) (out []example) {
	for _, key := range []string{"match", "not_match"} {
		if v := f[key]; v != nil {
			p.Texts(v, key, func(line int, s string) {
				if len(s) > cacheLongest {
					p.Add(line, "%s: the example is longer than %d bytes", key, cacheLongest)
					return
				}
				out = append(out, example{line, s, key == "match"})
			})
		}
	}
	if len(out) > 200 {
		p.Add(out[200].line, "more than 200 examples in one rule")
		out = nil
	}
	return out
}

// name reads a name that is fit for records.
func (p *problems) name(n *yaml.Node) string {
	s, ok := p.Scalar(n, "name")
	if !ok {
		return ""
	}
	if !recordName(s) {
		p.Add(n.Line, "name: %q must be letters, digits, -, _ and . alone, at most 100", strictyaml.Clip(s))
		return ""
	}
	return s
}

func (p *problems) selector(n *yaml.Node) hosts.Selector {
	if n.Kind == yaml.SequenceNode {
		p.Add(n.Line, `hosts: is one selector and no list: write its parts in one text, as in hosts: "web1,@db"`)
		return hosts.Selector{}
	}
	s, ok := p.Scalar(n, "hosts")
	if !ok {
		return hosts.Selector{}
	}
	sel, err := hosts.ParseSelector(s)
	if err != nil {
		p.Add(n.Line, "hosts: %s", strings.TrimPrefix(err.Error(), "hosts: "))
		return sel
	}
	for _, tier := range sel.Tiers() {
		if err := hosts.CheckTier(tier); err != nil {
			p.Add(n.Line, "hosts: %v", err)
		} else if tier == "unknown" || tier == "" {
			p.Add(n.Line, "hosts: hosts without a tier count as prod: write tier=prod")
		}
	}
	return sel
}

// principal reads a name, a role, or "*".
func (p *problems) principal(line int, s string, out *principals) {
	role, isRole := strings.CutPrefix(s, "role=")
	switch {
	case s == "*":
		out.all = true
	case isRole && knownRole(role):
		out.roles = append(out.roles, Role(role))
	case isRole:
		p.Add(line, "principals: role %q is not one of agent, operator, program", strictyaml.Clip(role))
	default:
		role, name, _ := strings.Cut(s, "/")
		if !knownRole(role) || name == "" || strings.ContainsAny(name, "*?/ ,") {
			p.Add(line, `principals: %q is not a name such as agent/mcp, nor role=agent, nor "*"`, strictyaml.Clip(s))
			return
		}
		out.names = append(out.names, s)
	}
}

func knownRole(s string) bool {
	r := Role(s)
	return r == Agent || r == Operator || r == Program
}

func classNames() string {
	var names []string
	for _, c := range policy.Classes {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}
