package trust

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// NewCmdForget builds "hosts forget".
func NewCmdForget(f *cmdutil.Factory) *cobra.Command {
	o := options(f)
	cmd := &cobra.Command{
		Use:   "forget SELECTOR",
		Short: "Remove the recorded keys of hosts",
		Long: `Remove the recorded keys of the hosts that SELECTOR picks, hashed names too, as ssh-keygen -R does.

  fairlead hosts forget web1

Use it once you know why a host has another key: "fairlead hosts trust" records the new one. Only the files of
UserKnownHostsFile are changed. Lines of authorities, of revoked keys and of other hosts stay. Each host is in the audit log.`,
		Args:              cmdutil.Args(1, 1, "one SELECTOR"),
		ValidArgsFunction: completion.Targets(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Selector = args[0]
			all, err := o.hosts(o.IO.In)
			if err != nil {
				return err
			}
			d, err := o.Dialer()
			if err != nil {
				return err
			}
			for _, s := range all {
				if s.state != "" {
					continue
				}
				if s.place, err = d.KeyPlace(s.host); err != nil {
					s.fail("%s", cmdutil.WhyAt(err))
					continue
				}
				// Before the deed, as ever: what is not in the audit log does not happen.
				if err := o.note(cmd.Context(), audit.HostKeyForget, s, fmt.Sprintf("the keys of %s in %d files", s.place.Name, len(s.place.Files))); err != nil {
					return err
				}
				s.forget()
			}
			return o.print(all)
		},
	}
	f.SSH.AddWay(cmd.Flags(), "p")
	return f.ForPeople(cmd, "decide which host keys are trusted")
}

func (s *seen) forget() {
	removed := 0
	var errs []error
	for _, file := range s.place.Files {
		n, err := knownhosts.Remove(file, s.place.Name)
		removed += n
		errs = append(errs, err)
	}
	switch err := errors.Join(errs...); {
	case err != nil:
		s.fail("removed %d keys; %s", removed, cmdutil.Text(err))
	case removed == 0:
		s.state = "no key is recorded for " + s.place.Name
	case removed == 1:
		s.state = "removed 1 key of " + s.place.Name
	default:
		s.state = fmt.Sprintf("removed %d keys of %s", removed, s.place.Name)
	}
}
