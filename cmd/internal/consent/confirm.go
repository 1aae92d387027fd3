package consent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// confirm asks for a second thought.
func (o *Judge) confirm(ctx context.Context, v *Verdict, q *question) (*missing, error) {
	said, err := o.ask(ctx, func(ask asker) (bool, error) {
		answer, err := ask(q.text("This needs a confirmation.") + "Run it? [y/N] ")
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", err
	})
	switch {
	case errors.Is(err, errNoTerminal):
		return &missing{what: "it needs a confirmation, and there is no terminal to ask at"}, nil
	case err != nil:
		return nil, err
	case !said:
		return &missing{what: "it was not confirmed", noHint: true}, nil
	}
	v.answered, v.approval = policy.NeedsConfirmation, byTerminal
	return nil, nil
}

// breakGlass asks for the name of the host, or for the number of them, and for a reason.
func (o *Judge) breakGlass(ctx context.Context, v *Verdict, q *question) (*missing, error) {
	word, what := GlassWord(q.names), "the name of the host"
	if len(q.names) > 1 {
		what = "the number of hosts"
	}
	reason := o.Reason
	said, err := o.ask(ctx, func(ask asker) (bool, error) {
		answer, err := ask(q.text("This command is forbidden. To override, which the audit log records:") + "Type " + what + ": ")
		if err != nil || strings.TrimSpace(answer) != word {
			return false, err
		}
		if reason == "" {
			reason, err = ask("And the reason: ")
			reason = strings.TrimSpace(reason)
		}
		return reason != "", err
	})
	switch {
	case errors.Is(err, errNoTerminal):
		return &missing{what: "it is forbidden; to override, run it from a terminal"}, nil
	case err != nil:
		return nil, err
	case !said:
		return &missing{what: "not overridden: that takes " + what + " and a reason", noHint: true}, nil
	}
	v.answered, v.approval = policy.NeedsBreakGlass, byBreakGlass
	v.Reason = reason
	return nil, nil
}

// GlassWord is what has to be typed to break the glass on these hosts: the name of a single one, the number of several.
func GlassWord(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strconv.Itoa(len(names))
}

// maxShown bounds how much of a command a question shows.
const maxShown = 16 << 10

// text is what is asked about.
func (q *question) text(head string) string {
	var b strings.Builder
	count := "1 host"
	if len(q.names) > 1 {
		count = fmt.Sprintf("%d hosts", len(q.names))
	}
	fmt.Fprintf(&b, "fairlead: %s\n", head)
	fmt.Fprintf(&b, "  hosts    %s (%s)\n", cmdutil.OneLine(hosts.Fold(append([]string(nil), q.names...))), count)
	fmt.Fprintf(&b, "  class    %s (%s)\n", q.all.Class, q.all.Rule)
	fmt.Fprintf(&b, "  because  %s\n", cmdutil.OneLine(q.why()))
	if q.all.Hint != "" && q.all.Needs == policy.NeedsConfirmation {
		fmt.Fprintf(&b, "  hint     %s\n", cmdutil.OneLine(q.all.Hint))
	}
	text, left := q.script, 0
	if len(text) > maxShown {
		text, left = text[:maxShown], len(text)-maxShown
	}
	lines, escaped := printable.Script(strings.TrimSuffix(text, "\n"), '\t')
	note := ""
	if escaped {
		note = ` (with \ doubled, and what cannot be seen written as in Go)`
	}
	fmt.Fprintf(&b, "  command%s\n", note)
	for _, line := range lines {
		b.WriteString("    " + line + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, "    … and %d more bytes\n", left)
	}
	return b.String()
}

// asker prints a question and reads a line.
type asker func(question string) (string, error)

var errNoTerminal = errors.New("there is no terminal to ask at")

// ask has f ask at the terminal of the process, with nothing else written meanwhile. The end of ctx ends it. The end of
// input is an answer like an empty one.
func (o *Judge) ask(ctx context.Context, f func(asker) (bool, error)) (yes bool, err error) {
	if o.Terminal == nil {
		return false, errNoTerminal
	}
	tty, err := o.Terminal()
	if err != nil {
		return false, errNoTerminal
	}
	defer tty.Close()
	defer context.AfterFunc(ctx, func() { tty.SetReadDeadline(time.Unix(1, 0)) })()
	o.IO.Hold(func() {
		yes, err = f(func(question string) (string, error) {
			iostreams.DropTyped(tty)
			if _, err := io.WriteString(tty, question); err != nil {
				return "", err
			}
			answer, err := readLine(tty)
			if err != nil {
				_, _ = io.WriteString(tty, "\n") // the next message begins on a line of its own
			}
			return answer, err
		})
	})
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return yes, err
}

// maxAnswer bounds what is typed at a question.
const maxAnswer = 4096

// readLine reads a line from a terminal, byte by byte, so that nothing is taken that is meant for whoever comes after.
func readLine(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for len(line) < maxAnswer {
		n, err := r.Read(b[:])
		if n > 0 {
			if b[0] == '\n' {
				return string(line), nil
			}
			line = append(line, b[0])
			continue
		}
		if err != nil {
			return "", err
		}
	}
	return "", errors.New("the answer is too long")
}
