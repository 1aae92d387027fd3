package sandbox

import (
	"context"

	"github.com/fairlead-ssh/fairlead/session"
)

// Transport returns t with every program started as wrap says, and nothing beside: what else t can do, such as file
// transfer, would not be held. Closing it closes t. wrap must allow concurrent calls.
func Transport(t session.Transport, wrap func(session.Program) (session.Program, error)) session.Transport {
	return transport{t, wrap}
}

type transport struct {
	session.Transport
	wrap func(session.Program) (session.Program, error)
}

func (t transport) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	p, err := t.wrap(p)
	if err != nil {
		return nil, err
	}
	return t.Transport.Open(ctx, p)
}

// Ping implements [session.Pinger] where t does.
func (t transport) Ping(ctx context.Context) error {
	if p, ok := t.Transport.(session.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}
