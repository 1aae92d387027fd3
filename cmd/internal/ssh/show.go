package ssh

import (
	"fmt"

	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// show prints where the call leads, in the form of ssh -G. It is by this that git finds out which options a program takes.
func (r *runner) show(h hosts.Host) error {
	conf, err := hostscmd.LoadSSHConfig(h.SSHConfig, r.f.NoPrograms())
	if err != nil {
		return fail(r.says, err)
	}
	s, err := conf.Resolve(h.Name, sshconfig.Options{User: h.User, Port: h.Port, Lines: h.SSHOptions})
	if err != nil {
		return fail(r.says, err)
	}
	name := s.HostName.V
	if h.Addr != "" {
		name = h.Addr
	}
	fmt.Fprintf(r.f.IO.Out, "host %s\nuser %s\nhostname %s\nport %d\n", r.c.host, s.User.V, name, s.Port.V)
	for _, f := range s.IdentityFiles {
		fmt.Fprintf(r.f.IO.Out, "identityfile %s\n", f.V)
	}
	return nil
}
