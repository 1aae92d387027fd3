package doctor

import (
	"context"
	"net"
	"time"

	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// agentTime is how long an agent may take to say what it holds.
const agentTime = 5 * time.Second

// agent asks the SSH agent how many keys it holds.
func (o *Options) agent(ctx context.Context) []Check {
	socket := o.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return []Check{ok("agent", "none: SSH_AUTH_SOCK is not set, and keys come from files")}
	}
	const stale = "start one (ssh-agent), or have SSH_AUTH_SOCK name the one that runs: in tmux and screen it often is that of an earlier login"
	ctx, cancel := context.WithTimeout(ctx, agentTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return []Check{fail("agent", stale, "no SSH agent answers at %s", socket)}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	keys, err := agent.NewClient(conn).List()
	switch {
	case err != nil && ctx.Err() != nil:
		return []Check{fail("agent", stale, "%s takes the connection and does not answer within %v", socket, agentTime)}
	case err != nil:
		return []Check{fail("agent", stale, "%s does not answer as an SSH agent", socket)}
	case len(keys) == 0:
		return []Check{warn("agent", "add a key with ssh-add", "%s holds no key", socket)}
	}
	return []Check{ok("agent", "%s holds %s", socket, cmdutil.Count(len(keys), "key"))}
}
