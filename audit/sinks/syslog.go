package sinks

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
)

// syslog sends heads as messages of RFC 5424, facility "log audit" (13), severity "notice" (5); over TCP framed by their
// length (RFC 6587), over UDP one a datagram. It dials for every head: they are few.
type syslog struct {
	network, address string // network "" is the local daemon
	host             string
	sockets          []string // where the local daemon may listen
}

const priority = "<109>1 " // 13*8+5, version 1

func newSyslog(where string) *syslog {
	name, _ := os.Hostname() // "" after an error
	s := &syslog{host: header(name), sockets: []string{"/dev/log", "/var/run/syslog", "/var/run/log"}}
	if where != "local" {
		s.network, s.address, _ = strings.Cut(where, "://")
	}
	return s
}

// header is a text as it may stand in the header of a message; "-" where it may not.
func header(text string) string {
	if text == "" || strings.ContainsFunc(text, unprintable) {
		return "-"
	}
	return text
}

// unprintable reports whether a character is a blank, or none of printable ASCII.
func unprintable(r rune) bool { return r <= ' ' || r > '~' }

// Anchor returns once the local daemon, or the network, has taken the message.
func (s *syslog) Anchor(ctx context.Context, a audit.Anchor) error {
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetWriteDeadline(time.Now()) })()
	msg := s.message(a, os.Getpid())
	switch conn.LocalAddr().Network() {
	case "tcp":
		msg = append([]byte(strconv.Itoa(len(msg))+" "), msg...)
	case "unix":
		msg = append(msg, '\n')
	}
	_, err = conn.Write(msg)
	return err
}

func (s *syslog) message(a audit.Anchor, pid int) []byte {
	b := []byte(priority)
	b = a.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z07:00")
	b = fmt.Appendf(b, " %s fairlead %d head - ", s.host, pid)
	return append(b, a.Line()...)
}

func (s *syslog) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: time.Minute}
	if s.network != "" {
		return d.DialContext(ctx, s.network, s.address)
	}
	var errs []error
	for _, path := range s.sockets {
		for _, network := range []string{"unixgram", "unix"} {
			conn, err := d.DialContext(ctx, network, path)
			if err == nil {
				return conn, nil
			}
			errs = append(errs, err)
		}
	}
	return nil, fmt.Errorf("no syslog daemon listens here: %w", errs[0])
}
