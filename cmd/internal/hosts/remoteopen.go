package hosts

import (
	"fmt"
	"slices"

	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// MayLead refuses forwards that would lead further than ssh_config allows: PermitRemoteOpen limits where the clients of a -R without a
// destination get to, which Fairlead does not do. For noPrograms see LoadSSHConfig.
func MayLead(h hosts.Host, forwards []hosts.Forward, noPrograms bool) error {
	if !slices.ContainsFunc(forwards, leadsAnywhere) || h.Transport != "" && h.Transport != hosts.SSH {
		return nil
	}
	s, err := settings(h, nil, noPrograms)
	if err != nil {
		return err
	}
	if d := s.LimitsForwards(); d != nil {
		return fmt.Errorf("%s: PermitRemoteOpen: %s", d.From, pipe.Unlimited)
	}
	return nil
}

func leadsAnywhere(f hosts.Forward) bool { return f.Option == "-R" && f.Host == "" }
