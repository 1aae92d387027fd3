package dialer

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// demo is the server behind the demo hosts: one for all of them, started with the first dial.
type demo struct {
	mu     sync.Mutex
	server *sshserver.Server
}

func (d *demo) start() (*sshserver.Server, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		return d.server, nil
	}
	s, err := sshserver.Start(sshserver.Config{MaxSessions: -1})
	if err != nil {
		return nil, err
	}
	d.server = s
	return s, nil
}

func (d *demo) dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	_, err := d.start()
	if err != nil {
		return nil, err
	}
	return nil, errors.New("dialer: not wired yet")
}

func (d *demo) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server == nil {
		return nil
	}
	return d.server.Close()
}
