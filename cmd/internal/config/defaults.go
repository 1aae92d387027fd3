package config

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Forks is how many hosts run at a time where --forks does not say; 0 is the program's own number.
type Forks int

// maxForks bounds it: more is a slip.
const maxForks = 10_000

func (f *Forks) read(p *problems, where string, n *yaml.Node) {
	text, ok := p.Scalar(n, where)
	if !ok {
		return
	}
	hosts, err := strconv.Atoi(text)
	if err != nil || hosts < 1 || hosts > maxForks {
		p.Add(n.Line, "%s: must be a number of hosts, from 1 to %d", where, maxForks)
		return
	}
	*f = Forks(hosts)
}

// Fold says whether runs group identical output where no flag says how to print it.
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
