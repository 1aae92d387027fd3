package pipe

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Forwarding is one -L, -R or -D, as ssh(1) means them: what connects to a port goes on to another one.
type Forwarding struct {
	Option string `json:"option"`         // "-L", "-R" or "-D"
	Bind   string `json:"bind,omitempty"` // the address to listen on, here, or with -R on the host; "" is all of them
	Port   uint16 `json:"port,omitempty"` // 0 is any that is free
	Host   string `json:"host,omitempty"` // where connections go, from the host, or with -R from here; "" is where each asks for, in SOCKS
	To     uint16 `json:"to,omitempty"`
}

// forwardForms are what the options take.
var forwardForms = map[string]string{
	"-L": "[address:]port:host:port", "-R": "[address:]port[:host:port]", "-D": "[address:]port",
}

// ParseForwarding reads what -L, -R and -D take. Only the address that is named is listened on, else the machine's own.
func ParseForwarding(option, text string) (f Forwarding, err error) {
	f.Option = option
	parts, err := fields(text)
	if err != nil {
		return f, err
	}
	var here, there []string
	switch n := len(parts); {
	case strings.ContainsRune(text, '/'):
		return f, fmt.Errorf("%q: sockets in the file system are not supported: name a port", text)
	case option != "-D" && (n == 3 || n == 4):
		here, there = parts[:n-2], parts[n-2:]
	case option != "-L" && (n == 1 || n == 2):
		here = parts
	default:
		return f, fmt.Errorf("%q is not %s", text, forwardForms[option])
	}
	if f.Bind = "localhost"; len(here) == 2 {
		if f.Bind, here = here[0], here[1:]; f.Bind == "*" {
			f.Bind = ""
		}
	}
	port, err := strconv.ParseUint(here[0], 10, 16)
	if err != nil {
		return f, fmt.Errorf("%q: the port to listen on must be between 0 (any) and 65535", text)
	}
	f.Port = uint16(port)
	if there != nil {
		f.Host, f.To, err = ParsePort(net.JoinHostPort(there[0], there[1]))
	}
	return f, err
}

// fields cuts text at its colons, except for those between brackets.
func fields(text string) (parts []string, err error) {
	for rest := text; ; {
		part, after, more := "", "", false
		if inner, ok := strings.CutPrefix(rest, "["); ok {
			if part, after, ok = strings.Cut(inner, "]"); !ok {
				return nil, fmt.Errorf("%q: [ without ]", text)
			}
			if after, more = strings.CutPrefix(after, ":"); !more && after != "" {
				return nil, fmt.Errorf("%q: only a colon may follow ]", text)
			}
		} else {
			part, after, more = strings.Cut(rest, ":")
		}
		parts, rest = append(parts, part), after
		if !more {
			return parts, nil
		}
	}
}

// Listen is the address to listen on.
func (f Forwarding) Listen() string { return net.JoinHostPort(f.Bind, strconv.Itoa(int(f.Port))) }

// Target is where connections go; "" is where each asks for.
func (f Forwarding) Target() string {
	if f.Host == "" {
		return ""
	}
	return net.JoinHostPort(f.Host, strconv.Itoa(int(f.To)))
}

// String is the option as ssh takes it, with every part of it.
func (f Forwarding) String() string {
	bind := f.Bind
	if bind == "" {
		bind = "*"
	}
	text := f.Option + " " + net.JoinHostPort(bind, strconv.Itoa(int(f.Port)))
	if f.Host != "" {
		text += ":" + f.Target()
	}
	return text
}

// Check refuses what makes no sense.
func (f Forwarding) Check() error {
	switch {
	case forwardForms[f.Option] == "":
		return fmt.Errorf("%q is no kind of forward: it is -L, -R or -D", f.Option)
	case (f.Host == "") != (f.To == 0):
		return errors.New("a host and its port go together")
	case f.Option == "-L" && f.Host == "":
		return errors.New("-L needs a host and a port to connect to")
	case f.Option == "-D" && f.Host != "":
		return errors.New("-D connects to where each client asks for, and not to one host")
	case strings.ContainsAny(f.Bind+f.Host, "\x00\n\r /"):
		return errors.New("the name of a host has no blanks and no slashes")
	}
	return nil
}

// Script is shell source that does the same on the host, which is judged and recorded; "" where that is known with each
// connection only.
func (f Forwarding) Script() string {
	switch {
	case f.Option == "-L":
		return Ask{Host: f.Host, Port: f.To}.Script()
	case f.Option == "-D":
		return ""
	case f.Bind == "":
		return "nc -l " + strconv.Itoa(int(f.Port))
	}
	return "nc -l " + quote(f.Bind) + " " + strconv.Itoa(int(f.Port))
}
