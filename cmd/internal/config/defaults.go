package config

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// ConfirmHosts is how many hosts a command, a job or a copy that is not a read may go to, before an operator is asked; 0 is any number.
type ConfirmHosts int

func (c *ConfirmHosts) read(p *problems, where string, n *yaml.Node) {
	*c = ConfirmHosts(p.hosts(where, n, 1_000_000))
}

// Forks is how many hosts run at a time where --forks does not say; 0 is the program's own number.
type Forks int

func (f *Forks) read(p *problems, where string, n *yaml.Node) { *f = Forks(p.hosts(where, n, 10_000)) }

// hosts reads a number of hosts, at least one. More than most is a slip.
func (p *problems) hosts(where string, n *yaml.Node, most int) int {
	text, ok := p.Scalar(n, where)
	if !ok {
		return 0
	}
	hosts, err := strconv.Atoi(text)
	if err != nil || hosts < 1 || hosts > most {
		p.Add(n.Line, "%s: must be a number of hosts, from 1 to %d", where, most)
		return 0
	}
	return hosts
}

// Fold says whether runs on several hosts group identical output where no flag says how to print it.
type Fold bool

func (f *Fold) read(p *problems, where string, n *yaml.Node) {
	switch text, ok := p.Scalar(n, where); {
	case !ok:
	case text == "true" || text == "false":
		*f = text == "true"
	default:
		p.Add(n.Line, "%s: must be true or false", where)
	}
}
