package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// answerTime is how long a request may take.
const answerTime = 90 * time.Second

// refused is an answer of 400 and above.
type refused struct {
	status int
	text   string
}

func (r *refused) Error() string { return r.text }

// call sends one request on a connection of its own.
func (k *member) call(ctx context.Context, principal, method, path, key string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", placesIn(k.dir).Socket)
	}}
	defer transport.CloseIdleConnections()
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://keeper"+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Fairlead-Principal": principal, "Idempotency-Key": key} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 400:
		return &refused{resp.StatusCode, fmt.Sprintf("%s %s: %d %.300s", method, path, resp.StatusCode, data)}
	}
	switch out := out.(type) {
	case nil:
		return nil
	case *bytes.Buffer:
		_, err := out.Write(data)
		return err
	default:
		return json.Unmarshal(data, out)
	}
}

// sleep reports whether the time has passed before the end of ctx.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
