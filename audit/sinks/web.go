package sinks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/fairlead-ssh/fairlead/audit"
)

// web sends heads to a server with POST. Redirects are not followed, since they would take the token elsewhere, and no
// proxy is used.
type web struct {
	url       string
	tokenFile string
	client    *http.Client
}

func newWeb(c Config) (*web, error) {
	client, err := NewClient(c.CAFile)
	if err != nil {
		return nil, err
	}
	w := &web{url: c.HTTPS, tokenFile: c.TokenFile, client: client}
	if _, err := ReadToken(w.tokenFile); err != nil {
		return nil, err
	}
	return w, nil
}

// ReadToken reads the bearer token in a file that only its owner may read; no file is no token.
func ReadToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	fi, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("token_file: %w", err)
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return "", errors.New("token_file: other accounts may read " + file + ": chmod 600 it")
	}
	text, err := readRegular(file)
	if err != nil {
		return "", fmt.Errorf("token_file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsFunc(token, unprintable) {
		return "", errors.New("token_file: " + file + " holds no token: one line of printable ASCII")
	}
	return token, nil
}

// Anchor returns nil for a status of 2xx.
func (w *web) Anchor(ctx context.Context, a audit.Anchor) error {
	token, err := ReadToken(w.tokenFile)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(append(a.Line(), '\n')))
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "fairlead")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return WithoutURL(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, MaxReply)
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("it answered with status %d", resp.StatusCode)
	}
	return nil
}

// Close drops idle connections.
func (w *web) Close() error {
	w.client.CloseIdleConnections()
	return nil
}
