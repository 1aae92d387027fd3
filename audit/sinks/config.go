package sinks

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
)

// Config is one place. Exactly one of File, Syslog, HTTPS and Exec is set.
type Config struct {
	File   string   // an absolute path, outside of the chain's directory; made with mode 0600, one line is appended for each head
	Syslog string   // "local", or "udp://HOST:PORT" or "tcp://HOST:PORT"
	HTTPS  string   // a URL that each head is sent to with POST
	Exec   []string // an absolute path and arguments, run for each head, which stands on its standard input

	Required  audit.Required
	Timeout   time.Duration // of one head; zero means audit.DefaultPlaceTimeout
	TokenFile string        // with HTTPS: a file (0600) with a bearer token, read for every head
	CAFile    string        // with HTTPS: certificates in PEM to trust instead of the system's
}

// maxTimeout is a bound against slips of the unit.
const maxTimeout = 5 * time.Minute

// Check says what is wrong with c.
func (c Config) Check() error {
	var kinds []string
	for kind, set := range map[string]bool{"file": c.File != "", "syslog": c.Syslog != "", "https": c.HTTPS != "", "exec": len(c.Exec) > 0} {
		if set {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) != 1:
		return errors.New("it needs exactly one of file, syslog, https and exec")
	case c.Timeout < 0 || c.Timeout > maxTimeout:
		return fmt.Errorf("timeout must be between 0 and %v", maxTimeout)
	case c.HTTPS == "" && (c.TokenFile != "" || c.CAFile != ""):
		return errors.New("token_file and ca_file belong to https")
	}
	for key, path := range map[string]string{"file": c.File, "token_file": c.TokenFile, "ca_file": c.CAFile} {
		if path != "" && !filepath.IsAbs(path) {
			return fmt.Errorf("%s must be an absolute path", key)
		}
	}
	switch kinds[0] {
	case "syslog":
		return c.checkSyslog()
	case "https":
		return checkURL(c.HTTPS)
	case "exec":
		return checkArgv(c.Exec)
	}
	return nil
}

func (c Config) checkSyslog() error {
	if c.Syslog == "local" {
		return nil
	}
	network, address, ok := strings.Cut(c.Syslog, "://")
	if !ok || network != "udp" && network != "tcp" {
		return errors.New("syslog must be local, udp://HOST:PORT or tcp://HOST:PORT")
	}
	if host, port, _ := net.SplitHostPort(address); host == "" || port == "" { // both are after an error
		return errors.New("syslog must name a host and a port")
	}
	if c.Required != audit.Never {
		return fmt.Errorf("syslog over %s acknowledges nothing, so it cannot be required: use local, https, file or exec", network)
	}
	return nil
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return errors.New("https must be a URL")
	case u.Scheme != "https":
		return errors.New("https must be a URL that begins with https://")
	case u.User != nil:
		return errors.New("https must not hold a password: use token_file")
	case u.Fragment != "":
		return errors.New("https must not hold a fragment")
	}
	return nil
}

func checkArgv(argv []string) error {
	if !filepath.IsAbs(argv[0]) {
		return errors.New("exec must begin with an absolute path")
	}
	for _, a := range argv {
		if strings.ContainsRune(a, 0) {
			return errors.New("exec must not hold NUL")
		}
	}
	return nil
}

// Name is what people are told about the place. It never holds what may be secret: of a URL neither the query nor more.
func (c Config) Name() string {
	switch {
	case c.File != "":
		return "file " + c.File
	case c.Syslog != "":
		return "syslog " + c.Syslog
	case c.HTTPS != "":
		u, err := url.Parse(c.HTTPS)
		if err != nil {
			return "https"
		}
		return "https://" + u.Host + u.Path
	case len(c.Exec) > 0:
		return "program " + c.Exec[0]
	}
	return "nothing"
}
