package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
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

func (d AgentDoor) Check() error {
	switch {
	case d.Socket == "" && d.Name == "":
		return nil
	case d.Socket == "" || d.Name == "":
		return errors.New("keeper: an agent's socket takes a path and the agent's name")
	case !filepath.IsAbs(d.Socket):
		return fmt.Errorf("keeper: the agent's socket, %s, must be an absolute path", d.Socket)
	case len(d.Socket) > maxPath:
		return fmt.Errorf("keeper: the name of the agent's socket, %s, is longer than the %d bytes that the system takes", d.Socket, maxPath)
	case !AgentName.MatchString(d.Principal()):
		return fmt.Errorf("keeper: %.80q is not a name of an agent: letters, digits, dots, dashes and underscores", d.Name)
	}
	return nil
}

// listen opens the socket, which can be made again where it is removed.
func (d AgentDoor) Listen(ctx context.Context) (*KeptSocket, error) {
	s := &KeptSocket{Path: d.Socket, open: d.open}
	return s, s.Again(ctx)
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

// Agents lets in whom the file's mode lets in, and notes who that is.
func Agents(s *KeptSocket) net.Listener { return &peers{s} }

// peers lets in whom the file's mode lets in, and notes who that is.
type peers struct{ *KeptSocket }

func (l *peers) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, _, err := PeerOf(c)
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

// AccountIn is the account at the other end of a request's connection; false where that is unknown.
func AccountIn(ctx context.Context) (uid int, ok bool) {
	uid, ok = ctx.Value(accountKey{}).(int)
	return uid, ok
}

// WithAccount makes requests on a connection tell which account is at its other end.
func WithAccount(ctx context.Context, c net.Conn) context.Context {
	if g, ok := c.(*guest); ok {
		if a, ok := g.Conn.(*agentConn); ok {
			return context.WithValue(ctx, accountKey{}, a.uid)
		}
	}
	return ctx
}

var AgentName = lazyregexp.New(`^agent/[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
