package sshconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// HostKeyChange is what a host's keys in known_hosts files become, because the host, once it was known and logged in to, has said
// which keys are its own (UpdateHostKeys).
type HostKeyChange struct {
	Host  string   // as the operator calls it
	Name  string   // as it is recorded
	Files []string // the first gets new keys
	New   []string // "ssh-ed25519 SHA256:…", each proved by the host
	Old   []string // that the host does not have any more, likewise
}

// Names of OpenSSH's PROTOCOL, 2.5.
const (
	hostKeysRequest = "hostkeys-00@openssh.com"
	proveRequest    = "hostkeys-prove-00@openssh.com"
)

const (
	maxOwnKeys  = 32 // of one host
	rotateLimit = 30 * time.Second
)

// rotation is where and how the keys of a host are kept up to date; nil means that they are not.
type rotation struct {
	asks          bool     // a person, before anything changes
	files, others []string // that may change, and that are only read
	hash          bool
	changing      func(context.Context, HostKeyChange) error

	done chan struct{} // closed once all is done
}

// rotate takes the list of its keys that the host sends once after login. What it does is no part of any command: errors end it.
func (c *Conn) rotate(payload []byte) {
	if !c.rotates() || c.t.rotation.asks { // those are dealt with while connecting
		return
	}
	c.rotating.Do(func() {
		c.spawn(func() {
			ctx, cancel := context.WithTimeout(context.Background(), rotateLimit)
			defer cancel()
			_ = c.rotateTo(ctx, payload, c.t.rotation.changing)
			close(c.t.rotation.done)
		})
	})
}

// rotates reports whether what the host says of its keys counts.
func (c *Conn) rotates() bool {
	if c.t.rotation == nil || c.vouched || c.hostKey == nil {
		return false
	}
	_, certified := c.hostKey.(*ssh.Certificate)
	return !certified
}

// listed returns the list of its keys that the host sends right after login; nil where it sends none until it answers a probe. It
// goes before [Conn.run], which answers requests otherwise.
func (c *Conn) listed(clk *clock.Clock, requests <-chan *ssh.Request) (list []byte) {
	defer context.AfterFunc(clk, func() { c.ssh.Close() })()
	answered := make(chan struct{})
	go func() { // ends with the connection at the latest
		defer close(answered)
		_, _, _ = c.ssh.SendRequest("keepalive@openssh.com", true, nil)
	}()
	take := func(r *ssh.Request) {
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
		if r.Type == hostKeysRequest {
			list = r.Payload
		}
	}
	for {
		select {
		case r, ok := <-requests:
			if !ok {
				return nil
			}
			take(r)
			continue
		case <-answered:
		}
		for { // what came before the answer
			select {
			case r, ok := <-requests:
				if !ok {
					return nil
				}
				take(r)
			default:
				return list
			}
		}
	}
}

// rotateAsked asks a person whether known_hosts files are to follow a list, while the clock stands still.
func (c *Conn) rotateAsked(clk *clock.Clock, list []byte) {
	clk.Pause()
	defer clk.Resume()
	t := c.t
	done, err := t.turns.take(clk, t.keyName())
	if err != nil {
		return
	}
	defer done()
	_ = c.rotateTo(clk, list, func(ctx context.Context, change HostKeyChange) error {
		a, err := t.ask(ctx, Question{Kind: AskHostKeys, Host: t.name, Addr: t.addr(), User: t.user, File: t.rotation.files[0], Change: &change, Try: 1})
		switch {
		case err != nil:
			return err
		case !a.Trust:
			return errNotTrusted
		}
		return t.rotation.changing(ctx, change)
	})
	close(t.rotation.done)
}

// rotateTo makes known_hosts files follow a list, once changing allows it.
func (c *Conn) rotateTo(ctx context.Context, payload []byte, changing func(context.Context, HostKeyChange) error) error {
	r, t := c.t.rotation, c.t
	keys, err := ownKeys(payload)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(keys, func(k ssh.PublicKey) bool { return keyring.Same(k, c.hostKey) }) {
		return errors.New("the host does not say that the key it has shown is its own")
	}
	// Only a key that the user's files vouch for may bring others.
	own, err := knownhosts.Open(r.files...)
	if err != nil {
		return err
	}
	if err := own.Check(t.query(), c.hostKey); err != nil {
		return err
	}
	plan, err := knownhosts.PlanRotation(r.files, r.others, t.keyName(), keys)
	if err != nil || plan.Not != "" {
		return err
	}
	var refused []ssh.PublicKey
	plan.New = slices.DeleteFunc(plan.New, func(k ssh.PublicKey) bool {
		no := !t.algorithms.AllowsHost(k) || t.checkNewKey(k) != nil
		if no {
			refused = append(refused, k)
		}
		return no
	})
	keys = slices.DeleteFunc(keys, func(k ssh.PublicKey) bool {
		return slices.ContainsFunc(refused, func(no ssh.PublicKey) bool { return keyring.Same(k, no) })
	})
	if len(plan.New) == 0 && len(plan.Old) == 0 {
		return nil
	}
	if len(plan.New) > 0 {
		if err := c.prove(plan.New); err != nil {
			return err
		}
	}
	change := HostKeyChange{Host: t.name, Name: t.keyName(), Files: r.files}
	for _, k := range plan.New {
		change.New = append(change.New, k.Type()+" "+keyring.Fingerprint(k))
	}
	for _, k := range plan.Old {
		change.Old = append(change.Old, k.Type+" "+k.Fingerprint)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := changing(ctx, change); err != nil {
		return err
	}
	return knownhosts.Rotate(r.files, t.keyName(), keys, knownhosts.AppendOptions{Hash: r.hash})
}

// ownKeys reads the list of a host's keys. Certificates and kinds of keys that are not known are left out.
func ownKeys(payload []byte) (keys []ssh.PublicKey, err error) {
	for n := 0; len(payload) > 0; n++ {
		var one struct {
			Blob []byte
			Rest []byte `ssh:"rest"`
		}
		if err := ssh.Unmarshal(payload, &one); err != nil || n == maxOwnKeys {
			return nil, errors.New("the host's list of its keys cannot be read")
		}
		payload = one.Rest
		key, err := ssh.ParsePublicKey(one.Blob)
		if err != nil {
			continue
		}
		if _, certified := key.(*ssh.Certificate); !certified {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// prove has the host sign with each key, for this connection.
func (c *Conn) prove(keys []ssh.PublicKey) error {
	var request []byte
	for _, k := range keys {
		request = append(request, ssh.Marshal(struct{ Blob []byte }{k.Marshal()})...)
	}
	ok, reply, err := c.ssh.SendRequest(proveRequest, true, request)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the host proves no key")
	}
	for _, k := range keys {
		var one struct {
			Signature []byte
			Rest      []byte `ssh:"rest"`
		}
		if err := ssh.Unmarshal(reply, &one); err != nil {
			return errors.New("the host's proof cannot be read")
		}
		reply = one.Rest
		sig := new(ssh.Signature)
		if err := ssh.Unmarshal(one.Signature, sig); err != nil {
			return errors.New("the host's proof cannot be read")
		}
		if sig.Format == ssh.KeyAlgoRSA {
			return errors.New("the host proves a key with SHA-1")
		}
		signed := ssh.Marshal(struct {
			Name          string
			Session, Blob []byte
		}{proveRequest, c.ssh.SessionID(), k.Marshal()})
		if err := k.Verify(signed, sig); err != nil {
			return fmt.Errorf("the host does not own a key that it lists: %w", err)
		}
	}
	if len(reply) > 0 {
		return errors.New("the host's proof holds more than was asked for")
	}
	return nil
}

// checkNewKey says why a key must not be recorded for the host.
func (t *target) checkNewKey(key ssh.PublicKey) error {
	if err := t.algorithms.CheckHost(key); err != nil {
		return err
	}
	if err := t.revoked.Check(key, t.keyName()); err != nil {
		return err
	}
	if err := t.hostKeys.Check(t.query(), key); err != nil {
		if _, revoked := errors.AsType[*knownhosts.RevokedError](err); revoked {
			return err
		}
	}
	return nil
}
