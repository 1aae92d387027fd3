package sshserver

import (
	"io"
	"net"
	"strconv"
	"sync"

	"golang.org/x/crypto/ssh"
)

// forward connects a direct-tcpip channel to where it wants to go.
func (c *conn) forward(nc ssh.NewChannel) {
	var m struct {
		Host   string
		Port   uint32
		Origin string
		From   uint32
	}
	if ssh.Unmarshal(nc.ExtraData(), &m) != nil {
		_ = nc.Reject(ssh.ConnectionFailed, "malformed request")
		return
	}
	var d net.Dialer
	to, err := d.DialContext(c.s.ctx, "tcp", net.JoinHostPort(m.Host, strconv.Itoa(int(m.Port))))
	if err != nil {
		_ = nc.Reject(ssh.ConnectionFailed, "Connection refused")
		return
	}
	defer to.Close()
	ch, requests, err := nc.Accept()
	if err != nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		ssh.DiscardRequests(requests) // ends when the channel does
		to.Close()
	})
	wg.Go(func() {
		_, _ = io.Copy(to, ch)
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	})
	_, _ = io.Copy(ch, to)
	_ = ch.CloseWrite()
	_ = ch.Close()
	wg.Wait()
}
