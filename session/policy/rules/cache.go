package rules

import (
	"sync"

	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What the cache may hold. Longer commands are judged anew: they are rare, and their reports are large.
const (
	cacheShards  = 8
	cacheEntries = 512      // per shard and generation
	cacheBytes   = 64 << 10 // of keys, per shard and generation
	cacheLongest = 4 << 10  // of one command
)

// key is everything that a report depends on.
type key struct {
	script, shell, dir string
	interactive        bool
}

// cache keeps reports by exact bytes. Each shard has two generations: what is used moves to the young one, and when
// that is full the old one goes. The zero cache is ready for use.
type cache struct{ shards [cacheShards]shard }

type shard struct {
	mu         sync.Mutex
	young, old map[key]*judge.Report
	bytes      int // of the young keys
}

func (c *cache) shard(k key) *shard {
	// The ends of commands differ more than their beginnings.
	h := uint32(len(k.script))
	for i := len(k.script) - 1; i >= 0 && i >= len(k.script)-8; i-- {
		h = h*31 + uint32(k.script[i])
	}
	return &c.shards[h%cacheShards]
}

func (c *cache) get(k key) *judge.Report {
	if len(k.script) > cacheLongest {
		return nil
	}
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.young[k]; r != nil {
		return r
	}
	r := s.old[k]
	if r != nil {
		s.put(k, r)
	}
	return r
}

func (c *cache) put(k key, r *judge.Report) {
	if len(k.script) > cacheLongest {
		return
	}
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(k, r)
}

// put adds to the young generation. mu is held.
func (s *shard) put(k key, r *judge.Report) {
	if s.young == nil || len(s.young) >= cacheEntries || s.bytes >= cacheBytes {
		s.young, s.old, s.bytes = make(map[key]*judge.Report), s.young, 0
	}
	s.young[k] = r
	s.bytes += len(k.script) + len(k.dir)
}
