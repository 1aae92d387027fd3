package notify

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Defaults and bounds.
const (
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = 5 * time.Minute
	maxQueue       = 256 // events that wait for one place
	attempts       = 5   // to deliver an event to a web server
	closing        = 2 * time.Second
)

// Config is one place. Exactly one of Webhook and Exec is set.
type Config struct {
	Webhook    string   // a URL that each event is sent to with POST; https, or http on this machine
	SecretFile string   // with Webhook, required: a file (0600) with what requests are signed with, read for every event
	CAFile     string   // with Webhook: certificates in PEM to trust instead of the system's
	Exec       []string // an absolute path and arguments, run for each event, which is JSON on its standard input

	Events  []string      // the kinds that are told; none means all
	Timeout time.Duration // of one attempt; zero means DefaultTimeout
}

// Kinds are those of events.
var Kinds = []string{"asked", "approved", "rejected", "expired", "canceled", "done"}

// Check says what is wrong with c.
func (c Config) Check() error {
	switch {
	case (c.Webhook == "") == (len(c.Exec) == 0):
		return errors.New("it needs one of webhook and exec")
	case c.Timeout < 0 || c.Timeout > MaxTimeout:
		return fmt.Errorf("timeout must be between 0 and %v", MaxTimeout)
	case c.Webhook == "" && (c.SecretFile != "" || c.CAFile != ""):
		return errors.New("secret_file and ca_file belong to webhook")
	case c.Webhook != "" && c.SecretFile == "":
		return errors.New("webhook needs secret_file: a file that only you can read, with what requests are signed with")
	}
	for _, kind := range c.Events {
		if !slices.Contains(Kinds, kind) {
			return fmt.Errorf("unknown event %.40q; use %s", kind, strings.Join(Kinds, ", "))
		}
	}
	for key, path := range map[string]string{"secret_file": c.SecretFile, "ca_file": c.CAFile} {
		if path != "" && !filepath.IsAbs(path) {
			return fmt.Errorf("%s must be an absolute path", key)
		}
	}
	if c.Webhook != "" {
		return checkURL(c.Webhook)
	}
	if !filepath.IsAbs(c.Exec[0]) {
		return errors.New("exec must begin with an absolute path")
	}
	for _, a := range c.Exec {
		if strings.ContainsRune(a, 0) {
			return errors.New("exec must not hold NUL")
		}
	}
	return nil
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return errors.New("webhook must be a URL")
	case u.User != nil:
		return errors.New("webhook must not hold a password: requests are signed with what is in secret_file")
	case u.Fragment != "":
		return errors.New("webhook must not hold a fragment")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return errors.New("webhook must begin with https://, or with http:// for this machine itself")
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Name is what people are told about the place. It holds nothing that may be secret: of a URL the host alone.
func (c Config) Name() string {
	if len(c.Exec) > 0 {
		return "program " + c.Exec[0]
	}
	u, err := url.Parse(c.Webhook)
	if err != nil {
		return "webhook"
	}
	return "webhook " + u.Host
}

// wants reports whether events of a kind are told.
func (c Config) wants(kind string) bool { return len(c.Events) == 0 || slices.Contains(c.Events, kind) }
