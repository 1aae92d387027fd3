package keeper

import (
	"context"
	"net/http"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// maxFiled is how many keys of work on files are remembered.
const maxFiled = 10000

// filed remembers which work on a file a key stands for, so that a request that is sent twice is done once.
type filed struct {
	mu    sync.Mutex // guards what follows
	m     map[string]*filing
	order []string // the oldest first
}

// filing is a key's work.
type filing struct {
	request string
	ready   chan struct{} // closed when what follows is set
	exec    string        // "" where it came to nothing
}

func newFiled() *filed { return &filed{m: map[string]*filing{}} }

// once starts work for the first of equal requests with a key; others get the same Exec. What came to nothing may be asked
// for again.
func (f *filed) once(ctx context.Context, k *Keeper, c *caller, key string, request any, begin func() (*registry.Exec, error)) (*registry.Exec, error) {
	if key == "" {
		return begin()
	}
	giveBack, err := k.claim(ctx, c, key, request)
	if err != nil {
		return nil, err
	}
	name, text := c.principal+"\x00"+key, string(resultJSON(request))
	for {
		f.mu.Lock()
		was := f.m[name]
		if was == nil {
			was = f.add(name, text)
			f.mu.Unlock()
			return f.begin(name, was, giveBack, begin)
		}
		f.mu.Unlock()
		if was.request != text {
			return nil, problem(http.StatusConflict, registry.CodeConflict, "the %s was used for another request", wire.IdempotencyKey)
		}
		select {
		case <-was.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if was.exec != "" {
			return k.exec(c, was.exec)
		}
	}
}

// add makes a filing. f.mu is held.
func (f *filed) add(name, request string) *filing {
	if len(f.order) >= maxFiled {
		delete(f.m, f.order[0])
		f.order = f.order[1:]
	}
	was := &filing{request: request, ready: make(chan struct{})}
	f.m[name] = was
	f.order = append(f.order, name)
	return was
}

func (f *filed) begin(name string, was *filing, giveBack func(), begin func() (*registry.Exec, error)) (*registry.Exec, error) {
	x, err := begin()
	f.mu.Lock()
	defer f.mu.Unlock()
	defer close(was.ready)
	if err != nil {
		if f.m[name] == was {
			delete(f.m, name)
		}
		giveBack()
		return nil, err
	}
	was.exec = x.ID()
	return x, nil
}
