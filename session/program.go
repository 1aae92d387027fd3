package session

import "context"

// held is t with programs started as the host's Become and Config.Program say. Signals go the same way as shells: process numbers mean
// something only where the shell is.
func (s *Session) held(t Transport) Transport {
	t = s.elevation.on(t)
	if s.cfg.Program == nil {
		return t
	}
	return heldTransport{t, s.cfg.Program}
}

type heldTransport struct {
	Transport
	change func(Program) (Program, error)
}

// Held implements seam.Held.
func (heldTransport) Held() {}

func (t heldTransport) Open(ctx context.Context, p Program) (Stream, error) {
	p, err := t.change(p)
	if err != nil {
		return nil, err
	}
	return t.Transport.Open(ctx, p)
}
