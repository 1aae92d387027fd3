package session

import (
	"context"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// inner is what packages below this one do with a command: see package seam.
type inner struct {
	action   seam.Action[Transport] // done instead of running Script, which then says for the policy what the action means
	wrapping seam.Wrapping          // says what is sent instead of Script, which is judged all the same
	own      bool                   // nobody has asked for the command: it makes the session ready
}

func init() {
	seam.Act = func(cmd, action any) { cmd.(*Command).inner.action = action.(seam.Action[Transport]) }
	seam.Wrap = func(cmd any, w seam.Wrapping) { cmd.(*Command).inner.wrapping = w }
	seam.Own = func(cmd any) { cmd.(*Command).inner.own = true }
	seam.Lend = func(ctx context.Context, pool any, h hosts.Host, use any) (func(), error) {
		return pool.(*Pool).lend(ctx, h, use.(func(Transport) error))
	}
	seam.Elevate = func(t any, h hosts.Host, ask any) any {
		return newElevation(h, &Config{Become: ask.(become.Ask), Ready: DefaultReady}).on(t.(Transport))
	}
}
