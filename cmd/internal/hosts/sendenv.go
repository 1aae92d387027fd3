package hosts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

// maxSent bounds the variables that one program is sent.
const maxSent = 64

// SentEnv returns the variables of environ that ssh_config sends to programs on a host which a person starts (SendEnv). options are
// those of the call that are not the host's already. For noPrograms see LoadSSHConfig.
func SentEnv(h hosts.Host, options, environ []string, noPrograms bool) (sent []string, err error) {
	if h.Transport != "" && h.Transport != hosts.SSH {
		return nil, nil
	}
	s, err := settings(h, options, noPrograms)
	if err != nil {
		return nil, err
	}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if name == "" || !slices.ContainsFunc(s.SendEnv, func(v sshconfig.Value[string]) bool { return wildcard.Match(name, v.V) }) {
			continue
		}
		if len(sent) == maxSent {
			return nil, fmt.Errorf("SendEnv names more than %d variables of the environment: name fewer", maxSent)
		}
		sent = append(sent, kv)
	}
	return sent, nil
}
