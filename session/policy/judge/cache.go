package judge

import (
	"strconv"
	"strings"
	"sync"
)

// DefaultCacheSize is how many reports a Cache keeps when its size is zero.
const DefaultCacheSize = 4096

// maxCached is the longest request that is worth keeping.
const maxCached = 4 << 10

// Cache keeps reports by the exact bytes of the request. It may be used concurrently.
type Cache struct {
	size     int
	mu       sync.Mutex
	now, old map[string]Report // two generations: what was not asked for during a whole one is forgotten
}

// NewCache makes a cache of at most about size reports; 0 means DefaultCacheSize, negative keeps none.
func NewCache(size int) *Cache {
	if size == 0 {
		size = DefaultCacheSize
	}
	return &Cache{size: size / 2, now: make(map[string]Report)}
}

// Judge is the function Judge, from memory where that is possible. Callers share the report.
func (c *Cache) Judge(req Request) Report {
	key, ok := cacheKey(req)
	if !ok || c.size <= 0 {
		return Judge(req)
	}
	c.mu.Lock()
	r, hit := c.now[key]
	if !hit {
		if r, hit = c.old[key]; hit {
			c.put(key, r)
		}
	}
	c.mu.Unlock()
	if hit {
		return r
	}
	r = Judge(req)
	c.mu.Lock()
	c.put(key, r)
	c.mu.Unlock()
	return r
}

func (c *Cache) put(key string, r Report) {
	if len(c.now) >= c.size {
		c.now, c.old = make(map[string]Report), c.now
	}
	c.now[key] = r
}

func cacheKey(req Request) (string, bool) {
	if req.Own != nil {
		return "", false
	}
	n := len(req.Script) + len(req.Shell) + len(req.Dir) + len(req.Program) + 16
	for _, a := range req.Args {
		n += len(a) + 8
	}
	if n > maxCached {
		return "", false
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteString(strconv.FormatBool(req.Interactive))
	for _, s := range append([]string{req.Script, req.Shell, req.Dir, req.Program}, req.Args...) {
		b.WriteString(strconv.Itoa(len(s)))
		b.WriteByte(':')
		b.WriteString(s)
	}
	return b.String(), true
}
