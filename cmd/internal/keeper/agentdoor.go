package keeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// AgentDoor is a socket for agents, where every caller is one agent, whatever it says. With a keeper that runs under an
// account of its own, which alone holds keys, policy and store, the gate is enforced.
type AgentDoor struct {
	Socket   string // an absolute path; "" is none. Whoever may write to it, by its group, is the agent
	Name     string // of the agent: it acts as "agent/NAME"
	AuthSock string // the SSH agent to log in with for it; "" is none. What callers send does not count
}

// Principal is who callers are.
func (d AgentDoor) Principal() string { return "agent/" + d.Name }

func (d AgentDoor) check() error {
	switch {
	case d.Socket == "" && d.Name == "":
		return nil
	case d.Socket == "" || d.Name == "":
		return errors.New("keeper: an agent's socket takes a path and the agent's name")
	case !filepath.IsAbs(d.Socket):
		return fmt.Errorf("keeper: the agent's socket, %s, must be an absolute path", d.Socket)
	case len(d.Socket) > maxPath:
		return fmt.Errorf("keeper: the name of the agent's socket, %s, is longer than the %d bytes that the system takes", d.Socket, maxPath)
	case !agentName.MatchString(d.Principal()):
		return fmt.Errorf("keeper: %.80q is not a name of an agent: letters, digits, dots, dashes and underscores", d.Name)
	}
	return nil
}

// listen opens the socket, which can be made again where it is removed.
func (d AgentDoor) listen(ctx context.Context) (*keptSocket, error) {
	s := &keptSocket{path: d.Socket, open: d.open}
	return s, s.again(ctx)
}

// open opens the socket. Its group, and with it who may use it, is that of the directory where that passes its group on.
func (d AgentDoor) open(context.Context) (*net.UnixListener, error) {
	dir := filepath.Dir(d.Socket)
	st, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("keeper: the directory of the agent's socket: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok || sys.Uid != 0 && int(sys.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("keeper: %s belongs to another account, which could put its own socket there: make a directory for this one", dir)
	}
	if st.Mode().Perm()&0o022 != 0 && st.Mode()&fs.ModeSticky == 0 {
		return nil, fmt.Errorf("keeper: other accounts can write in %s (mode %o), and could put their own socket there: chmod go-w it", dir, st.Mode().Perm())
	}
	if st, err := os.Lstat(d.Socket); err == nil {
		if st.Mode()&fs.ModeSocket == 0 {
			return nil, fmt.Errorf("keeper: %s is there, and no socket: remove it", d.Socket)
		}
		if c, err := net.Dial("unix", d.Socket); err == nil {
			c.Close()
			return nil, fmt.Errorf("keeper: another program answers on %s", d.Socket)
		}
		if err := os.Remove(d.Socket); err != nil {
			return nil, fmt.Errorf("keeper: cannot remove what a dead one has left: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: d.Socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("keeper: cannot open the agent's socket: %w", err)
	}
	if err := os.Chmod(d.Socket, 0o660); err != nil {
		l.Close()
		return nil, fmt.Errorf("keeper: cannot open the agent's socket to its group: %w", err)
	}
	return l, nil
}

// agentListener lets in whom the file's mode lets in, and notes who that is.
type agentListener struct{ *keptSocket }

func (l *agentListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, _, err := peerOf(c)
		if err != nil {
			c.Close() // it is gone already
			continue
		}
		return &agentConn{c, uid}, nil
	}
}

// agentConn is a connection of somebody on the agent's socket.
type agentConn struct {
	net.Conn
	uid int
}

type accountKey struct{}

// noteAccount makes requests on a connection tell which account is at its other end.
func noteAccount(ctx context.Context, c net.Conn) context.Context {
	if g, ok := c.(*guest); ok {
		if a, ok := g.Conn.(*agentConn); ok {
			return context.WithValue(ctx, accountKey{}, a.uid)
		}
	}
	return ctx
}

// agent is who asks on the agent's socket: the agent.
func (k *Keeper) agent(r *http.Request) (*caller, *wire.Problem) {
	uid, ok := r.Context().Value(accountKey{}).(int)
	if !ok {
		return nil, problem(http.StatusUnauthorized, "auth", "the account of the caller is unknown")
	}
	if len(r.Header.Values(wire.SSHOptions)) > 0 {
		return nil, problem(http.StatusForbidden, "forbidden", "%s is for callers on the keeper's own socket", wire.SSHOptions)
	}
	d := k.cfg.AgentDoor
	c := &caller{principal: d.Principal(), role: Agent, inventory: k.cfg.Inventory, authSock: d.AuthSock, account: accountOf(uid)}
	k.sink.saw(c)
	return c, nil
}

// account is that of a caller, as the system says.
type account struct {
	uid   int
	apart bool // it cannot do what the keeper's account can
}

// accountOf looks at a uid. Root could be any account, and so the keeper's.
func accountOf(uid int) *account { return &account{uid, uid != 0 && uid != os.Geteuid()} }

// separation says what the gate is worth to a caller: a program of the keeper's own account could run ssh itself.
func (a *account) separation() string {
	if a != nil && a.apart {
		return "split-uid"
	}
	return "shared-uid"
}

// accounts knows which accounts were at the agent's socket, for events that no request brings along.
type accounts struct {
	mu    sync.Mutex // guards what follows
	by    map[string]*account
	mixed map[string]bool // principals that several accounts, or the keeper's own, have acted as
}

func (a *accounts) saw(c *caller) {
	if c == nil || !strings.HasPrefix(c.principal, "agent/") {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.by[c.principal]
	switch {
	case was == nil && len(a.by) < maxRealms:
		a.by[c.principal] = c.account
	case was != nil && *was != *c.account:
		a.mixed[c.principal] = true
	}
}

// of returns the account that alone has acted as a principal; nil where that is not one.
func (a *accounts) of(principal string) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mixed[principal] {
		return nil
	}
	return a.by[principal]
}
