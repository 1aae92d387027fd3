package hosts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// Completed returns forwards through a host with what ssh_config says of all of them: the paths of sockets have their tokens replaced, and
// StreamLocalBindUnlink is obeyed. It refuses those that would lead further than PermitRemoteOpen allows, which limits where the clients
// of a -R without a destination get to, and all on a host that is not reached by ssh. lines come before what the configuration says. For noPrograms see LoadSSHConfig.
func Completed(h hosts.Host, forwards []hosts.Forward, noPrograms bool, lines ...string) ([]hosts.Forward, error) {
	if h.Transport != "" && h.Transport != hosts.SSH && len(forwards) > 0 {
		return nil, cmdutil.Usagef("%s is reached by %s, and ports are forwarded over ssh only", h.Name, h.Transport)
	}
	if !slices.ContainsFunc(forwards, configured) {
		return forwards, nil
	}
	h.SSHOptions = slices.Concat(lines, h.SSHOptions)
	conf, s, err := resolve(h, nil, noPrograms)
	if err != nil {
		return nil, err
	}
	if d := s.LimitsForwards(); d != nil && slices.ContainsFunc(forwards, leadsAnywhere) {
		return nil, fmt.Errorf("%s: PermitRemoteOpen: %s", d.From, pipe.Unlimited)
	}
	unlink, err := sockets(s)
	out := slices.Clone(forwards)
	for i, f := range out {
		if listens := f.Option != "-R" && hosts.IsSocket(f.Bind); listens {
			if err != nil {
				return nil, err
			}
			f.Unlink = unlink
		}
		var err error
		if out[i], err = f.Complete(func(path string) (string, error) { return conf.Expand(s, path) }); err != nil {
			return nil, &cmdutil.UsageError{Err: err}
		}
	}
	return out, nil
}

// configured reports whether ssh_config has a say in a forward.
func configured(f hosts.Forward) bool {
	return leadsAnywhere(f) || hosts.IsSocket(f.Bind) || hosts.IsSocket(f.Host)
}

func leadsAnywhere(f hosts.Forward) bool { return f.Option == "-R" && f.Host == "" }

// ownersMask is what ssh has where StreamLocalBindMask is not set.
const ownersMask = 0o177

// sockets reports whether one that is there gives way to one that is listened on here. Fairlead lets others connect to none of them.
func sockets(s sshconfig.Settings) (unlink bool, err error) {
	for _, d := range s.Skipped {
		value := strings.Trim(d.Value, " \t=\"")
		switch strings.ToLower(d.Keyword) {
		case "streamlocalbindunlink":
			unlink = strings.EqualFold(value, "yes") || strings.EqualFold(value, "true")
		case "streamlocalbindmask":
			if mask, bad := strconv.ParseUint(value, 8, 16); bad != nil || mask != ownersMask {
				err = fmt.Errorf("%s: StreamLocalBindMask %s: not supported: only this account can connect to a socket that Fairlead listens on", d.From, value)
			}
		}
	}
	return unlink, err
}
