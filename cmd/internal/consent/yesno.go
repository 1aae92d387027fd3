package consent

import (
	"context"
	"errors"
	"strings"
)

// YesNo asks a question at the terminal, and reports whether the answer is yes. ErrNoTerminal is wrapped where there is none
// to ask at; the end of ctx is its cause.
func (o *Judge) YesNo(ctx context.Context, question string) (yes bool, err error) {
	yes, err = o.ask(ctx, func(ask asker) (bool, error) {
		answer, err := ask(question)
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", err
	})
	if errors.Is(err, errNoTerminal) {
		err = ErrNoTerminal
	}
	return yes, err
}

// ErrNoTerminal says that there is no terminal to ask at.
var ErrNoTerminal = errNoTerminal

// CanAsk reports whether there is a terminal to ask at.
func (o *Judge) CanAsk() bool {
	if o.Terminal == nil {
		return false
	}
	tty, err := o.Terminal()
	if err != nil {
		return false
	}
	tty.Close()
	return true
}
