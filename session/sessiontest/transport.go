package sessiontest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/session"
)

// RunTransport checks every promise of [session.Transport]. open is called at least once per subtest, must return a
// fresh transport to the same machine each time, and may use t.Cleanup. The machine needs sh, stty, od and what else a
// POSIX system has.
func RunTransport(t *testing.T, open func(t *testing.T) session.Transport) {
	for _, group := range [][]promise{outcomes, terminals, volumes, closings, lives} {
		for _, p := range group {
			t.Run(p.says, func(t *testing.T) {
				before := goleak.IgnoreCurrent()
				// Registered first, so that it runs after whatever open and the check clean up.
				t.Cleanup(func() { goleak.VerifyNone(t, before) })
				p.check(t, func() session.Transport {
					tr := open(t)
					t.Cleanup(func() { tr.Close() })
					return tr
				})
			})
		}
	}
}

// promise is one sentence of the contract, and the code that tries it.
type promise struct {
	says  string
	check func(t *testing.T, open func() session.Transport)
}
