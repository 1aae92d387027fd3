package sshconn

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// agentDial bounds connecting to an agent's socket, which is of this machine.
const agentDial = 5 * time.Second

// askForAgent tells the server that programs on the host may use the caller's agent, where the call says so. As with ssh, programs go
// without one where the server says no.
func (s *stream) askForAgent() error {
	if s.c.t.lent == "" || s.c.lendsNot.Load() {
		return nil
	}
	// sshd says yes once for a connection, and no to whoever asks again, who has the agent all the same.
	s.c.lending.Lock()
	defer s.c.lending.Unlock()
	ok, err := s.ch.SendRequest("auth-agent-req@openssh.com", true, nil)
	if err != nil {
		return s.broken()
	}
	s.c.lends = s.c.lends || ok
	s.c.lendsNot.Store(!s.c.lends)
	return nil
}

// AgentRefused reports whether the program runs without the caller's agent because the server refuses to forward it.
func (p *Pipe) AgentRefused() bool { return !p.dial && p.s.c.lendsNot.Load() }

// bind tells the agent which host asks, as ssh does: the host then sees and uses no key that is constrained to other destinations. It
// reports false where the agent does not answer: what it says later would be taken for an answer to the host.
func (c *Conn) bind(local net.Conn) bool {
	end := time.Now().Add(agentDial)
	_ = local.SetDeadline(end)
	// Of what can be closed the library would go on reading.
	c.bound.Tell(agent.NewClient(struct{ io.ReadWriter }{local}))
	return local.SetDeadline(time.Time{}) == nil && time.Now().Before(end)
}

// lendAgent connects a channel of the host to the caller's agent. It returns at once; Close ends it.
func (c *Conn) lendAgent(nc ssh.NewChannel) {
	if !c.spawn(func() {
		local, err := net.DialTimeout("unix", c.t.lent, agentDial)
		if err == nil && !c.bind(local) {
			err = errors.Join(os.ErrDeadlineExceeded, local.Close())
		}
		if err != nil {
			_ = nc.Reject(ssh.ConnectionFailed, "no agent")
			return
		}
		ch, requests, err := nc.Accept()
		if err != nil {
			local.Close()
			return
		}
		ch, requests = c.politely(ch, requests)
		shut := func() { _ = errors.Join(local.Close(), ch.Close()) }
		// The connection's end closes the channel, and the channel's end the rest.
		back := make(chan struct{})
		go func() {
			defer close(back)
			_, _ = io.Copy(ch, local)
			shut()
		}()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			ssh.DiscardRequests(requests)
		}()
		_, _ = io.Copy(local, ch)
		shut()
		<-back
		<-drained
	}) {
		_ = nc.Reject(ssh.ResourceShortage, "the connection is closing")
	}
}
