package config

import (
	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/cmd/internal/otlp"
)

// OTLP says where the keeper sends OpenTelemetry spans. The zero OTLP is nowhere.
type OTLP struct{ otlp.Config }

func (o *OTLP) read(p *problems, where string, n *yaml.Node) {
	before := len(p.Found())
	p.section(n, where, map[string]reader{
		"url":        func(p *problems, where string, n *yaml.Node) { o.URL, _ = p.Scalar(n, where) },
		"ca_file":    func(p *problems, where string, n *yaml.Node) { o.CAFile, _ = p.Scalar(n, where) },
		"token_file": func(p *problems, where string, n *yaml.Node) { o.TokenFile, _ = p.Scalar(n, where) },
	})
	if len(p.Found()) > before {
		return
	}
	if err := o.Check(); err != nil {
		p.Add(n.Line, "%s: %v", where, err)
	}
}
