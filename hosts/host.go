package hosts

import (
	"strconv"
	"time"
)

// Kind says how a host is reached.
type Kind string

// The kinds of transport an inventory may name. The zero Kind means SSH.
const (
	SSH     Kind = "ssh"     // over SSH, as ssh(1) would
	Local   Kind = "local"   // a shell on the controller itself
	Command Kind = "command" // any local argv that yields a shell: docker exec, kubectl exec, nsenter …
	Demo    Kind = "demo"    // over SSH to the server built into the binary, on loopback
)

// Host is one machine. Treat it as a value: do not modify the maps and slices of one you did not make. The zero value of
// a field means "not set"; whoever uses the field names the default.
type Host struct {
	Name      string            // unique in an inventory, case-sensitive
	Transport Kind              // "" means SSH
	Addr      string            // DNS name or IP literal, no port; "" means Name, through ssh_config
	Port      uint16            // 0 means what ssh_config says, else 22
	User      string            // "" means what ssh_config says, else the local user
	Via       []string          // jump hosts, first hop first
	Groups    []string          // every group the host is in, inner groups before outer ones
	Labels    map[string]string // free-form
	Tier      string            // "" counts as prod
	Identity  []string          // private key files, in the order to try; ~ is expanded by who reads them
	SSHConfig string            // OpenSSH client configuration to read; "" means ~/.ssh/config, "none" means none

	SSHOptions []string // what one call says about connecting, as ssh's -o does: "Keyword=value", before all else; no field of an inventory

	Shell   string   // "", "auto", "bash", "zsh", "ksh", "dash", "ash" or "sh"
	Login   bool     // read the account's profile first
	Env     []string // "KEY=value", set in every shell
	Command []string // argv for Transport Command
	Ready   []Ready  // checks before matching commands
	Become  Become   // as whom commands run, if not as User

	Forwards []Forward // what is forwarded where a call asks for the host's

	// What an inventory's credentials come to for one principal (see [Inventory.As]).
	IdentityOnly bool   // nothing but Identity is offered: no default keys, and of an agent's keys only those same
	Sandboxed    bool   // an operator says that User can do no more than the principal's sandboxes allow; nobody checks it
	NoLogin      string // why the principal must not log in: whoever dials refuses with it, before anything is connected

	ConnectTimeout time.Duration // bounds TCP, handshake and authentication together; 0 means the dialer's default

	Source Pos // where the entry came from; zero for hosts outside an inventory
}

// Ready is a check that must pass before a command that contains a matching program runs.
type Ready struct {
	Match string        // program name
	Check string        // shell source; exit 0 means ready
	Start string        // shell source that makes it ready; "" means it is only checked
	Wait  time.Duration // how long to wait after Start; 0 means not at all
}

// Pos is a place in a file, for messages.
type Pos struct {
	File string
	Line int // from 1; 0 means unknown
}

// String returns "file:line", or the file alone when the line is unknown.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}
