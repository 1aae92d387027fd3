package session_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// What the soak's policy says of one-off commands by how they end, so that their shells are kept, or started ahead, or neither.
const (
	leavesNothing = " # leaves nothing"
	onlyLooks     = " # only looks"
)

var soakPolicy = policy.DeciderFunc(func(ctx context.Context, req policy.Request) (policy.Decision, error) {
	d, err := policy.AllowAll.Decide(ctx, req)
	if strings.HasSuffix(req.Command, leavesNothing) || strings.HasSuffix(req.Command, onlyLooks) {
		d.Class, d.Traceless = policy.ReadOnly, strings.HasSuffix(req.Command, leavesNothing)
	}
	return d, err
})

// oneOffs runs some one-off commands beside each other and after one another: none sees what another one has set.
func (w *worker) oneOffs() {
	n := w.rng.IntN(1000)
	var lists [][]session.Command
	for range 1 + w.rng.IntN(3) {
		var list []session.Command
		for range 1 + w.rng.IntN(4) {
			text := fmt.Sprintf("echo %d; ls -d /", n) + leavesNothing
			switch w.rng.IntN(4) {
			case 0:
				text = fmt.Sprintf(`echo "${FL_LEAK-%d}"; cd / && ls -d "$PWD"`, n) + onlyLooks
			case 1:
				text = fmt.Sprintf("FL_LEAK=leaked; export FL_LEAK; umask 0; cd /usr; trap 'echo leaked' EXIT; echo %d; trap - EXIT; echo /", n)
			}
			list = append(list, session.Command{Script: text, Timeout: time.Minute})
		}
		lists = append(lists, list)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for _, list := range lists {
		wg.Go(func() {
			for _, cmd := range list {
				before := w.site.cuts.Load()
				r, err := w.site.pool.Run(ctx, w.site.on(w.shell), cmd)
				quiet := w.quiet(before)
				w.commands.Add(1)
				w.oneOff.Add(1)
				switch r.Status {
				case session.StatusOK:
					w.must(err == nil, r, "an answer with an error: %v", err)
					w.exited(r, 0, fmt.Sprintf("%d\n/\n", n))
				case session.StatusLost:
					w.must(!quiet && r.Err.Sent && !r.Err.Retriable, r, "lost without a cut, or not as it should")
				case session.StatusUnreachable, session.StatusError:
					w.must(!quiet && !r.Err.Sent, r, "an error without a cut, or after something was sent")
				default:
					w.must(false, r, "an unexpected status")
				}
			}
		})
	}
	wg.Wait()
	assert.NoError(w.t, ctx.Err(), "one-off commands hang")
}
