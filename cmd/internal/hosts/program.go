package hosts

import (
	"slices"
	"strings"

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

	// What only "fairlead ssh" obeys: SessionType ("none", "subsystem", "default"; "" is nothing said), StdinNull and
	// ForkAfterAuthentication.
	Session, SessionFrom string
	NoInput, Background  bool
}

// ProgramOf returns what ssh_config says about the program on h. For noPrograms see LoadSSHConfig.
func ProgramOf(h hosts.Host, noPrograms bool) (Program, error) {
	if h.Transport != "" && h.Transport != hosts.SSH {
		return Program{}, nil
	}
	s, err := settings(h, nil, noPrograms)
	if err != nil {
		return Program{}, err
	}
	p := Program{Command: s.RemoteCommand.V, From: s.RemoteCommand.Source(), TTY: s.RequestTTY.V, TTYFrom: s.RequestTTY.Source()}
	for _, d := range s.Skipped {
		value := strings.ToLower(strings.Trim(d.Value, " \t=\""))
		on := value == "yes" || value == "true"
		switch strings.ToLower(d.Keyword) {
		case "sessiontype":
			p.Session, p.SessionFrom = value, d.From.String()
		case "stdinnull":
			p.NoInput = on
		case "forkafterauthentication":
			p.Background = on
		}
	}
	return p, nil
}

// settings is ssh_config about h, with further options of the call.
func settings(h hosts.Host, options []string, noPrograms bool) (sshconfig.Settings, error) {
	conf, err := LoadSSHConfig(h.SSHConfig, noPrograms)
	if err != nil {
		return sshconfig.Settings{}, err
	}
	return conf.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: slices.Concat(h.SSHOptions, options), Programs: true})
}
