package approval

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Client asks all the servers that have a socket in its directories. It keeps no connection.
type Client struct{ dirs []string }

// maxSockets bounds how many servers are asked in one directory.
const maxSockets = 256

// Dial returns a Client for the servers in dirs. Directories that do not exist have no servers; one that others own or may
// enter is refused.
func Dial(dirs ...string) (*Client, error) {
	c := &Client{}
	for _, dir := range dirs {
		err := private(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case !slices.Contains(c.dirs, dir):
			c.dirs = append(c.dirs, dir)
		}
	}
	return c, nil
}

// sockets returns the sockets there are.
func (c *Client) sockets() (paths []string, err error) {
	for _, dir := range c.dirs {
		found, gerr := os.ReadDir(dir)
		if gerr != nil && !errors.Is(gerr, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("approval: cannot look for sockets: %w", gerr))
		}
		n := 0
		for _, f := range found {
			if strings.HasSuffix(f.Name(), ".sock") && f.Type() == fs.ModeSocket {
				if n++; n > maxSockets {
					err = errors.Join(err, fmt.Errorf("approval: %s holds more than %d sockets; the others were not asked", dir, maxSockets))
					break
				}
				paths = append(paths, filepath.Join(dir, f.Name()))
			}
		}
	}
	return paths, err
}

// List returns what waits at any of the servers, the oldest first. Where some servers cannot be asked it returns what the
// others have said together with the errors, joined.
func (c *Client) List(ctx context.Context) ([]Summary, error) {
	paths, err := c.sockets()
	var list []Summary
	for _, path := range paths {
		res, aerr := ask(ctx, path, request{Op: "list"})
		if aerr != nil && !errors.Is(aerr, errGone) {
			err = errors.Join(err, aerr)
		}
		list = append(list, res.List...)
	}
	slices.SortStableFunc(list, func(a, b Summary) int { return a.Asked.Compare(b.Asked) })
	return list, err
}

// Get returns what waits under id, which may be the beginning of an id where only one begins so; it returns an ErrAmbiguous
// where several do.
func (c *Client) Get(ctx context.Context, id string) (Pending, error) {
	if len(id) > maxField {
		return Pending{}, ErrUnknown
	}
	list, lerr := c.List(ctx)
	full := ""
	for _, s := range list {
		switch {
		case s.ID == id:
			full = id
		case id != "" && strings.HasPrefix(s.ID, id) && (id != "a_" || len(list) > 1):
			if full != "" && full != id {
				return Pending{}, fmt.Errorf("%w with %q: give more of it", ErrAmbiguous, id)
			}
			full = cmp.Or(full, s.ID)
		}
	}
	res, err := c.any(ctx, request{Op: "show", ID: cmp.Or(full, id)})
	if err != nil {
		if errors.Is(err, ErrUnknown) && lerr != nil {
			return Pending{}, lerr
		}
		return Pending{}, err
	}
	p, err := Parse(res.Document)
	if err == nil && p.ID != cmp.Or(full, id) {
		err = fmt.Errorf("%w: it is about another one", ErrInvalid)
	}
	return p, err
}

// Answer gives an answer to what was shown. By is what the caller calls itself, for agents; all others are named by the
// server, which knows the account. That anybody could reach the socket proves nothing: only a signature does.
func (c *Client) Answer(ctx context.Context, r Response) error {
	_, err := c.any(ctx, request{Op: "answer", ID: r.ID, Digest: r.Digest, By: r.By, Approved: r.Approved, Reason: r.Reason,
		WithInput: r.WithInput, Scope: scopeTo(r.ForSession), Signature: string(r.Signature), Proof: r.Proof})
	return err
}

// ForSessions returns the approvals that hold for sessions, at any of the servers. Where some servers cannot be asked it
// returns what the others have said together with the errors, joined.
func (c *Client) ForSessions(ctx context.Context) ([]ForSession, error) {
	paths, err := c.sockets()
	var list []ForSession
	for _, path := range paths {
		res, aerr := ask(ctx, path, request{Op: "sessions"})
		if aerr != nil && !errors.Is(aerr, errGone) {
			err = errors.Join(err, aerr)
		}
		list = append(list, res.Sessions...)
	}
	slices.SortStableFunc(list, func(a, b ForSession) int { return a.Given.Compare(b.Given) })
	return list, err
}

// Revoke ends an approval that holds for a session. id may be the beginning of one where only one begins so. It returns the
// whole id.
func (c *Client) Revoke(ctx context.Context, id, by, reason string) (string, error) {
	list, err := c.ForSessions(ctx)
	full := ""
	for _, g := range list {
		switch {
		case g.ID == id:
			full = id
		case full != id && strings.HasPrefix(g.ID, id) && len(id) > len("a_"):
			if full != "" {
				return "", fmt.Errorf("%w with %q: give more of it", ErrAmbiguous, id)
			}
			full = g.ID
		}
	}
	if full == "" {
		return id, cmp.Or(err, ErrUnknown)
	}
	_, err = c.any(ctx, request{Op: "revoke", ID: full, By: by, Reason: reason})
	return full, err
}

// any puts a question to the servers until one knows the id.
func (c *Client) any(ctx context.Context, req request) (response, error) {
	paths, err := c.sockets()
	for _, path := range paths {
		res, aerr := ask(ctx, path, req)
		switch {
		case errors.Is(aerr, errGone) || errors.Is(aerr, ErrUnknown):
		case res.asked && aerr != nil:
			return response{}, aerr
		case aerr != nil:
			err = errors.Join(err, aerr)
		default:
			return res.response, nil
		}
	}
	return response{}, cmp.Or(err, ErrUnknown)
}

// errGone means that a server has ended.
var errGone = errors.New("approval: the process has ended")

// reply is a response, and whether the server has given one.
type reply struct {
	response
	asked bool
}

// ask puts one request to one server. It removes the socket of a process that has ended without doing so.
func ask(ctx context.Context, path string, req request) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reply{}, errGone
	case refused(err):
		// A server that is starting has its socket a moment before it listens; one that lives is left alone.
		if number, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".sock"), "-"); dead(atoi(number)) {
			os.Remove(path)
		}
		return reply{}, errGone
	case err != nil:
		return reply{}, unheard(ctx, path, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if who, err := peerOf(conn.(*net.UnixConn)); err != nil || who.uid != os.Getuid() {
		return reply{}, fmt.Errorf("approval: the process behind %s is not of this account, and was not asked", path)
	}
	line, err := json.Marshal(req)
	if err != nil {
		return reply{}, fmt.Errorf("approval: cannot write the request: %w", err)
	}
	if _, err := conn.Write(append(line, '\n')); err != nil {
		return reply{}, unheard(ctx, path, err)
	}
	line, err = readLine(bufio.NewReaderSize(conn, maxResponse))
	if err != nil {
		return reply{}, unheard(ctx, path, err)
	}
	r := reply{asked: true}
	if err := json.Unmarshal(line, &r.response); err != nil {
		return reply{}, fmt.Errorf("approval: the process behind %s answers in an unknown way: %w", path, err)
	}
	return r, r.err()
}

// unheard is the error of a server that was not heard out.
func unheard(ctx context.Context, path string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("approval: the process behind %s has not answered, and whether it has heard is unknown: %w", path, err)
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
