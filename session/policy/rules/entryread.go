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
		f := p.Fields(c, "principals", "name", "hosts", "tools", "programs", "shell", "strict", "env", "reads", "unknown", "max_output", "max_timeout",
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
	limit(f, en, "tools", p.tools, func(l *Limits, v []string) { l.Tools = v })
	limit(f, en, "programs", p.names, func(l *Limits, v []string) { l.Programs = v })
	limit(f, en, "shell", p.truth, func(l *Limits, v bool) { l.NoShell = !v })
	limit(f, en, "strict", p.truth, func(l *Limits, v bool) { l.Strict = v })
	limit(f, en, "reads", p.reads, func(l *Limits, v string) { l.HeldReads = v == "held" })
	en.reads = f["reads"] != nil
	limit(f, en, "unknown", p.unknown, func(l *Limits, v string) { l.Unknown = v })
	limit(f, en, "env", p.environ, func(l *Limits, v string) { l.CleanEnv = v == "clean" })
	limit(f, en, "max_output", p.size, func(l *Limits, v int64) { l.MaxOutput = v })
	limit(f, en, "max_timeout", p.duration, func(l *Limits, v time.Duration) { l.MaxTimeout = v })
	limit(f, en, "rate", p.rate, func(l *Limits, v rate) { l.Rate, l.RatePer = v.n, v.per })
	limit(f, en, "daily", p.count, func(l *Limits, v int) { l.Daily = v })
	limit(f, en, "max_hosts", p.count, func(l *Limits, v int) { l.MaxHosts = v })
}

// limit reads one key, if it is there, and what it sets.
func limit[T any](f map[string]*yaml.Node, en *entry, key string, read func(*yaml.Node, string) T, set func(*Limits, T)) {
	if n := f[key]; n != nil {
		v := read(n, key)
		en.set = append(en.set, func(l *Limits) { set(l, v) })
	}
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

// tools reads a list of tools of the MCP server.
func (p *problems) tools(n *yaml.Node, key string) []string {
	out := p.names(n, key)
	for _, name := range out {
		if known := Tools(); !slices.Contains(known, name) {
			p.Add(n.Line, "%s: %q is not one of %s", key, strictyaml.Clip(name), strings.Join(known, ", "))
		}
	}
	return out
}

func (p *problems) truth(n *yaml.Node, key string) bool {
	s, ok := p.Scalar(n, key)
	if ok && s != "true" && s != "false" {
		p.Add(n.Line, "%s: must be true or false", key)
	}
	return s == "true"
}

func (p *problems) reads(n *yaml.Node, key string) string {
	s, ok := p.Scalar(n, key)
	if ok && s != "held" && s != "judged" {
		p.Add(n.Line, "%s: %q is not one of held, judged", key, strictyaml.Clip(s))
	}
	return s
}

func (p *problems) unknown(n *yaml.Node, key string) string {
	s, ok := p.Scalar(n, key)
	if ok && s != UnknownHeldFirst && s != UnknownAsks {
		p.Add(n.Line, "%s: %q is not one of %s, %s", key, strictyaml.Clip(s), UnknownHeldFirst, UnknownAsks)
	}
	return s
}

func (p *problems) environ(n *yaml.Node, key string) string {
	s, ok := p.Scalar(n, key)
	if ok && s != "clean" && s != "host" {
		p.Add(n.Line, "%s: %q is not one of clean, host", key, strictyaml.Clip(s))
	}
	return s
}

func (p *problems) count(n *yaml.Node, key string) int {
	s, ok := p.Scalar(n, key)
	v, err := strconv.ParseUint(s, 10, 31)
	if ok && err != nil {
		p.Add(n.Line, "%s: %q is not a number; 0 means no limit", key, strictyaml.Clip(s))
	}
	return int(v)
}

func (p *problems) duration(n *yaml.Node, key string) time.Duration {
	s, ok := p.Scalar(n, key)
	d, err := time.ParseDuration(s)
	if ok && (err != nil || d <= 0) {
		p.Add(n.Line, "%s: %q is not a duration such as 30s or 10m", key, strictyaml.Clip(s))
	}
	return d
}

func (p *problems) size(n *yaml.Node, key string) int64 {
	s, ok := p.Scalar(n, key)
	digits, factor := s, int64(1)
	for i, unit := range [...]string{"KiB", "MiB", "GiB"} {
		if d, found := strings.CutSuffix(s, unit); found {
			digits, factor = strings.TrimSpace(d), 1<<(10*(i+1))
		}
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if ok && (err != nil || v <= 0 || v > math.MaxInt64/factor) {
		p.Add(n.Line, "%s: %q is not a number of bytes such as 65536, 64KiB or 1MiB", key, strictyaml.Clip(s))
	}
	return v * factor
}

func (p *problems) rate(n *yaml.Node, key string) (out rate) {
	s, ok := p.Scalar(n, key)
	if !ok {
		return out
	}
	num, unit, _ := strings.Cut(s, "/")
	v, err := strconv.ParseUint(num, 10, 31)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if err != nil || v == 0 || per == 0 {
		p.Add(n.Line, "%s: %q is not a number of requests per time such as 5/s, 30/m or 500/h", key, strictyaml.Clip(s))
	}
	return rate{n: int(v), per: per}
}
