package sessiontest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/session"
)

// RunTransport checks every promise of [session.Transport]. open must return a fresh transport to the same machine each
// time, and may use t.Cleanup. The machine needs sh, stty, od and what else a POSIX system has.
func RunTransport(t *testing.T, open func(t *testing.T) session.Transport) {
	// A program leaves its connection as it was, so that one connection serves what is about a program alone.
	for name, group := range map[string][]promise{"outcomes": outcomes, "terminals": terminals} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			tr := open(t)
			t.Cleanup(func() { tr.Close() })
			for _, p := range group {
				t.Run(p.says, func(t *testing.T) { p.check(t, func() session.Transport { return tr }) })
			}
		})
	}
	for _, group := range [][]promise{volumes, closings, lives} {
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
