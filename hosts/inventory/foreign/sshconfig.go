package foreign

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// SSHConfig reads the hosts that an OpenSSH client configuration names in full. Everything else about them is asked of the
// same file when they are connected to; own says that it is the one that is asked anyway, ~/.ssh/config.
func SSHConfig(path string, own bool) (*Inventory, error) {
	before := File{path, Stamp(path)}
	cfg, err := sshconfig.Open(path)
	if err != nil {
		var se *sshconfig.Error
		if errors.As(err, &se) {
			return nil, &hosts.ParseError{Pos: se.Pos, Msg: se.Msg, Err: se.Err}
		}
		return nil, &hosts.ParseError{Pos: hosts.Pos{File: path}, Msg: "cannot be read", Err: err}
	}
	inv, said := &Inventory{Files: []File{before}}, notes{}
	for _, f := range cfg.Files() {
		inv.Files = append(inv.Files, File{f, Stamp(f)})
	}
	for _, n := range cfg.Named() {
		if err := hosts.CheckName(n.Name); err != nil {
			said.leftOut(n.Pos, "host %q is left out: a host's name %v", clip(n.Name), err)
			continue
		}
		h := Host{Name: n.Name, Pos: n.Pos}
		if !own {
			h.Fields = []Field{{Name: "ssh_config", Values: []string{path}, Pos: n.Pos}}
		}
		inv.Hosts = append(inv.Hosts, h)
	}
	inv.Notes = said.all(path)
	return inv, nil
}
