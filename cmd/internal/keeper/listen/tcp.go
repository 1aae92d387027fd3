package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
)

// TCP is where a keeper listens besides its socket. There is no way to do so without TLS and tokens.
type TCP struct {
	Addr     string   // host:port; "" is nowhere
	CertFile string   // PEM
	KeyFile  string   // PEM
	Names    []string // what callers may call this machine in Host, besides the address: "keeper.example.com"
}

// Listen opens the port.
func (t TCP) Listen(ctx context.Context) (net.Listener, error) {
	certText, err := readFile(t.CertFile)
	keyText, kerr := readFile(t.KeyFile)
	if err = errors.Join(err, kerr); err != nil {
		return nil, fmt.Errorf("keeper: cannot read the certificate and its key: %w", err)
	}
	cert, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		return nil, fmt.Errorf("keeper: cannot read the certificate and its key: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", t.Addr)
	if err != nil {
		return nil, fmt.Errorf("keeper: cannot listen: %w", err)
	}
	return tls.NewListener(Bounded(l), &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
	}), nil
}

// readFile returns what a file holds. A FIFO is read where it was handed over already open, as /dev/fd/63: another would keep the
// keeper waiting.
func readFile(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Mode()&fs.ModeNamedPipe != 0 && !strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/proc/") {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return io.ReadAll(f)
}

func (t TCP) Check(tokens bool) error {
	switch {
	case t.Addr == "":
		return nil
	case t.CertFile == "" || t.KeyFile == "":
		return errors.New("keeper: never on TCP without TLS: name a certificate and its key")
	case !tokens:
		return errors.New("keeper: never on TCP without tokens: they need a store")
	}
	return nil
}

// Named reports whether a Host header means this keeper.
func (t TCP) Named(addr net.Addr) func(host string) bool {
	names := map[string]bool{}
	for _, n := range t.Names {
		names[n] = true
	}
	if h, _, err := net.SplitHostPort(t.Addr); err == nil && h != "" {
		names[h] = true
	}
	if a, ok := addr.(*net.TCPAddr); ok {
		names[a.IP.String()] = true
	}
	return func(host string) bool {
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		return names[host]
	}
}
