package pipe

import (
	"errors"
	"net"
	"strconv"
	"sync"
	"syscall"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// loopback is where ssh listens for what it calls localhost. A browser that is sent to localhost may try either first.
var loopback = []string{"127.0.0.1", "::1"}

// Listen listens on this machine for -L or -D. The address localhost is both 127.0.0.1 and ::1, as far as the machine has them.
func Listen(f hosts.Forward) (net.Listener, error) {
	if hosts.IsSocket(f.Bind) {
		return listenSocket(f.Bind, f.Unlink)
	}
	if f.Bind != "localhost" {
		return net.Listen("tcp", f.Listen())
	}
	const tries = 5 // a port that is free on one address may be in use on the other
	for try := 1; ; try++ {
		l, err := listenOn(loopback, int(f.Port))
		if err == nil || f.Port != 0 || try == tries || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
}

// listenOn listens on one port of all the addresses that the machine has. 0 is any port that is free on the first of them.
func listenOn(addresses []string, port int) (net.Listener, error) {
	var all []net.Listener
	var missing error
	for _, address := range addresses {
		l, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
		switch {
		case err == nil:
			all, port = append(all, l), l.Addr().(*net.TCPAddr).Port
		case lacking(err):
			missing = errors.Join(missing, err)
		default:
			for _, l := range all {
				l.Close()
			}
			return nil, err
		}
	}
	switch len(all) {
	case 0:
		return nil, missing
	case 1:
		return all[0], nil
	}
	return newListeners(all), nil
}

// lacking reports whether the machine has no such address.
func lacking(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EPROTONOSUPPORT)
}

// listeners are several as one. Its address is that of the first.
type listeners struct {
	all  []net.Listener
	come chan accepted
	over chan struct{} // closed by Close
	once sync.Once
	wg   sync.WaitGroup
}

type accepted struct {
	conn net.Conn
	err  error
}

func newListeners(all []net.Listener) *listeners {
	s := &listeners{all: all, come: make(chan accepted), over: make(chan struct{})}
	for _, l := range all {
		s.wg.Go(func() { s.accept(l) })
	}
	return s
}

// accept takes connections to one of them until Close.
func (s *listeners) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case s.come <- accepted{conn, err}:
		case <-s.over:
			if err == nil {
				conn.Close()
			}
			return
		}
	}
}

func (s *listeners) Accept() (net.Conn, error) {
	select {
	case a := <-s.come:
		return a.conn, a.err
	case <-s.over:
		return nil, net.ErrClosed
	}
}

func (s *listeners) Addr() net.Addr { return s.all[0].Addr() }

func (s *listeners) Close() (err error) {
	s.once.Do(func() {
		close(s.over)
		for _, l := range s.all {
			err = errors.Join(err, l.Close())
		}
		s.wg.Wait()
	})
	return err
}
