package approvals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// maxAnswer bounds what is typed at a question.
const maxAnswer = 1024

var errNoTerminal = errors.New("there is no terminal to ask at")

// tty returns the terminal of the process, wherever its streams go. The end of ctx ends its reads.
func (b *Base) tty(ctx context.Context) (cmdutil.Terminal, func(), error) {
	if b.Terminal == nil {
		return nil, nil, errNoTerminal
	}
	tty, err := b.Terminal()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	stop := context.AfterFunc(ctx, func() { tty.SetReadDeadline(time.Unix(1, 0)) })
	return tty, func() { stop(); tty.Close() }, nil
}

// ask shows a question at the terminal and returns the line that is typed there. The end of the input is an empty line; the
// end of ctx ends it.
func (b *Base) ask(ctx context.Context, question string) (said string, err error) {
	tty, done, err := b.tty(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	b.IO.Hold(func() {
		iostreams.DropTyped(tty)
		if _, err = io.WriteString(tty, question); err != nil {
			return // what could not be shown is not answered
		}
		var typed []byte
		var one [1]byte // what comes after the line is for whoever reads next
		for len(typed) < maxAnswer {
			var n int
			n, err = tty.Read(one[:])
			switch {
			case n > 0 && one[0] == '\n':
				said, err = string(typed), nil
				return
			case n > 0:
				typed = append(typed, one[0])
			case errors.Is(err, io.EOF):
				err = nil
				return
			case err != nil:
				return
			}
		}
		err = errors.New("the answer is too long")
	})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return said, err
}
