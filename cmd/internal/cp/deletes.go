package cp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// confirmDeletes shows what --delete would remove, and asks. It is a dry run of the same copy.
func (o *Options) confirmDeletes(ctx context.Context, hs []hosts.Host, plan copies.Plan, local *copies.Local) error {
	if o.Yes {
		return nil
	}
	plan, _, err := readable(ctx, plan, local)
	if err != nil {
		return err
	}
	if len(plan.Entries) == 0 { // the copy reports what cannot be read, and removes nothing
		return nil
	}
	plan.DryRun = true
	dry := *o
	dry.DryRun, dry.silent, dry.JSON = true, true, false
	v := newView(&dry, hs, "")
	var mu sync.Mutex
	var doomed []string
	v.heard = func(e place.HostEnd, reports []copies.Report) {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range reports {
			if r.Done == copies.Doomed {
				doomed = append(doomed, cmdutil.OneLine(e.Host.Name+": "+r.Path))
			}
		}
	}
	v.ask = true
	if err := dry.do(ctx, hs, &copies.Copy{Plan: plan}, v); !done(err) {
		return err
	}
	if len(doomed) == 0 {
		return nil
	}
	return o.ask(ctx, doomed)
}

const maxAsked = 50 // names in a question

func (o *Options) ask(ctx context.Context, doomed []string) error {
	var b strings.Builder
	b.WriteString("--delete removes from the hosts:\n")
	for i, name := range doomed {
		if i == maxAsked {
			fmt.Fprintf(&b, "  and %d more\n", len(doomed)-i)
			break
		}
		b.WriteString("  " + name + "\n")
	}
	no := fmt.Errorf("%sit was not confirmed: nothing was copied or removed. --yes confirms it", b.String())
	if o.Terminal == nil || o.Caller().Mark != "" {
		return &cmdutil.UsageError{Err: no}
	}
	tty, err := o.Terminal()
	if err != nil {
		return &cmdutil.UsageError{Err: no}
	}
	defer tty.Close()
	defer context.AfterFunc(ctx, func() { tty.SetReadDeadline(time.Unix(1, 0)) })()
	answer := ""
	o.IO.Hold(func() {
		iostreams.DropTyped(tty)
		_, _ = io.WriteString(tty, "fairlead: "+b.String()+fmt.Sprintf("Remove %s? [y/N] ", plural(len(doomed), "name")))
		answer = readLine(tty)
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &cmdutil.UsageError{Err: errors.New("it was not confirmed: nothing was copied or removed")}
	}
	return nil
}

// readLine reads a line byte by byte, so that nothing is taken that is meant for who comes after.
func readLine(r io.Reader) string {
	var line []byte
	var b [1]byte
	for len(line) < 100 {
		n, err := r.Read(b[:])
		if n > 0 && b[0] != '\n' {
			line = append(line, b[0])
		}
		if err != nil || n > 0 && b[0] == '\n' {
			break
		}
	}
	return string(line)
}
