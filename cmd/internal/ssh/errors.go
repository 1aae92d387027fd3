package ssh

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// fail tells an error, and ends as ssh ends.
func fail(to io.Writer, err error) error {
	fmt.Fprintf(to, "fairlead: ssh: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
	return cmdutil.Exit(failed)
}

// named is err with the name of the host.
func named(h hosts.Host, err error) error {
	if err == nil {
		return nil
	}
	if e := (*session.Error)(nil); errors.As(err, &e) { // it names the host in its own way
		return &namedError{h.Name + ": " + strings.TrimPrefix(cmdutil.WhyAt(err), h.Name+": "), err}
	}
	if text := cmdutil.Text(err); !strings.HasPrefix(text, h.Name) {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	return err
}

// namedError is an error whose text names the host already.
type namedError struct {
	text string
	err  error
}

func (e *namedError) Error() string { return e.text }

func (e *namedError) Unwrap() error { return e.err }

// fail tells an error, and ends as ssh ends. With -q it says nothing of a connection that is not made, as ssh does.
func (r *runner) fail(err error) error {
	if r.c.level == nothing && connecting(err) {
		return cmdutil.Exit(failed)
	}
	return fail(r.says, err)
}

// connecting reports whether err says that there is no connection.
func connecting(err error) bool {
	status := ""
	if e, ok := errors.AsType[*wire.Problem](err); ok {
		status = e.Code
	}
	if e, ok := errors.AsType[*session.Error](err); ok {
		status = e.Code
	}
	return slices.Contains([]string{string(session.StatusUnreachable), string(session.StatusAuth), string(session.StatusHostKey)}, status)
}
