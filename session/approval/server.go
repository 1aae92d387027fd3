package approval

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server offers a Desk on a socket to other processes of the same account, and to root. A caller that says that it is an
// agent is believed, and may not answer. All others are the account of the process at the other end, which the system says,
// whatever they call themselves.
//
// Answers are refused from the process that serves and from the one that started it, which is the agent's client, and
// from all their descendants. Whatever runs in a session of this process (see Trees.Inside) is refused everything.
type Server struct {
	desk     *Desk
	listener *net.UnixListener
	trees    *Trees
	peer     func(*net.UnixConn) (peer, error)
}

// peer is the process at the other end.
type peer struct{ uid, pid int } // pid 0: not visible from here

// Listen makes dir where it is missing, for this account alone, and a socket there that is named after the process. It
// refuses a directory that others own or may enter. What the Server has is given back by Serve or Close.
func Listen(desk *Desk, dir string) (*Server, error) {
	trees := NewTrees(nil)
	trees.Host(os.Getpid())
	return ListenFor(desk, dir, trees)
}

// ListenFor is Listen for a process that serves many: trees says which processes may not answer, instead of the one that
// has started this one.
func ListenFor(desk *Desk, dir string, trees *Trees) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("approval: cannot make a directory for the socket: %w", err)
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	listener, err := listen(dir)
	if err != nil {
		return nil, err
	}
	return &Server{desk: desk, listener: listener, trees: trees, peer: peerOf}, nil
}

// listen opens a socket that is named after this process, with a number where the name is taken: a process of another PID
// namespace may have the same.
func listen(dir string) (*net.UnixListener, error) {
	name, number := strconv.Itoa(os.Getpid()), 1
	for range 2 * maxPeers {
		path := filepath.Join(dir, name+".sock")
		if number > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.sock", name, number))
		}
		if len(path) > maxPath {
			return nil, fmt.Errorf("approval: the name of the socket, %s, is longer than the %d bytes that the system takes: set XDG_RUNTIME_DIR to a shorter directory", path, maxPath)
		}
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			if err := os.Chmod(path, 0o600); err != nil {
				l.Close()
				return nil, fmt.Errorf("approval: cannot close the socket to others: %w", err)
			}
			return l, nil
		}
		if _, serr := os.Lstat(path); serr != nil {
			return nil, fmt.Errorf("approval: cannot open a socket for those who answer: %w", err)
		}
		// What a dead process of the same number has left is in the way.
		c, err := net.DialTimeout("unix", path, patience)
		if err == nil {
			c.Close()
		}
		if !refused(err) || os.Remove(path) != nil {
			number++
		}
	}
	return nil, fmt.Errorf("approval: cannot open a socket for answers: every name for one is in use in %s", dir)
}

// maxPath is how long the name of a socket may be on Linux and macOS: sun_path with its NUL has 108 and 104 bytes
// (unix(7), <sys/un.h>).
const maxPath = 103

// Addr returns the path of the socket.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close removes the socket of a Server that was not served.
func (s *Server) Close() error { return s.listener.Close() }

// Serve answers until ctx ends, and returns nil then. It removes the socket, and finishes what has been asked.
func (s *Server) Serve(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.listener.Close()
	defer context.AfterFunc(ctx, func() { s.listener.Close() })()
	places := make(chan struct{}, maxPeers)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		c, err := s.listener.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("approval: the socket was closed: %w", err)
		case err != nil: // too many open files, or a peer that went away: it may be better later
			<-places
			pause(ctx)
		default:
			wg.Go(func() {
				defer func() { <-places }()
				defer c.Close()
				// What is being answered still is: who approves must hear whether it was heard.
				defer context.AfterFunc(ctx, func() { c.CloseRead() })()
				s.converse(c)
			})
		}
	}
}

// pause waits a little, no longer than ctx lasts.
func pause(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	<-ctx.Done()
}

// converse answers what comes on c.
func (s *Server) converse(c *net.UnixConn) {
	who, err := s.peer(c)
	r := bufio.NewReaderSize(c, maxRequest)
	for range maxRequests {
		if c.SetDeadline(time.Now().Add(patience)) != nil {
			return
		}
		line, rerr := readLine(r)
		if rerr != nil && !errors.Is(rerr, ErrInvalid) {
			return
		}
		var res response
		switch {
		case err != nil:
			res = failed(fmt.Errorf("%w: the system does not say who it is: %w", ErrForbidden, err))
		case rerr != nil:
			res = failed(rerr)
		default:
			res = s.handle(who, line)
		}
		out, merr := json.Marshal(res)
		if merr != nil {
			return
		}
		if _, werr := c.Write(append(out, '\n')); werr != nil || rerr != nil || err != nil {
			return
		}
	}
}

// handle answers one request.
func (s *Server) handle(who peer, line []byte) response {
	if who.uid != os.Getuid() && who.uid != 0 {
		return failed(fmt.Errorf("%w: it belongs to uid %d", ErrForbidden, who.uid))
	}
	if err := s.trees.Inside(who.pid); err != nil {
		return failed(err)
	}
	req, err := parseRequest(line)
	if err != nil {
		return failed(err)
	}
	switch req.Op {
	case "list":
		res := response{}
		for _, p := range s.desk.List() {
			res.List = append(res.List, p.Summary())
		}
		if s.desk.unread != nil {
			if err := s.desk.unread(); err != nil {
				res.Error = failed(err).Error
			}
		}
		return res
	case "show":
		p, err := s.desk.Get(req.ID)
		if err != nil {
			return failed(err)
		}
		return response{Document: p.Document()}
	case "sessions":
		return response{Sessions: s.desk.ForSessions()}
	case "revoke":
		by, err := s.answerer(who, req.By)
		if err == nil {
			err = s.desk.Revoke(req.ID, by, req.Reason)
		}
		if err != nil {
			return failed(err)
		}
		return response{}
	case "answer":
		if err := s.answer(who, req); err != nil {
			return failed(err)
		}
		return response{}
	}
	return failed(fmt.Errorf("%w: unknown operation %.20q", ErrInvalid, req.Op))
}

// answer passes an answer on, in the name of who gives it.
func (s *Server) answer(who peer, req request) error {
	if _, err := s.desk.Get(req.ID); err != nil {
		return err // first: it may wait at another server
	}
	by, err := s.answerer(who, req.By)
	if err != nil {
		return err
	}
	r := Response{ForSession: req.Scope.from(), ID: req.ID, Digest: req.Digest, By: by, Approved: req.Approved, Reason: req.Reason, WithInput: req.WithInput, Proof: req.Proof}
	if req.Signature != "" {
		r.Signature = []byte(req.Signature)
	}
	return s.desk.Answer(r)
}

// answerer is the principal of who answers, and refuses those who may not. Any name but an agent's gives way to the account:
// under another name requesters could answer their own requests.
func (s *Server) answerer(who peer, by string) (string, error) {
	if role, _, _ := strings.Cut(by, "/"); !strings.EqualFold(role, "agent") {
		by = operator(who.uid)
	}
	if err := mayAnswer(by); err != nil {
		return "", err
	}
	return by, s.trees.Admit(who.pid)
}

// operator is the principal of an account.
func operator(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil && u.Username != "" {
		return "operator/" + u.Username
	}
	return "operator/uid-" + strconv.Itoa(uid)
}

// private reports what is wrong with a directory that must be this account's alone.
func private(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("approval: cannot look at the directory of the sockets: %w", err)
	}
	uid, known := owner(st)
	switch {
	case !st.IsDir():
		return fmt.Errorf("approval: %s is not a directory: remove it", dir)
	case known && uid != os.Getuid():
		return fmt.Errorf("approval: %s belongs to uid %d, and must belong to uid %d: remove it, or set XDG_RUNTIME_DIR to a directory of your own", dir, uid, os.Getuid())
	case known && st.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("approval: %s is open to others (mode %04o): chmod 700 it, after a look at who else has used it", dir, st.Mode().Perm())
	}
	above := filepath.Dir(dir)
	st, err = os.Stat(above)
	if err != nil {
		return fmt.Errorf("approval: cannot look at the directory of the sockets: %w", err)
	}
	uid, known = owner(st)
	switch {
	case known && strange(uid, os.Getuid()):
		return fmt.Errorf("approval: %s belongs to uid %d, who could put another directory in the place of %s", above, uid, filepath.Base(dir))
	case known && st.Mode().Perm()&0o022 != 0 && st.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("approval: others may write to %s (mode %04o), and put another directory in the place of %s: chmod go-w it", above, st.Mode().Perm(), filepath.Base(dir))
	}
	return nil
}

// strange reports whether an account may change what is uid's, and is one that me need not trust.
func strange(uid, me int) bool { return uid != 0 && uid != me }
