package sinks

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"
)

// MaxReply bounds what is read of a server's answer, in bytes, so that the connection can be used again.
const MaxReply = 16 << 10

// NewClient returns a client for a server of the settings. What is sent goes there or nowhere: redirects are not followed and no
// proxy is used. caFile, if not "", holds the certificates that are trusted instead of the system's.
func NewClient(caFile string) (*http.Client, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := readRegular(caFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("ca_file: " + caFile + " holds no certificate in PEM")
		}
	}
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: t, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: MaxReply, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// readRegular returns what a file holds. A FIFO would keep everything that is recorded waiting.
func readRegular(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() && !st.IsDir() { // reading a directory says what it is
		return nil, errors.New(file + " is not a regular file")
	}
	return io.ReadAll(f)
}

// WithoutURL is an error of a client without the URL, which may hold a secret.
func WithoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
