package keyring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

const (
	// agentPatience is how long an agent may take to say what it holds.
	agentPatience = 5 * time.Second
	// agentSigning is how long it may take to sign: it may ask a person to confirm, or to touch a key.
	agentSigning = 2 * time.Minute
)

// agentKeys is what an agent holds. A nil one holds nothing.
type agentKeys struct {
	conn net.Conn
	list []Identity
}

func (a *agentKeys) keys() []Identity {
	if a == nil {
		return nil
	}
	return a.list
}

// Binding is the connection that an agent signs for (session-bind@openssh.com in PROTOCOL.agent). An agent that knows it shows and uses
// keys that are constrained to destinations (ssh-add -h) where they may be used, and nowhere else.
type Binding struct {
	HostKey, ID, Signature []byte
	Forwarding             bool // programs on the host ask
}

// Tell tells an agent b. An agent that knows of no such constraints says no, and is used all the same, as by ssh.
func (b *Binding) Tell(a agent.ExtendedAgent) {
	if b != nil && b.HostKey != nil {
		_, _ = a.Extension("session-bind@openssh.com", ssh.Marshal(b))
	}
}

// dialAgent asks the agent at socket. One that does not answer is left out, and ring says so: there may be other keys.
func dialAgent(clk *clock.Clock, socket string, bound *Binding, ring *Ring) *agentKeys {
	from := "agent at " + socket
	patience := agentPatience
	if clk.Limit >= 0 {
		patience = min(patience, clk.Limit/3) // so that a stuck agent leaves time for the keys in files
	}
	ctx, cancel := context.WithTimeout(clk, patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		ring.skip(from, "it does not answer: is it running?")
		return nil
	}
	a, client := &agentKeys{conn: conn}, agent.NewClient(conn)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	bound.Tell(client)
	signers, err := client.Signers()
	if !stop() {
		conn.Close()
		ring.skip(from, fmt.Sprintf("it did not say its keys within %v", patience))
		return nil
	}
	if err != nil {
		conn.Close()
		ring.skip(from, "it does not say its keys: is it locked, is it an agent?")
		return nil
	}
	ring.Close = func() { conn.Close() }
	if len(signers) == 0 {
		ring.skip(from, "it shows no key: it is locked, holds none, or holds none for this host (ssh-add -h)")
	}
	for _, s := range signers {
		// Parsed, because the library does not tell certificates apart in what an agent says.
		public, err := ssh.ParsePublicKey(s.PublicKey().Marshal())
		if err != nil {
			ring.skip(from, "it holds a key of a type that is not supported")
			continue
		}
		if cert, ok := public.(*ssh.Certificate); ok {
			if why := Unfit(cert, time.Now()); why != "" {
				ring.skip(from, why)
				continue
			}
		}
		a.list = append(a.list, Identity{From: "agent", Public: public, Open: a.opener(s)})
	}
	return a
}

func (a *agentKeys) opener(s ssh.Signer) func(*clock.Clock) (ssh.Signer, error) {
	return func(clk *clock.Clock) (ssh.Signer, error) {
		return &agentSigner{Signer: s, clk: clk, keys: a}, nil
	}
}

// agentSigner signs through the agent, while the clock stands still.
type agentSigner struct {
	ssh.Signer
	clk  *clock.Clock
	keys *agentKeys
}

func (s *agentSigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	s.clk.Pause()
	defer s.clk.Resume()
	_ = s.keys.conn.SetDeadline(time.Now().Add(agentSigning))
	stop := context.AfterFunc(s.clk, func() { _ = s.keys.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	sign := func() (*ssh.Signature, error) { return s.Sign(rand, data) }
	if as, ok := s.Signer.(ssh.AlgorithmSigner); ok {
		sign = func() (*ssh.Signature, error) { return as.SignWithAlgorithm(rand, data, algorithm) }
	}
	sig, err := sign()
	if err != nil && strings.Contains(err.Error(), "failed to sign challenge") {
		err = errRefused
	}
	return sig, err
}

// errRefused is that the agent answers, and says no.
var errRefused = errors.New("the agent refuses to sign: a person has not confirmed it (ssh-add -c), or the key is not for this host or user (ssh-add -h)")
