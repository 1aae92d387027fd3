package held

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Refusal is a system call that was refused to a held command: exactly what was called, and about what. Path is a file, an address, a
// process or another argument, as text: bytes that are none are escaped. It is "" where there is none, and Unknown where it could not
// be read.
type Refusal struct {
	Call string `json:"call" doc:"what was refused, such as open for writing, remove, connect, signal 9 to"`
	Path string `json:"path,omitempty" doc:"about what: a file, an address, a process"`
	To   string `json:"to,omitempty" doc:"where it would have been moved"`
}

// Unknown is the Path of a call of a process whose memory may not be read.
const Unknown = "(unknown)"

// String is the refusal in words: "open for writing /etc/nginx/nginx.conf".
func (r Refusal) String() string {
	s := r.Call
	if r.Path != "" {
		s += " " + r.Path
	}
	if r.To != "" {
		s += " to " + r.To
	}
	return s
}

// Left is what a shell leaves behind when it ends.
type Left struct{ Files, Processes bool }

// Refused reads what a held shell's supervisor reports. left is set for the report of a shell's end. ok is false for what is no report.
func Refused(report []byte) (r Refusal, left *Left, ok bool) {
	if rest, is := bytes.CutPrefix(report, []byte("left;")); is {
		files, processes, is := strings.Cut(string(rest), ";")
		return r, &Left{Files: files != "0", Processes: processes != "0"}, is
	}
	parts := bytes.Split(report, []byte{0})
	numbers := strings.Split(string(parts[0]), ";")
	if len(parts) != 3 || len(numbers) != 8 {
		return r, nil, false
	}
	c := call{}
	arch, err := strconv.Atoi(numbers[0])
	number, err2 := strconv.Atoi(numbers[1])
	if err != nil || err2 != nil || arch < 0 || arch > 1 {
		return r, nil, false
	}
	for i := range c.args {
		if c.args[i], err = strconv.ParseUint(numbers[i+2], 10, 64); err != nil {
			return r, nil, false
		}
	}
	c.name = names()[arch][number]
	if c.name == "" {
		c.name = fmt.Sprint("system call ", number)
	}
	c.first, c.second = text(parts[1]), text(parts[2])
	return c.refusal(), nil, true
}

func text(field []byte) string {
	if len(field) == 0 || field[0] != '=' {
		return Unknown
	}
	return string(field[1:])
}

// call is a system call as it was reported.
type call struct {
	name          string
	args          [6]uint64
	first, second string
}

func (c *call) refusal() Refusal {
	name, path := c.name, c.first
	switch name {
	case "open", "openat", "creat":
		flags := c.args[1]
		if name == "openat" {
			flags = c.args[2]
		}
		switch {
		case name == "creat" || flags&3 != 0:
			name = "open for writing"
		case flags&0x40 != 0:
			name = "create"
		case flags&0x200 != 0:
			name = "truncate"
		default:
			name = "read"
		}
	case "readlink", "readlinkat":
		name = "read"
	case "unlink", "unlinkat", "rmdir":
		name = "remove"
	case "rename", "renameat", "renameat2":
		return Refusal{"move", printable(path), printable(c.second)}
	case "mkdir", "mkdirat":
		name = "make the directory"
	case "mknod", "mknodat":
		name = "make"
	case "symlink", "symlinkat", "link", "linkat":
		name = "link"
	case "chmod", "fchmod", "fchmodat", "fchmodat2":
		name = "chmod"
	case "chown", "fchown", "lchown", "fchownat":
		name = "chown"
	case "utime", "utimes", "futimesat", "utimensat":
		name = "set the times of"
	case "flock":
		name = "lock"
	case "ioctl":
		name = fmt.Sprintf("ioctl %#x of", uint32(c.args[1]))
	case "fcntl":
		name = fmt.Sprintf("fcntl %d of", uint32(c.args[1]))
	case "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal":
		signal := c.args[1]
		if name == "tgkill" || name == "rt_tgsigqueueinfo" {
			signal = c.args[2]
		}
		name = fmt.Sprintf("signal %d to", uint32(signal))
	case "sendto", "sendmsg", "sendmmsg":
		return Refusal{Call: "send to", Path: address(path)}
	case "connect", "bind":
		return Refusal{Call: name, Path: address(path)}
	case "socket":
		return Refusal{Call: name, Path: fmt.Sprintf("domain %d, type %d, protocol %d", uint32(c.args[0]), c.args[1]&15, uint32(c.args[2]))}
	}
	return Refusal{Call: name, Path: printable(path)}
}

// address shows what a struct sockaddr in hexadecimal says.
func address(text string) string {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) < 2 {
		return Unknown
	}
	family := int(b[0]) | int(b[1])<<8
	switch {
	case family == 2 && len(b) >= 8:
		a, _ := netip.AddrFromSlice(b[4:8])
		return netip.AddrPortFrom(a, uint16(b[2])<<8|uint16(b[3])).String()
	case family == 10 && len(b) >= 24:
		a, _ := netip.AddrFromSlice(b[8:24])
		return netip.AddrPortFrom(a, uint16(b[2])<<8|uint16(b[3])).String()
	case family == 1 && len(b) > 2 && b[2] == 0:
		return "@" + printable(strings.TrimRight(string(b[3:]), "\x00"))
	case family == 1:
		path, _, _ := strings.Cut(string(b[2:]), "\x00")
		return printable(path)
	}
	return fmt.Sprint("family ", family)
}

// printable escapes what a path may hold and a terminal should not see.
func printable(s string) string {
	if s == Unknown || utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

//go:embed calls.txt
var callsText string

// names are those of system calls by number, for x86-64 and arm64.
var names = sync.OnceValue(func() (out [2]map[int]string) {
	out[0], out[1] = map[int]string{}, map[int]string{}
	for line := range strings.Lines(callsText) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0][0] == '#' {
			continue
		}
		for arch, number := range f[1:] {
			if n, err := strconv.Atoi(number); err == nil && n >= 0 {
				out[arch][n] = f[0]
			}
		}
	}
	return out
})
