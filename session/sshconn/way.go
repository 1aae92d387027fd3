package sshconn

import (
	"maps"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/stamp"
)

// way is how a connection's host was reached and logged in to, and the configuration files that said so.
type way struct {
	h hosts.Host

	mu    sync.Mutex // guards what follows; held while files are read
	key   string
	files map[string]stamp.Stamp
	moved bool
}

func newWay(h hosts.Host, route []*target) *way {
	w := &way{h: h}
	w.key, w.files = keyOf(route)
	return w
}

// keyOf is the key of the login at the end of a route, and the configuration files that the route was read from.
func keyOf(route []*target) (key string, files map[string]stamp.Stamp) {
	files = map[string]stamp.Stamp{}
	for _, t := range route {
		key = t.key(key)
		maps.Copy(files, t.config)
	}
	return key, files
}

// Moved reports whether ssh_config says by now that the connection's host is reached or logged in to in another way, or is to be
// refused. What runs on the connection goes on. As long as no file has changed that looks at files only, and starts no program.
func (c *Conn) Moved() bool {
	w := c.way
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.moved || unchanged(w.files) {
		return w.moved
	}
	route, err := c.d.route(w.h)
	if err != nil {
		return true // dialing says why; the file may be mended
	}
	key, files := keyOf(route)
	w.moved, w.files = key != w.key, files
	return w.moved
}

// unchanged reports whether all files are as they were.
func unchanged(files map[string]stamp.Stamp) bool {
	for path, was := range files {
		if stamp.Of(path) != was {
			return false
		}
	}
	return true
}
