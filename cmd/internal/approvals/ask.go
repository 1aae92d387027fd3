package approvals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxAnswer bounds what is typed at a question.
const maxAnswer = 1024

// ask shows a question at the terminal of the process, wherever its streams go, and returns the line that is typed there.
// The end of the input is an empty line; the end of ctx ends it.
func (o *AnswerOptions) ask(ctx context.Context, question string) (said string, err error) {
	tty, err := o.Terminal()
	if err != nil {
		return "", fmt.Errorf("cannot open the terminal to ask at: %w; give --yes to approve without being asked", err)
	}
	defer tty.Close()
	defer context.AfterFunc(ctx, func() { tty.SetReadDeadline(time.Unix(1, 0)) })()
	o.IO.Hold(func() {
		if _, err = io.WriteString(tty, question); err != nil {
			return // what could not be shown is not approved
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
