package sinks

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"
)

// MaxReply bounds what is read of a server's answer, in bytes, so that the connection can be used again.
const MaxReply = 16 << 10

// NewClient returns a client for a server of the settings. What is sent goes there or nowhere: redirects are not followed and no
// proxy is used. caFile, if not "", holds the certificates that are trusted instead of the system's.
func NewClient(caFile string) (*http.Client, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
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

// WithoutURL is an error of a client without the URL, which may hold a secret.
func WithoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
