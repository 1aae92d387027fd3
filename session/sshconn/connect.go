package sshconn

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// stage is how far a connection came, for errors.
type stage int

const (
	reaching stage = iota // no network connection yet
	greeting              // connected, and the server has not said that it speaks SSH
	agreeing              // key exchange
	entering              // the host is who it should be; logging in
)

func (d *Dialer) timeout(t *target) time.Duration {
	if t.timeout != 0 {
		return t.timeout
	}
	return d.net.ConnectTimeout
}

// connect makes one connection and logs in. It takes over via only when it succeeds. A server that has hung up while a person
// was asked is connected to again, once: they do not wait for long (LoginGraceTime), and the answer may be on record.
func (d *Dialer) connect(clk *clock.Clock, t *target, via *jump) (*Conn, error) {
	return oneOf(clk, t, func() (*Conn, error) {
		return d.admitted(clk, t, via, func() (*Conn, error) {
			c, hungUp, err := d.connectOnce(clk, t, via)
			if err != nil && hungUp {
				c, _, err = d.connectOnce(clk, t, via)
			}
			return c, err
		})
	})
}

// connectOnce is connect that connects once. hungUp says that the connection went away after a person had been asked.
func (d *Dialer) connectOnce(clk *clock.Clock, t *target, via *jump) (_ *Conn, hungUp bool, _ error) {
	var raw net.Conn
	var err error
	switch {
	case via != nil:
		raw, err = via.conn.tunnel(clk, t.host, t.port)
	case t.proxy != nil:
		raw, err = t.through(clk)
	default:
		raw, err = d.open(clk, t)
	}
	if err != nil {
		e := &Error{Host: t.name, Addr: t.addr(), Step: StepReach, Err: explain(clk, reaching, err, "")}
		if via != nil && clk.Err() != nil {
			e.Err = silent(clk, via.conn.t.name+" does not connect to it; is the host up, is a firewall in between?")
		}
		if _, ok := errors.AsType[*net.DNSError](err); ok {
			e.Step = StepResolve
		}
		return nil, false, e
	}
	// Not every connection knows deadlines, so the end of time closes it.
	stop := context.AfterFunc(clk, func() { raw.Close() })

	w := &wire{Conn: raw, exchange: &keyring.Exchange{}}
	if t.rekey != 0 {
		w.kept, w.stuck = -1, make(chan struct{})
	}
	l := &login{t: t, clk: clk, w: w, max: d.net.MaxTries, trace: session.TraceDial(clk)}
	proxy, _ := raw.(*proxied)
	if proxy != nil {
		proxy.tells(l.proxySays)
	}
	sc, channels, requests, err := ssh.NewClientConn(w, t.addr(), l.settings())
	if proxy != nil {
		proxy.tells(nil)
	}
	if err == nil || !l.lost(err) {
		l.answered(err == nil)
	}
	l.end()
	if err == nil && !stop() {
		sc.Close()
		err = ended(clk)
	}
	shown, signature := w.shown()
	heard := w.hush()
	if err != nil {
		stop()
		raw.Close()
		_, _, refused := l.verdict()
		failure := l.failed(err, heard)
		if proxy != nil {
			failure = proxy.explain(failure)
		}
		return nil, refused == nil && l.asked.Load() && !l.decided(err) && l.notTyped == nil && clk.Err() == nil, failure
	}

	c := newConn(d, t, via, w, sc)
	if t.lent != "" && shown != nil {
		c.bound = &keyring.Binding{HostKey: shown, ID: sc.SessionID(), Signature: signature, Forwarding: true}
	}
	c.hostKey, c.vouched, _ = l.verdict()
	c.peer.HostKey = keyring.Fingerprint(c.hostKey)
	if c.peer.Key, c.cert = l.credential(); c.cert != nil {
		c.peer.CertID, c.peer.CertSerial = c.cert.KeyId, c.cert.Serial
	}
	l.ring, l.tried = nil, nil // the library keeps l, for when keys are exchanged again
	if via != nil {
		c.peer.Via = append(slices.Clone(via.conn.peer.Via), via.conn.t.name)
	}
	var list []byte
	if c.rotates() && t.rotation.asks {
		list = c.listed(clk, requests)
	}
	c.run(channels, requests)
	if list != nil {
		c.rotateAsked(clk, list)
	}
	return c, false, nil
}

// settings returns what the SSH library needs to know.
func (l *login) settings() *ssh.ClientConfig {
	secure := ssh.SupportedAlgorithms()
	cfg := &ssh.ClientConfig{
		User:              l.t.user,
		AuthCallback:      l.next,
		HostKeyAlgorithms: l.t.hostKeys.Algorithms(l.t.query()),
		ClientVersion:     "SSH-2.0-Fairlead",
		HostKeyCallback:   l.checkHostKey,
		BannerCallback:    l.banner,
	}
	cfg.KeyExchanges, cfg.Ciphers, cfg.MACs = secure.KeyExchanges, secure.Ciphers, secure.MACs
	if a := l.t.algorithms; a.Exchanges != nil {
		cfg.KeyExchanges = a.Exchanges
	}
	if a := l.t.algorithms; a.Ciphers != nil {
		cfg.Ciphers = a.Ciphers
	}
	if a := l.t.algorithms; a.Macs != nil {
		cfg.MACs = a.Macs
	}
	cfg.RekeyThreshold = serversTurn
	if l.t.rekey != 0 {
		cfg.RekeyThreshold = max(l.t.rekey, afterLogin)
	}
	return cfg
}

// afterLogin is more than a login takes: OpenSSH exchanges no keys before that has ended, either.
const afterLogin = 64 << 10

// serversTurn is after how many bytes keys are exchanged again where no RekeyLimit is set: so many that it is the server that begins,
// as OpenSSH's does after the volume that suits the cipher. See exchange.go for why.
const serversTurn = 1 << 40
