package config

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// ConfirmHosts is how many hosts a command may run on that is not a read, before an operator is asked; 0 is any number.
type ConfirmHosts int

// maxConfirmHosts bounds it: more is a slip.
const maxConfirmHosts = 1_000_000

func (c *ConfirmHosts) read(p *problems, where string, n *yaml.Node) {
	text, ok := p.Scalar(n, where)
	if !ok {
		return
	}
	hosts, err := strconv.Atoi(text)
	if err != nil || hosts < 1 || hosts > maxConfirmHosts {
		p.Add(n.Line, "%s: must be a number of hosts, from 1 to %d", where, maxConfirmHosts)
		return
	}
	*c = ConfirmHosts(hosts)
}
