package hosts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// directives are those of ssh_config that forward ports.
var directives = map[string]string{"localforward": "-L", "remoteforward": "-R", "dynamicforward": "-D"}

// Forwards returns the forwards that the inventory and ssh_config name for a host. ClearAllForwardings takes those of ssh_config away.
// With gateway, ports here for which ssh_config names no address are for other machines too. For noPrograms see LoadSSHConfig.
func Forwards(h hosts.Host, noPrograms, gateway bool) ([]hosts.Forward, error) {
	all := slices.Clone(h.Forwards)
	if h.Transport != "" && h.Transport != hosts.SSH {
		return all, nil
	}
	s, err := settings(h, nil, noPrograms)
	if err != nil {
		return nil, err
	}
	var found []hosts.Forward
	for _, d := range s.Skipped {
		keyword := strings.ToLower(d.Keyword)
		if keyword == "clearallforwardings" { // "no" is not among these
			return all, nil
		}
		option := directives[keyword]
		if option == "" {
			continue
		}
		line, err := sshconfig.ParseOption(d.Keyword + " " + strings.TrimLeft(d.Value, " \t="))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.From, d.Keyword, err)
		}
		text := strings.Join(line.Words(), ":")
		f, err := hosts.ParseForward(option, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.From, d.Keyword, err)
		}
		if gateway {
			f = f.Wide(text)
		}
		found = append(found, f)
	}
	return append(all, found...), nil
}
