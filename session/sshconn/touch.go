package sshconn

import (
	"context"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// touch tells a person to touch a security key, until over is called. One login at a time uses a key, so that a person knows for
// which host a touch is.
func (l *login) touch(key ssh.PublicKey) (over func(), err error) {
	l.clk.Pause()
	done, err := l.t.turns.take(l.clk, "touch "+keyring.Fingerprint(key))
	if err != nil {
		l.clk.Resume()
		return nil, err
	}
	ctx, cancel := context.WithCancel(l.clk)
	told := make(chan struct{})
	go func() { // while the key signs: its light may be the only thing that a person sees
		defer close(told)
		if l.t.ask != nil {
			_, _ = l.t.ask(ctx, Question{Kind: AskTouch, Host: l.t.name, Addr: l.t.addr(), User: l.t.user, KeyFile: keyring.Fingerprint(key), Try: 1})
		}
	}()
	return func() {
		cancel()
		<-told
		done()
		l.clk.Resume()
	}, nil
}
