package hosts

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Forward is one -L, -R or -D, as ssh(1) means them: what connects to a port goes on to another one.
type Forward struct {
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

// ParseForward reads what -L, -R and -D take. Only the address that is named is listened on, else the machine's own.
func ParseForward(option, text string) (f Forward, err error) {
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
		to, err := strconv.ParseUint(there[1], 10, 16)
		if err != nil || to == 0 || there[0] == "" {
			return f, fmt.Errorf("%q is not %s", text, forwardForms[option])
		}
		f.Host, f.To = there[0], uint16(to)
	}
	return f, f.Check()
}

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
func (f Forward) Listen() string { return net.JoinHostPort(f.Bind, strconv.Itoa(int(f.Port))) }

// Target is where connections go; "" is where each asks for.
func (f Forward) Target() string {
	if f.Host == "" {
		return ""
	}
	return net.JoinHostPort(f.Host, strconv.Itoa(int(f.To)))
}

// String is the option as ssh takes it, with every part of it, which [ParseForwardLine] reads.
func (f Forward) String() string {
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
func (f Forward) Check() error {
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
