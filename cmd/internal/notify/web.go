package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/audit/sinks"
)

// Headers of a request.
const (
	Delivery  = "Fairlead-Delivery"
	Timestamp = "Fairlead-Timestamp"
	Signature = "Fairlead-Signature"
)

// A secret, in bytes.
const (
	minSecret = 16
	maxSecret = 4 << 10
)

// web is a server. Redirects are not followed, and no proxy is used: an event goes where the settings say, or nowhere.
type web struct {
	url, secretFile string
	client          *http.Client
}

func newWeb(c Config) (*web, error) {
	client, err := sinks.NewClient(c.CAFile)
	if err != nil {
		return nil, err
	}
	w := &web{url: c.Webhook, secretFile: c.SecretFile, client: client}
	if _, err := w.secret(); err != nil {
		return nil, err
	}
	return w, nil
}

// secret reads what requests are signed with. It is not part of any error.
func (w *web) secret() ([]byte, error) {
	f, err := os.OpenFile(w.secretFile, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without, opening a FIFO would block
	if err != nil {
		return nil, fmt.Errorf("secret_file: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("secret_file: %w", err)
	}
	if !st.Mode().IsRegular() || st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("secret_file: %s must be a file that no other account may read: chmod 600 it", w.secretFile)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return nil, fmt.Errorf("secret_file: %w", err)
	}
	b = bytes.TrimSpace(b)
	if len(b) < minSecret || len(b) > maxSecret {
		return nil, fmt.Errorf("secret_file: %s must hold %d to %d bytes", w.secretFile, minSecret, maxSecret)
	}
	return b, nil
}

// Sign returns the signature of a body at a time, as the header has it.
func Sign(secret []byte, timestamp string, body []byte) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(timestamp))
	h.Write([]byte{'.'})
	h.Write(body)
	return "v1=" + hex.EncodeToString(h.Sum(nil))
}

// post sends an event once. again says that another attempt may go better.
func (w *web) post(ctx context.Context, q queued) (again bool, err error) {
	secret, err := w.secret()
	if err != nil {
		return false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(q.body))
	if err != nil {
		return false, errors.New("the URL cannot be used")
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "fairlead", Delivery: q.id, Timestamp: at, Signature: Sign(secret, at, q.body),
	} {
		r.Header.Set(name, value)
	}
	resp, err := w.client.Do(r)
	if err != nil {
		return true, sinks.WithoutURL(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, sinks.MaxReply)
	switch code := resp.StatusCode; {
	case code/100 == 2:
		return false, nil
	case code/100 == 5, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		again = true
	}
	return again, errors.New("it answered " + strings.TrimSpace(strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode)))
}
