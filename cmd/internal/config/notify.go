package config

import "go.yaml.in/yaml/v3"

// Notify is who is told what waits for an answer.
type Notify struct{}

func (*Notify) read(p *problems, where string, n *yaml.Node) {
	p.section(n, where, map[string]reader{})
}
