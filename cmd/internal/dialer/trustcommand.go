package dialer

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// whereKeysAre are options of ssh that decide which key is looked at, and under which name and in which file it is recorded.
var whereKeysAre = []string{
	"hostname", "hostkeyalias", "hostkeyalgorithms", "port", "proxyjump", "userknownhostsfile", "globalknownhostsfile", "hashknownhosts",
}

// TrustCommand is the command that records the key of h where the call that met it looks for it.
func TrustCommand(h hosts.Host) string { return keyCommand("fairlead hosts trust", h) }

// ForgetCommand is the command that removes the keys of h that TrustCommand records.
func ForgetCommand(h hosts.Host) string { return keyCommand("fairlead hosts forget", h) }

// keyCommand names a host of no list as it was reached, and gives one that was reached with options of ssh those that matter. Others
// may be secret, and are left out.
func keyCommand(line string, h hosts.Host) string {
	var words []string
	unlisted := h.Source == (hosts.Pos{})
	if h.SSHConfig != "" && (unlisted || h.Source.File == h.SSHConfig) {
		words = append(words, "-F", h.SSHConfig) // the inventory's own it finds there
	}
	for _, line := range h.SSHOptions {
		o, err := sshconfig.ParseOption(line)
		if err == nil && slices.Contains(whereKeysAre, o.Keyword) && !(unlisted && o.Keyword == "port") {
			words = append(words, "-o", o.Name+"="+o.Value)
		}
	}
	bare := line + " " + h.Name
	for _, word := range append(words, named(h, unlisted)) {
		quoted, err := framing.Quote(word)
		if err != nil { // of a file whose name no shell takes
			return bare
		}
		line += " " + quoted
	}
	return line
}

// named is h as an argument.
func named(h hosts.Host, unlisted bool) string {
	if !unlisted || hosts.CheckUser(h.User) != nil {
		return h.Name
	}
	name := h.Name
	switch {
	case h.Port != 0:
		name = net.JoinHostPort(name, strconv.Itoa(int(h.Port)))
	case strings.Contains(name, ":"):
		name = "[" + name + "]"
	}
	return h.User + "@" + name
}
