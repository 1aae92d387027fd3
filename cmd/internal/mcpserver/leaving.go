package mcpserver

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionHeader names the session that a request over HTTP is of.
const sessionHeader = "Mcp-Session-Id"

// calls are those that run for clients over HTTP. Where a client ends its session they are canceled, as one by one by
// notifications/cancelled: the SDK waits for them, and nobody reads their answers.
type calls struct {
	mu   sync.Mutex // guards what follows
	of   map[string]map[*context.CancelFunc]struct{}
	left map[string]int // sessions that are being ended, by how many requests
	last map[string]time.Time
}

// maxClients bounds the sessions of one principal's clients over HTTP: one that connects again and again, and ends none, would fill
// the memory until they are idle for long enough.
const maxClients = 256

// room makes room for another session: those that were used longest ago go, and none that has a call.
func (c *calls) room(all iter.Seq[*mcp.ServerSession]) {
	c.mu.Lock()
	var idle []*mcp.ServerSession
	n, open := 0, map[string]bool{}
	for s := range all {
		n++
		open[s.ID()] = true
		if len(c.of[s.ID()]) == 0 {
			idle = append(idle, s)
		}
	}
	maps.DeleteFunc(c.last, func(id string, _ time.Time) bool { return !open[id] })
	slices.SortFunc(idle, func(a, b *mcp.ServerSession) int { return c.last[a.ID()].Compare(c.last[b.ID()]) })
	c.mu.Unlock()
	for _, s := range idle[:min(max(n-maxClients+1, 0), len(idle))] {
		_ = s.Close()
	}
}

// during is middleware that lets calls end with their session.
func (c *calls) during(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		id := ""
		if s := req.GetSession(); s != nil {
			id = s.ID()
		}
		if id == "" {
			return next(ctx, method, req)
		}
		c.mu.Lock()
		c.last[id] = time.Now()
		c.mu.Unlock()
		if _, ok := req.(*mcp.CallToolRequest); !ok {
			return next(ctx, method, req)
		}
		ctx, end := context.WithCancel(ctx)
		defer end()
		c.mu.Lock()
		if c.left[id] > 0 {
			end()
		}
		if c.of[id] == nil {
			c.of[id] = map[*context.CancelFunc]struct{}{}
		}
		c.of[id][&end] = struct{}{}
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if delete(c.of[id], &end); len(c.of[id]) == 0 {
				delete(c.of, id)
			}
		}()
		return next(ctx, method, req)
	}
}

// leaving ends the calls of a session that a request ends, and makes room for one that a request begins.
func (c *calls) leaving(s *mcp.Server, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(sessionHeader)
		if r.Method == http.MethodPost && id == "" {
			c.room(s.Sessions())
		}
		if r.Method != http.MethodDelete || id == "" {
			next.ServeHTTP(w, r)
			return
		}
		c.mu.Lock()
		c.left[id]++
		for end := range c.of[id] {
			(*end)()
		}
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.left[id]--; c.left[id] == 0 {
				delete(c.left, id)
			}
		}()
		next.ServeHTTP(w, r)
	})
}
