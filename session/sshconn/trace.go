package sshconn

import (
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
)

// traceHostKey reports a host key that was checked.
func (l *login) traceHostKey(key ssh.PublicKey, err error) {
	l.trace.HostKey(session.HostKey{Hop: l.t.hop, Addr: l.t.addr(), Type: key.Type(), Fingerprint: fingerprint(key), Err: err})
}

// answered reports what the server said to the key that was offered last. Without one it does nothing.
func (l *login) answered(accepted bool) {
	n := len(l.tried)
	if l.traced == n {
		return
	}
	l.traced = n
	o := l.tried[n-1]
	l.trace.AuthTried(session.AuthTry{
		Hop: l.t.hop, Addr: l.t.addr(), User: l.t.user, Method: "publickey", From: o.From, Fingerprint: o.Fingerprint, Accepted: accepted,
	})
}

// lost reports whether the connection ended before the server had answered.
func (l *login) lost(err error) bool {
	return l.clk.Err() != nil || l.w.broken.Load() && !l.decided(err)
}
