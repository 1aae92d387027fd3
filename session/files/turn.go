package files

import (
	"context"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// changing gives each file of each host to one change at a time, for all of this process: from where a change reads or
// checks the file to where it has put the new content in place.
var changing = turns{all: map[string]*turn{}}

type turns struct {
	mu  sync.Mutex // guards all, and want of each
	all map[string]*turn
}

// turn is held by who has put the value into its channel.
type turn struct {
	held chan struct{}
	want int // holders and waiters
}

// take waits for the turns of all keys, in the order of their names, so that two takers never wait for each other. waited
// reports that another change may have come before.
func (t *turns) take(ctx context.Context, keys []string) (release func(), waited bool, err error) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	var have []string
	release = func() {
		for _, key := range have {
			t.leave(key, true)
		}
	}
	for _, key := range keys {
		one := t.join(key)
		select {
		case one.held <- struct{}{}:
			have = append(have, key)
			continue
		default:
		}
		waited = true
		select {
		case one.held <- struct{}{}:
			have = append(have, key)
		case <-ctx.Done():
			t.leave(key, false)
			release()
			return nil, true, ctxerr.Of(ctx)
		}
	}
	return release, waited, nil
}

func (t *turns) join(key string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[key]
	if one == nil {
		one = &turn{held: make(chan struct{}, 1)}
		t.all[key] = one
	}
	one.want++
	return one
}

func (t *turns) leave(key string, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[key]
	if held {
		<-one.held
	}
	if one.want--; one.want == 0 {
		delete(t.all, key)
	}
}

// whereOf are the names that a host's files go by. Hosts that share one may be the same machine: two entries of an
// inventory may lead to it, and its key says so.
func whereOf(t session.Transport, h hosts.Host) []string {
	const here = "here"
	if h.Transport == hosts.Local {
		return []string{here}
	}
	if h.Transport == hosts.Command {
		return []string{"command " + strings.Join(h.Command, "\x00")}
	}
	peer := t.Peer()
	var names []string
	if peer.HostKey != "" {
		names = append(names, "key "+peer.HostKey)
	}
	if peer.Addr != "" {
		names = append(names, "addr "+strings.ToLower(peer.Addr))
	}
	host, _, err := net.SplitHostPort(peer.Addr)
	if ip := net.ParseIP(host); err == nil && len(peer.Via) == 0 && (ip.IsLoopback() || strings.EqualFold(host, "localhost")) {
		names = append(names, here)
	}
	if len(names) == 0 {
		names = append(names, "host "+h.Name)
	}
	return names
}

// mine waits until no other change of this process is under way at a path, which is a real one. Letters count as equal
// whatever their case, as on file systems that do not tell them apart.
func (f *Host) mine(ctx context.Context, target string) (release func(), waited bool, err error) {
	keys := make([]string, len(f.where))
	for i, name := range f.where {
		keys[i] = name + "\x00" + strings.ToLower(path.Clean(target))
	}
	release, waited, err = changing.take(ctx, keys)
	if err != nil {
		err = &Error{Code: CodeCanceled, Err: fmt.Errorf("another change of this file is under way: nothing was changed: %w", err)}
	}
	return release, waited, err
}

// turnOf resolves a path and waits for the turn to change what it leads to.
func (f *Host) turnOf(ctx context.Context, name string) (i Info, release func(), err error) {
	if i, err = f.resolve(ctx, name); err != nil {
		return i, nil, err
	}
	release, waited, err := f.mine(ctx, i.Target)
	if err != nil || !waited {
		return i, release, err
	}
	was := i.Target
	if i, err = f.resolve(ctx, name); err == nil && i.Target != was {
		err = fault(CodeConflict, "it leads to %q now, and not to %q any more", i.Target, was)
	}
	if err != nil {
		release()
		return i, nil, err
	}
	return i, release, nil
}
