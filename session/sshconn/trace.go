package sshconn

import (
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// traceHostKey reports a host key that was checked.
func (l *login) traceHostKey(key ssh.PublicKey, err error) {
	l.trace.HostKey(session.HostKey{Hop: l.t.hop, Addr: l.t.addr(), Type: key.Type(), Fingerprint: keyring.Fingerprint(key), Err: err})
}

// begin notes an attempt whose answer is reported when it comes.
func (l *login) begin(try session.AuthTry) {
	try.Hop, try.Addr, try.User = l.t.hop, l.t.addr(), l.t.user
	l.trying = &try
}

// answered reports what the server said to the attempt that was made last. Without one it does nothing.
func (l *login) answered(accepted bool) {
	if l.trying == nil {
		return
	}
	try := *l.trying
	l.trying, try.Accepted = nil, accepted
	l.trace.AuthTried(try)
}

// lost reports whether the connection ended before the server had answered.
func (l *login) lost(err error) bool {
	return l.clk.Err() != nil || l.w.broken.Load() && !l.decided(err)
}
