package config

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// Approvals says how what agents ask for waits for a person.
type Approvals struct {
	Expire time.Duration // how long; 0 is the usual time (session.DefaultApprovalTimeout)
}

// What is asked holds its session while it waits, and what was shown grows old: there is an end to it.
const (
	minExpire = time.Second
	maxExpire = 24 * time.Hour
)

func (a *Approvals) read(p *problems, where string, n *yaml.Node) {
	p.section(n, where, map[string]reader{
		"expire": func(p *problems, where string, n *yaml.Node) {
			text, ok := p.Scalar(n, where)
			if !ok {
				return
			}
			d, err := time.ParseDuration(text)
			if err != nil || d < minExpire || d > maxExpire {
				p.Add(n.Line, "%s: must be a time like 15m, from 1s to 24h", where)
				return
			}
			a.Expire = d
		},
	})
}
