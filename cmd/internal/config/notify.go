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
		p.Add(n.Line, "%s: expected a list, as in [{exec: [/path]}]", where)
		return
	}
	for _, entry := range n.Content {
		before := len(p.Found())
		var one notify.Config
		p.section(entry, where, map[string]reader{
			"webhook":     func(p *problems, where string, n *yaml.Node) { one.Webhook, _ = p.Scalar(n, where) },
			"secret_file": func(p *problems, where string, n *yaml.Node) { one.SecretFile, _ = p.Scalar(n, where) },
			"ca_file":     func(p *problems, where string, n *yaml.Node) { one.CAFile, _ = p.Scalar(n, where) },
			"exec":        func(p *problems, where string, n *yaml.Node) { one.Exec = p.words(where, n) },
			"events":      func(p *problems, where string, n *yaml.Node) { one.Events = p.words(where, n) },
			"timeout": func(p *problems, where string, n *yaml.Node) {
				text, ok := p.Scalar(n, where)
				if !ok {
					return
				}
				d, err := time.ParseDuration(text)
				if err != nil || d <= 0 {
					p.Add(n.Line, "%s: must be a time like 10s", where)
				}
				one.Timeout = d
			},
		})
		if len(p.Found()) > before {
			continue
		}
		if err := one.Check(); err != nil {
			p.Add(entry.Line, "%s: %v", where, err)
		}
		*c = append(*c, one)
	}
}
