package hosts

import (
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Forward is one -L, -R or -D, as ssh(1) means them: what connects to a port goes on to another one. The absolute path of a socket in
// the file system may stand for an address and its port, on either side.
type Forward struct {
	Option string `json:"option"`           // "-L", "-R" or "-D"
	Bind   string `json:"bind,omitempty"`   // the address or socket to listen on, here, or with -R on the host; "" is all addresses
	Port   uint16 `json:"port,omitempty"`   // 0 is any that is free; of a socket always
	Host   string `json:"host,omitempty"`   // where connections go, from the host, or with -R from here; "" is where each asks for, in SOCKS
	To     uint16 `json:"to,omitempty"`     // 0 where Host is a socket or ""
	Unlink bool   `json:"unlink,omitempty"` // a socket that is there already gives way to one that is listened on here
}

// IsSocket reports whether an address of a Forward is the path of a socket: whether it has a slash, as ssh tells it.
func IsSocket(address string) bool { return strings.ContainsRune(address, '/') }

// forwardForms are what the options take.
var forwardForms = map[string]string{
	"-L": "[address:]port:host:port", "-R": "[address:]port[:host:port]", "-D": "[address:]port",
}

// ParseForward reads what -L, -R and -D take. Only the address that is named is listened on, else the machine's own. What has a slash is
// the path of a socket, as it is written: see [Forward.Complete].
func ParseForward(option, text string) (f Forward, err error) {
	f.Option = option
	parts, err := fields(text)
	if err != nil {
		return f, err
	}
	here, there, ok := sides(option, parts)
	if !ok {
		return f, fmt.Errorf("%q is not %s; the path of a socket may stand for [address:]port, and for host:port", text, forwardForms[option])
	}
	if f.Bind = "localhost"; len(here) == 2 || IsSocket(here[0]) {
		if f.Bind, here = here[0], here[1:]; f.Bind == "*" {
			f.Bind = ""
		}
	}
	if len(here) > 0 {
		if f.Port, ok = portOf(here[0]); !ok {
			return f, fmt.Errorf("%q: the port to listen on must be between 0 (any) and 65535, or the name of a service", text)
		}
	}
	if len(there) > 0 {
		f.Host = there[0]
	}
	if len(there) == 2 {
		if f.To, ok = portOf(there[1]); !ok || f.To == 0 || there[0] == "" || IsSocket(there[0]) {
			return f, fmt.Errorf("%q is not %s", text, forwardForms[option])
		}
	}
	return f, f.check()
}

// portOf reads a port, or the name of a service of this machine (/etc/services), as ssh does.
func portOf(text string) (port uint16, ok bool) {
	if n, err := strconv.ParseUint(text, 10, 16); err == nil {
		return uint16(n), true
	}
	if text == "" || strings.Trim(text, "0123456789") == "" || text != strings.ToLower(text) { // net.LookupPort folds case, OpenSSH's lookup does not
		return 0, false
	}
	n, err := net.LookupPort("tcp", text)
	return uint16(n), err == nil && n > 0 && n <= math.MaxUint16
}

// sides are what is listened on, and where it leads.
func sides(option string, parts []string) (here, there []string, ok bool) {
	n := len(parts)
	switch {
	case n >= 2 && IsSocket(parts[n-1]):
		here, there = parts[:n-1], parts[n-1:]
	case n >= 3:
		here, there = parts[:n-2], parts[n-2:]
	default:
		here = parts
	}
	switch {
	case len(here) == 0 || len(here) > 2, len(here) == 2 && (IsSocket(here[0]) || IsSocket(here[1])):
		return nil, nil, false
	case option == "-L" && there == nil, option == "-D" && there != nil:
		return nil, nil, false
	}
	return here, there, true
}

// Complete returns the forward with what paths of sockets need: expand has their tokens and variables replaced, and one on this machine
// may be relative to the working directory. It fails where [Forward.Check] does.
func (f Forward) Complete(expand func(string) (string, error)) (Forward, error) {
	text := f.String()
	for _, address := range []*string{&f.Bind, &f.Host} {
		if !IsSocket(*address) {
			continue
		}
		path, err := expand(*address)
		if err != nil {
			return f, fmt.Errorf("%s: %w", text, err)
		}
		if here := (address == &f.Bind) == (f.Option != "-R"); here {
			if path, err = filepath.Abs(path); err != nil {
				return f, fmt.Errorf("%s: %w where the working directory is not known: %w", text, errRelative, err)
			}
		}
		*address = path
	}
	if err := f.Check(); err != nil {
		return f, fmt.Errorf("%s: %w", text, err)
	}
	return f, nil
}

var errRelative = errors.New("the path of a socket must be absolute")

// Wide is a forward that was read from text, on all addresses if it listens here and text names none: what -g asks of ssh.
func (f Forward) Wide(text string) Forward {
	if f.Option == "-R" {
		return f
	}
	if _, err := ParseForward(f.Option, "*:"+text); err == nil {
		f.Bind = ""
	}
	return f
}

// ParseForwardLine reads an option and what it takes: "-L 8080:db1:5432".
func ParseForwardLine(line string) (Forward, error) {
	option, text, _ := strings.Cut(line, " ")
	if text = strings.TrimSpace(text); text == "" || forwardForms[option] == "" {
		return Forward{}, fmt.Errorf("%q is not -L, -R or -D and what it forwards, as in: -L 8080:localhost:80", line)
	}
	return ParseForward(option, text)
}

// fields cuts text at its colons, except for those between brackets and behind a backslash.
func fields(text string) (parts []string, err error) {
	for rest := text; ; {
		part, after, more, ok := "", "", false, true
		if inner, bracket := strings.CutPrefix(rest, "["); bracket {
			if part, after, ok = strings.Cut(inner, "]"); !ok {
				return nil, fmt.Errorf("%q: [ without ]", text)
			}
			if after, more = strings.CutPrefix(after, ":"); !more && after != "" {
				return nil, fmt.Errorf("%q: only a colon may follow ]", text)
			}
		} else if part, after, more, ok = field(rest); !ok {
			return nil, fmt.Errorf("%q ends with a backslash", text)
		}
		parts, rest = append(parts, part), after
		if !more {
			return parts, nil
		}
	}
}

// field cuts text at its first colon that has no backslash before it, and takes backslashes away.
func field(text string) (part, after string, more, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ':':
			return b.String(), text[i+1:], true, true
		case '\\':
			if i++; i == len(text) {
				return "", "", false, false
			}
		}
		b.WriteByte(text[i])
	}
	return b.String(), "", false, true
}

// escaped is the path of a socket as a part of a forward.
var escaped = strings.NewReplacer(`\`, `\\`, ":", `\:`)

// Listen is the address or socket to listen on.
func (f Forward) Listen() string {
	if IsSocket(f.Bind) {
		return f.Bind
	}
	return net.JoinHostPort(f.Bind, strconv.Itoa(int(f.Port)))
}

// Target is where connections go; "" is where each asks for.
func (f Forward) Target() string {
	if f.Host == "" || IsSocket(f.Host) {
		return f.Host
	}
	return net.JoinHostPort(f.Host, strconv.Itoa(int(f.To)))
}

// String is the option as ssh takes it, with every part of it, which [ParseForwardLine] reads.
func (f Forward) String() string {
	part := func(address, whole string) string {
		if IsSocket(address) {
			return escaped.Replace(address)
		}
		return whole
	}
	bind := f.Bind
	if bind == "" {
		bind = "*"
	}
	text := f.Option + " " + part(bind, net.JoinHostPort(bind, strconv.Itoa(int(f.Port))))
	if f.Host != "" {
		text += ":" + part(f.Host, f.Target())
	}
	return text
}

// Check refuses what makes no sense, and sockets whose path is not absolute.
func (f Forward) Check() error {
	for _, address := range []string{f.Bind, f.Host} {
		if IsSocket(address) && address[0] != '/' {
			return errRelative
		}
	}
	return f.check()
}

func (f Forward) check() error {
	switch {
	case forwardForms[f.Option] == "":
		return fmt.Errorf("%q is no kind of forward: it is -L, -R or -D", f.Option)
	case (f.Host == "" || IsSocket(f.Host)) != (f.To == 0):
		return errors.New("a host and its port go together, and a socket has none")
	case IsSocket(f.Bind) && f.Port != 0:
		return errors.New("a socket has no port")
	case f.Unlink && (f.Option == "-R" || !IsSocket(f.Bind)):
		return errors.New("only a socket that is listened on here can give way to another")
	case f.Option == "-L" && f.Host == "":
		return errors.New("-L needs a host and a port to connect to")
	case f.Option == "-D" && f.Host != "":
		return errors.New("-D connects to where each client asks for, and not to one host")
	}
	for _, address := range []string{f.Bind, f.Host} {
		switch {
		case IsSocket(address) && (!utf8.ValidString(address) || strings.ContainsFunc(address, unicode.IsControl)):
			return errors.New("the path of a socket is UTF-8 without control characters")
		case IsSocket(address) && strings.HasSuffix(address, "/"):
			return errors.New("the path of a socket does not end with a slash")
		case !IsSocket(address) && strings.ContainsAny(address, "\x00\n\r /"):
			return errors.New("the name of a host has no blanks and no slashes")
		}
	}
	return nil
}
