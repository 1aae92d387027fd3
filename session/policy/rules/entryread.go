package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

// entries reads the list of principals and puts the widest first, so that the narrowest has the last word.
func (p *problems) entries(n *yaml.Node) []*entry {
	if n.Kind != yaml.SequenceNode {
		p.Add(n.Line, "principals: expected a list, each item beginning with - name:")
		return nil
	}
	var out []*entry
	lines := map[string]int{}
	for _, c := range n.Content {
		f := p.Fields(c, "principals", "name", "hosts", "tools", "programs", "shell", "strict", "env", "max_output", "max_timeout",
			"rate", "daily", "max_hosts")
		if f == nil {
			continue
		}
		en := &entry{line: c.Line}
		if v := f["name"]; v == nil {
			p.Add(c.Line, "principals: an item needs name")
		} else if s, ok := p.Scalar(v, "name"); ok {
			if first, twice := lines[s]; twice {
				p.Add(v.Line, "principals: %q is there twice; first on line %d", strictyaml.Clip(s), first)
			}
			lines[s] = v.Line
			p.principal(v.Line, s, &en.who)
			en.rank = 2*len(en.who.names) + len(en.who.roles)
		}
		if len(c.Content) == 2 {
			p.Add(c.Line, "principals: an item needs something besides name")
		}
		p.entry(f, en)
		out = append(out, en)
	}
	slices.SortStableFunc(out, func(a, b *entry) int { return a.rank - b.rank })
	return out
}

func (p *problems) entry(f map[string]*yaml.Node, en *entry) {
	if v := f["hosts"]; v != nil {
		en.hosts = p.selector(v)
	}
	if v := f["tools"]; v != nil {
		en.tools = p.names(v, "tools")
	}
	if v := f["programs"]; v != nil {
		en.programs = p.names(v, "programs")
	}
	en.shell = p.truth(f["shell"], "shell")
	en.strict = p.truth(f["strict"], "strict")
	if v := f["env"]; v != nil {
		if s, ok := p.Scalar(v, "env"); ok {
			if en.env = s; s != "clean" && s != "host" {
				p.Add(v.Line, "env: %q is none of clean, host", strictyaml.Clip(s))
			}
		}
	}
	if v := f["max_output"]; v != nil {
		en.output = p.size(v)
	}
	if v := f["max_timeout"]; v != nil {
		en.timeout = p.duration(v)
	}
	if v := f["rate"]; v != nil {
		en.rate = p.rate(v)
	}
	en.daily = p.count(f["daily"], "daily")
	en.maxHosts = p.count(f["max_hosts"], "max_hosts")
}

// names reads a list of bare names. An empty one is everything that is not there: nothing.
func (p *problems) names(n *yaml.Node, key string) []string {
	out := []string{}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		return out
	}
	p.Texts(n, key, func(line int, s string) {
		if !bareName(s) {
			p.Add(line, "%s: %q is not a bare name", key, strictyaml.Clip(s))
			return
		}
		out = append(out, s)
	})
	return out
}

func (p *problems) truth(n *yaml.Node, key string) *bool {
	if n == nil {
		return nil
	}
	s, ok := p.Scalar(n, key)
	if ok && s != "true" && s != "false" {
		p.Add(n.Line, "%s: must be true or false", key)
	}
	v := s == "true"
	return &v
}

func (p *problems) count(n *yaml.Node, key string) *int {
	if n == nil {
		return nil
	}
	s, ok := p.Scalar(n, key)
	if !ok {
		return nil
	}
	v, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		p.Add(n.Line, "%s: %q is not a number from 0, which is no limit", key, strictyaml.Clip(s))
	}
	i := int(v)
	return &i
}

func (p *problems) duration(n *yaml.Node) *time.Duration {
	s, ok := p.Scalar(n, "max_timeout")
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		p.Add(n.Line, "max_timeout: %q is not a duration such as 30s or 10m", strictyaml.Clip(s))
	}
	return &d
}

func (p *problems) size(n *yaml.Node) *int64 {
	s, ok := p.Scalar(n, "max_output")
	if !ok {
		return nil
	}
	digits, factor := s, int64(1)
	for _, u := range []struct {
		name string
		n    int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}} {
		if d, found := strings.CutSuffix(s, u.name); found {
			digits, factor = strings.TrimSpace(d), u.n
		}
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || v <= 0 || v > math.MaxInt64/factor {
		p.Add(n.Line, "max_output: %q is not a number of bytes such as 65536, 64KiB or 1MiB", strictyaml.Clip(s))
		return nil
	}
	v *= factor
	return &v
}

func (p *problems) rate(n *yaml.Node) *rate {
	s, ok := p.Scalar(n, "rate")
	if !ok {
		return nil
	}
	num, unit, _ := strings.Cut(s, "/")
	v, err := strconv.ParseUint(num, 10, 31)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if err != nil || v == 0 || per == 0 {
		p.Add(n.Line, "rate: %q is not a number of requests per time such as 5/s, 30/m or 500/h", strictyaml.Clip(s))
		return nil
	}
	return &rate{n: int(v), per: per}
}
