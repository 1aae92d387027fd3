package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/fairlead-ssh/fairlead/hosts/trustedfile"
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
	certText, err := trustedfile.Read(t.CertFile)
	keyText, kerr := trustedfile.Read(t.KeyFile)
	if err = cmp.Or(err, kerr); err != nil {
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
