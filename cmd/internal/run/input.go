package run

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// input is what the commands get as standard input. The zero input is nothing.
type input struct {
	one  io.Reader
	each *spool
}

// put makes it a command's.
func (in *input) put(cmd *session.Command) {
	cmd.Stdin = in.one
	if in.each != nil {
		cmd.Stdins = func(hosts.Host) io.Reader { return in.each.reader() }
	}
}

func (in *input) close() {
	if in.each != nil {
		in.each.close()
	}
}

// input returns what --stdin asks for. Nothing is read for a request that was refused.
func (o *Options) input(ctx context.Context, n int, judged *consent.Verdict) (*input, error) {
	in := &input{}
	switch {
	case judged.Refused():
	case o.Stdin == stdinHost, o.Stdin == stdinCopy && n == 1:
		in.one = o.IO.In
	case o.Stdin == stdinCopy:
		var err error
		if in.each, err = newSpool(ctx, o.IO.In); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// listInput is what "-" reads in a selector.
func (o *Options) listInput() io.Reader {
	switch {
	case o.Stdin != stdinNone:
		return taken{errors.New("--stdin has standard input already: write the names to a file")}
	case o.ScriptFile == "-":
		return taken{errors.New("--script has standard input already: write the names to a file")}
	}
	return o.IO.In
}

type taken struct{ error }

func (t taken) Read([]byte) (int, error) { return 0, t.error }

// leftAlone tells once that there is standard input which nobody reads.
type leftAlone struct {
	o    *Options
	told bool
}

// tell looks, and tells if there is something to tell.
func (l *leftAlone) tell() {
	if l.told || l.o.Stdin != stdinNone || l.o.ScriptFile == "-" || !l.o.IO.InWaits() {
		return
	}
	l.told = true
	fmt.Fprintln(l.o.IO.Err, "fairlead: standard input is left alone: --stdin gives it to the command on one host, --stdin=copy to each")
}
