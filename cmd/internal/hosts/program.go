package hosts

import (
	"net"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// Program is what ssh_config says about the program that a person starts on a host, for "fairlead ssh" and "fairlead shell". The
// zero Program says nothing.
type Program struct {
	Command string // RemoteCommand; "" means none
	From    string // file:line of it
	TTY     string // RequestTTY; "" is nothing said
	TTYFrom string // file:line of it

	// What only "fairlead ssh" obeys: SessionType ("none", "subsystem", "default"; "" is nothing said), EscapeChar ("" as well),
	// StdinNull, ForkAfterAuthentication and GatewayPorts.
	Session, SessionFrom         string
	Escape, EscapeFrom           string
	NoInput, Background, Gateway bool

	LocalFrom string // file:line of LocalCommand; "" means none
	LocalOK   string // file:line of the PermitLocalCommand that lets a LocalCommand run; "" where it may not

	NoAgent bool // the agent is to be lent, and there is none that listens
}

// ProgramOf returns what ssh_config says about the program on h, behind lines that say it first. For noPrograms see LoadSSHConfig.
func ProgramOf(h hosts.Host, noPrograms bool, lines ...string) (Program, error) {
	if h.Transport != "" && h.Transport != hosts.SSH {
		return Program{}, nil
	}
	h.SSHOptions = slices.Concat(lines, h.SSHOptions)
	s, err := settings(h, nil, noPrograms)
	if err != nil {
		return Program{}, err
	}
	p := Program{Command: s.RemoteCommand.V, From: s.RemoteCommand.Source(), TTY: s.RequestTTY.V, TTYFrom: s.RequestTTY.Source()}
	p.NoAgent = s.ForwardAgent.V && !agentAt(s.AgentLent)
	for _, d := range s.Skipped {
		raw := strings.Trim(d.Value, " \t=\"")
		value := strings.ToLower(raw)
		on := value == "yes" || value == "true"
		switch strings.ToLower(d.Keyword) {
		case "sessiontype":
			p.Session, p.SessionFrom = value, d.From.String()
		case "escapechar":
			p.Escape, p.EscapeFrom = raw, d.From.String()
		case "gatewayports":
			p.Gateway = on
		case "localcommand":
			if value != sshconfig.None {
				p.LocalFrom = d.From.String()
			}
		case "permitlocalcommand":
			if on {
				p.LocalOK = d.From.String()
			}
		case "stdinnull":
			p.NoInput = on
		case "forkafterauthentication":
			p.Background = on
		}
	}
	return p, nil
}

// agentAt reports whether an SSH agent listens at the socket: a variable may name one that has ended.
func agentAt(socket string) bool {
	if socket == "" {
		return false
	}
	conn, err := net.DialTimeout("unix", socket, 5*time.Second) // it is of this machine
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// settings is ssh_config about h, with further options of the call.
func settings(h hosts.Host, options []string, noPrograms bool) (sshconfig.Settings, error) {
	_, s, err := resolve(h, options, noPrograms)
	return s, err
}

// resolve returns the configuration too.
func resolve(h hosts.Host, options []string, noPrograms bool) (*sshconfig.Config, sshconfig.Settings, error) {
	conf, err := LoadSSHConfig(h.SSHConfig, noPrograms)
	if err != nil {
		return nil, sshconfig.Settings{}, err
	}
	s, err := conf.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: slices.Concat(h.SSHOptions, options), Programs: true})
	return conf, s, err
}
