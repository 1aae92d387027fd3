package sshconn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
)

// agentDial bounds connecting to an agent's socket, which is of this machine.
const agentDial = 5 * time.Second

// askForAgent tells the server that programs on the host may use the caller's agent, where the call says so.
func (s *stream) askForAgent() error {
	if s.c.t.lent == "" {
		return nil
	}
	// sshd says yes once for a connection, and no to whoever asks again, who has the agent all the same.
	s.c.lending.Lock()
	defer s.c.lending.Unlock()
	ok, err := s.ch.SendRequest("auth-agent-req@openssh.com", true, nil)
	switch s.c.lends = s.c.lends || ok; {
	case err != nil:
		return s.broken()
	case !s.c.lends:
		return fmt.Errorf("sshconn: %s: the server forwards no agent; is AllowAgentForwarding off, or no-agent-forwarding set for this key?", s.c.t.name)
	}
	return nil
}

// lendAgent connects a channel of the host to the caller's agent. It returns at once; Close ends it.
func (c *Conn) lendAgent(nc ssh.NewChannel) {
	if !c.spawn(func() {
		local, err := net.DialTimeout("unix", c.t.lent, agentDial)
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
