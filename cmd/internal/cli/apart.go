package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// apart explains a usage error where the value of a flag that may stand alone was written apart from it: "--become postgres" is
// root, and one argument more.
func apart(cmd *cobra.Command, args []string, err error) error {
	var usage *cmdutil.UsageError
	if cmd == nil || !errors.As(err, &usage) {
		return err
	}
	n, most := cmd.ArgsLenAtDash(), 1
	if n < 0 {
		n = cmd.Flags().NArg()
	}
	if name := cmd.Name(); name == "cp" || name == "fetch" {
		most = 2
	}
	if n <= most {
		return err
	}
	for i, arg := range args {
		name, long := strings.CutPrefix(arg, "--")
		if arg == "--" || i+1 == len(args) {
			break
		}
		flag := cmd.Flags().Lookup(name)
		next := args[i+1]
		if !long || flag == nil || flag.NoOptDefVal == "" || strings.HasPrefix(next, "-") {
			continue
		}
		if name == "become" || name == "stdin" && next == "copy" {
			return cmdutil.Usagef("%w; what --%s takes stands behind =, as in --%s=%s", err, name, name, cmdutil.OneLine(next))
		}
	}
	return err
}
