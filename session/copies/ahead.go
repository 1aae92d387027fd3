package copies

import (
	"context"
	"sync"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// ahead reads the small files of a download, several at a time, and gives them in order.
type ahead struct {
	queue  chan chan smallData
	memory *weight
	end    context.CancelFunc
	over   chan struct{}
}

type smallData struct {
	data []byte
	size int64 // that it was to have
	err  error
}

func newAhead(ctx context.Context, d *downloading) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	room := d.r.Width()
	g, _ := d.r.(hostfs.Gatherer)
	if g != nil {
		room = 2 * packFiles
	}
	a := &ahead{queue: make(chan chan smallData, room), memory: newWeight(inMemory), end: cancel, over: make(chan struct{})}
	context.AfterFunc(ctx, func() { a.memory.give(1 << 60) }) // nobody takes what is in it any more
	go func() {
		var wg sync.WaitGroup
		defer close(a.over)
		defer wg.Wait()
		for _, group := range d.groups(g != nil) {
			for _, f := range group {
				a.memory.take(f.Size)
			}
			answers := make([]chan smallData, len(group))
			for i := range answers {
				answers[i] = make(chan smallData, 1)
			}
			for _, one := range answers { // a group has room
				select {
				case a.queue <- one:
				case <-ctx.Done():
					return
				}
			}
			wg.Go(func() { d.readGroup(ctx, g, group, answers) })
		}
	}()
	return a
}

func (a *ahead) next(ctx context.Context) ([]byte, error) {
	select {
	case one := <-a.queue:
		select {
		case got := <-one:
			a.memory.give(got.size) // it is written next
			return got.data, got.err
		case <-ctx.Done():
			return nil, ctxerr.Of(ctx)
		}
	case <-ctx.Done():
		return nil, ctxerr.Of(ctx)
	}
}

func (a *ahead) stop() {
	a.end()
	<-a.over
}
