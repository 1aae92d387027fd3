package ssh

import (
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// query prints what -Q asks for: what can be named in ssh_config, and not only what is used unasked.
func query(to *iostreams.IOStreams, what string) error {
	names, ok := sshconn.Algorithms(what)
	if !ok {
		return fail(to.Err, fmt.Errorf("-Q: %q is unknown; fairlead ssh -Q help lists what can be asked for", what))
	}
	if _, err := fmt.Fprintln(to.Out, strings.Join(names, "\n")); err != nil {
		return cmdutil.Exit(failed)
	}
	return nil
}
