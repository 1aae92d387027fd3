package pipe

import (
	"encoding/json"
	"errors"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// A connection on which a port is forwarded carries the same frames as one with a program: once the keeper has begun it says what
// it forwards, and after that the faults of single connections, as standard error. Either side ends the forward by closing.

// Told returns what tells the client of faults, until the connection ends.
func (s *Server) Told(err error) { _, _ = stream{s.f, frameErrors}.Write([]byte(err.Error())) }

// Hold keeps a forward until the client goes, or the forward ends by itself, and closes it.
func (s *Server) Hold(w *Forward) {
	defer w.Close()
	text, err := json.Marshal(w.Forwarding())
	if err != nil || s.f.write(frameBegun, text) != nil {
		return
	}
	gone := make(chan struct{})
	go func() { // ends with the connection, which the caller closes
		defer close(gone)
		_, _, _ = s.f.read(nil)
	}()
	select {
	case <-gone:
		return
	case <-w.Done():
	}
	end := End{}
	if why := w.Why(); why != nil {
		end.Why = why.Error()
	}
	_ = s.f.writeJSON(frameEnd, end)
}

// Held is a port that a keeper forwards for as long as the connection to it lasts.
type Held struct {
	f      *frames
	hangUp func() error
	what   hosts.Forward
}

// NewHeld asks for one over a connection to the keeper. A *wire.Problem says why it was refused.
func NewHeld(conn interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	Close() error
}, r Request) (*Held, error) {
	h := &Held{f: newFrames(conn, conn), hangUp: conn.Close}
	p, err := h.f.request(r)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(p, &h.what) != nil {
		return nil, ErrCutOff
	}
	return h, nil
}

// Forwarding is what is forwarded, with the port that is listened on.
func (h *Held) Forwarding() hosts.Forward { return h.what }

// Wait tells of the faults of single connections until the forward ends, and returns why.
func (h *Held) Wait(tell func(error)) error {
	for {
		kind, p, err := h.f.read(nil)
		switch {
		case err != nil:
			return errors.New("the keeper went away, and with it the forward")
		case kind == frameErrors:
			tell(errors.New(string(p)))
		case kind == frameEnd:
			var e End
			if json.Unmarshal(p, &e) != nil || e.Why == "" {
				e.Why = "it was closed"
			}
			return errors.New(e.Why)
		}
	}
}

// Close ends the forward.
func (h *Held) Close() error { return h.hangUp() }
