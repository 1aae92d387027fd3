package rules

import (
	"hash/maphash"
	"sync"

	"github.com/fairlead-ssh/fairlead/session/policy"
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
	installs           bool
	elsewhere          bool
	own                *judge.Own
}

func keyOf(req policy.Request, own *judge.Own) key {
	return key{own: own, installs: RoleOf(req.Principal) != Agent, script: req.Command, shell: req.Shell, dir: req.Dir, interactive: req.Interactive, elsewhere: req.Elsewhere}
}

// judged is what was found out about a command: at once by the judge, and the words when a rule wants to know them.
type judged struct {
	rep     judge.Report
	command func() *command
}

func judgeKey(k key) *judged {
	j := &judged{rep: judge.Judge(judge.Request{Script: k.script, Shell: k.shell, Dir: k.dir, Interactive: k.interactive, Installs: k.installs, Elsewhere: k.elsewhere, Own: k.own})}
	j.command = sync.OnceValue(func() *command { return newCommand(k, &j.rep) })
	return j
}

// cache keeps reports by exact bytes. Each shard has two generations: what is used moves to the young one, and when
// that is full the old one goes. The zero cache is ready for use.
type cache struct{ shards [cacheShards]shard }

type shard struct {
	mu         sync.Mutex
	young, old map[key]*judged
	bytes      int // of the young keys
}

func (c *cache) shard(k key) *shard {
	return &c.shards[maphash.String(hashSeed, k.script)%cacheShards]
}

var hashSeed = maphash.MakeSeed()

func (c *cache) get(k key) *judged {
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

func (c *cache) put(k key, r *judged) {
	if len(k.script) > cacheLongest {
		return
	}
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(k, r)
}

// put adds to the young generation. mu is held.
func (s *shard) put(k key, r *judged) {
	if s.young == nil || len(s.young) >= cacheEntries || s.bytes >= cacheBytes {
		s.young, s.old, s.bytes = make(map[key]*judged), s.young, 0
	}
	s.young[k] = r
	s.bytes += len(k.script) + len(k.dir)
}
