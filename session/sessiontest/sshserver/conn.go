package sshserver

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"
)

var errRefused = errors.New("refused")

// conn is one connection that has logged in.
type conn struct {
	s        *Server
	faults   Faults
	ssh      *ssh.ServerConn
	sessions atomic.Int32
}

// serve speaks to one client until it is gone.
func (s *Server) serve(c *faultyConn, f Faults) {
	switch {
	case f.Silent:
		_, _ = io.WriteString(c, f.Prelude)
		_, _ = io.Copy(io.Discard, c)
		return
	case f.StallKex:
		_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n")
		_, _ = io.Copy(io.Discard, c)
		return
	case f.Prelude != "":
		_, _ = io.WriteString(c, f.Prelude)
		return
	}
	sc, channels, requests, err := ssh.NewServerConn(c, s.settings(c, f))
	if err != nil {
		return
	}
	defer sc.Close()
	served := &conn{s: s, faults: f, ssh: sc}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for r := range requests {
			if r.WantReply && !f.Unanswered {
				_ = r.Reply(false, nil) // keepalives are answered with "no", as OpenSSH does
			}
		}
	})
	for nc := range channels {
		switch {
		case f.StallOpen:
		case nc.ChannelType() == "session":
			served.session(nc, &wg)
		case nc.ChannelType() == "direct-tcpip":
			wg.Go(func() { served.forward(nc) })
		default:
			_ = nc.Reject(ssh.UnknownChannelType, "unknown channel type")
		}
	}
}

func (s *Server) settings(c *faultyConn, f Faults) *ssh.ServerConfig {
	cfg := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-Fairlead_demo",
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if f.StallAuth {
				<-c.done
			}
			if f.RefuseAuth || !s.keys[string(key.Marshal())] {
				return nil, errRefused
			}
			return nil, nil
		},
	}
	algorithms := ssh.SupportedAlgorithms()
	cfg.KeyExchanges, cfg.Ciphers, cfg.MACs = algorithms.KeyExchanges, algorithms.Ciphers, algorithms.MACs
	key := s.cfg.HostKey
	if f.HostKey != nil {
		key = f.HostKey
	}
	cfg.AddHostKey(key)
	if s.cfg.Settings != nil {
		s.cfg.Settings(cfg)
	}
	return cfg
}
