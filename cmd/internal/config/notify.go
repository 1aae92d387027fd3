package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
)

// Notify is who is told what waits for an answer, and what has ended.
type Notify []notify.Config

func (c *Notify) read(p *problems, where string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.add(n.Line, "%s: expected a list, as in [{exec: [/path]}]", where)
		return
	}
	for _, entry := range n.Content {
		before := len(p.errs)
		var one notify.Config
		p.section(entry, where, map[string]reader{
			"webhook":     func(p *problems, where string, n *yaml.Node) { one.Webhook, _ = p.scalar(where, n) },
			"secret_file": func(p *problems, where string, n *yaml.Node) { one.SecretFile, _ = p.scalar(where, n) },
			"ca_file":     func(p *problems, where string, n *yaml.Node) { one.CAFile, _ = p.scalar(where, n) },
			"exec":        func(p *problems, where string, n *yaml.Node) { one.Exec = p.words(where, n) },
			"events":      func(p *problems, where string, n *yaml.Node) { one.Events = p.words(where, n) },
			"timeout": func(p *problems, where string, n *yaml.Node) {
				text, ok := p.scalar(where, n)
				if !ok {
					return
				}
				d, err := time.ParseDuration(text)
				if err != nil || d <= 0 {
					p.add(n.Line, "%s: must be a time like 10s", where)
				}
				one.Timeout = d
			},
		})
		if len(p.errs) > before {
			continue
		}
		if err := one.Check(); err != nil {
			p.add(entry.Line, "%s: %v", where, err)
			continue
		}
		*c = append(*c, one)
	}
}

// words reads a list of single values that is not empty.
func (p *problems) words(where string, n *yaml.Node) (all []string) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.add(n.Line, "%s: expected a list, as in [one, two]", where)
		return nil
	}
	for _, e := range n.Content {
		if text, ok := p.scalar(where, e); ok {
			all = append(all, text)
		}
	}
	return all
}
