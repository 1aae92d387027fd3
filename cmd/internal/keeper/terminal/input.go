package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/coder/websocket"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
)

const (
	maxTyped  = 1 << 20  // bytes that wait for the program
	tellTaken = 16 << 10 // bytes taken, after which the client is told
)

// hear takes what the client sends, until the connection ends.
func (t *Terminal) hear(gone context.CancelCauseFunc) {
	buf := make([]byte, 16<<10)
	defer clear(buf) // there may be passwords in it
	for {
		kind, r, err := t.ws.Reader(context.Background()) // a context that ends would end the connection
		switch {
		case err != nil:
			err = errClientGone
		case kind == websocket.MessageText:
			err = t.control(r)
		default:
			err = t.hearTyped(r, buf)
		}
		switch {
		case err == errLate:
			return
		case err != nil:
			gone(err)
			return
		}
	}
}

// errLate is what comes after the end of the right to type: it is not typed.
var errLate = errors.New("the right to type has ended")

// control reads and obeys a control message.
func (t *Terminal) control(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, maxControl+1))
	switch {
	case err != nil:
		return errClientGone
	case t.live.Err() != nil:
		return errLate
	case len(text) > maxControl:
		return errNonsense
	}
	return t.obey(text)
}

// hearTyped takes what is typed with one frame, piece by piece.
func (t *Terminal) hearTyped(r io.Reader, buf []byte) error {
	for {
		n, err := r.Read(buf)
		switch {
		case t.live.Err() != nil:
			return errLate
		case n > 0:
			if t.ask.record == wire.RecordInput {
				t.rec.Input(buf[:n])
			}
			if !t.queue.Offer(buf[:n]) {
				return errTooMuch
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errClientGone
		}
	}
}

// typing passes on what is typed, and tells the client how much of it the program has taken: a client that keeps to that
// never types too much.
func (t *Terminal) typing(ctx context.Context) {
	buf := make([]byte, 4<<10)
	defer clear(buf)
	for told := int64(-tellTaken); ; {
		if taken := t.typed.Load(); taken-told >= tellTaken {
			told = taken
			text, err := json.Marshal(wire.TerminalSays{Taken: &taken})
			if err != nil || t.write(ctx, websocket.MessageText, text) != nil {
				t.queue.Close() // nobody is there
				return
			}
		}
		n := t.queue.Take(buf)
		if n == 0 {
			return
		}
		n, err := t.stream.Write(buf[:n])
		t.typed.Add(int64(n))
		if err != nil { // the program has ended, which the reader of its output learns too
			t.queue.Close()
			return
		}
	}
}

// obey does what a control message says. The error is why the terminal ends with it.
func (t *Terminal) obey(text []byte) error {
	var m wire.TerminalHears
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(&m); {
	case err != nil || d.More() || m.HangUp == (m.Resize != nil):
		return errNonsense
	case m.HangUp:
		return errHungUp
	}
	size := session.Size{Rows: m.Resize.Rows, Cols: m.Resize.Cols}
	if size.Rows < 1 || size.Rows > wire.MaxCells || size.Cols < 1 || size.Cols > wire.MaxCells {
		return errNonsense
	}
	t.rec.Resize(size)
	if r, ok := t.stream.(session.Resizer); ok {
		_ = r.Resize(size) // fails when the program has ended
	}
	return nil
}
