package mcpserver

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fairlead-ssh/fairlead/session/registry"
)

// extent is how far each stream of a command was shown.
type extent struct{ stdout, stderr int64 }

// poll is a client that looks at a running command.
type poll struct {
	client *mcp.ServerSession
	exec   *registry.Exec
}

// polls remembers how far each client was shown the output of each running command, so that it is shown what is new.
type polls struct {
	mu sync.Mutex
	m  map[poll]extent
}

func (p *polls) shown(c *call, x *registry.Exec) extent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m[poll{c.req.Session, x}]
}

func (p *polls) note(c *call, x *registry.Exec, s extent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other := range p.m {
		if !other.exec.Running() {
			delete(p.m, other)
		}
	}
	if p.m == nil {
		p.m = map[poll]extent{}
	}
	p.m[poll{c.req.Session, x}] = s
}
