package audit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// keptOutputs finds what was kept of the outputs of commands.
type keptOutputs struct {
	dir   string
	store audit.OutputStore
}

// stream is what was kept of one stream.
type stream struct {
	name, sum string
	errors    bool
}

func streamsOf(e audit.Event) (out []stream) {
	if e.StdoutKept != "" {
		out = append(out, stream{name: "stdout", sum: e.StdoutKept})
	}
	if e.StderrKept != "" {
		out = append(out, stream{name: "stderr", sum: e.StderrKept, errors: true})
	}
	return out
}

// state says what became of an output of which record seq says that it is kept.
func (k *keptOutputs) state(ctx context.Context, sum string, seq uint64) string {
	data, err := k.store.Get(ctx, sum)
	switch {
	case err == nil:
		return "kept: " + cmdutil.Count(uint64(len(data)), "byte")
	case errors.Is(err, audit.ErrNoOutput):
		return k.gone(seq)
	}
	return "unreadable: " + cmdutil.Text(err)
}

// gone tells an output that was purged from one that somebody took away.
func (k *keptOutputs) gone(seq uint64) string {
	text := "missing, and no entry says that it was purged"
	for e, err := range audit.All(k.dir) {
		if err == nil && e.Kind == audit.ChainPurge && e.Purged.Outputs > 0 && e.Seq > seq {
			text = fmt.Sprintf("purged at %s", stamp(e.Time))
			if e.Principal != "" {
				text += " by " + e.Principal
			}
		}
	}
	return text
}

// print writes what was kept. On a terminal it is cleaned of what a terminal obeys.
func (k *keptOutputs) print(ctx context.Context, ios *iostreams.IOStreams, events []audit.Event) error {
	any := false
	for _, e := range events {
		for _, s := range streamsOf(e) {
			data, err := k.store.Get(ctx, s.sum)
			if errors.Is(err, audit.ErrNoOutput) {
				return cmdutil.Usagef("its %s is not kept any more: %s", s.name, k.gone(e.Seq))
			} else if err != nil {
				return err
			}
			var w io.Writer = ios.Out
			tty := ios.OutTTY
			if s.errors {
				w, tty = ios.Err, ios.ErrTTY
			}
			if tty {
				text, _ := screen.Clean(string(data))
				data = []byte(text)
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
			any = true
		}
	}
	if !any {
		return cmdutil.Usagef("no output of it was kept")
	}
	return nil
}
