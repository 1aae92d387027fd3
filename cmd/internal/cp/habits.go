package cp

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// rsync is for whoever needs what cp does not keep.
const rsync = " (rsync -a -e 'fairlead ssh' keeps them)"

const archive = "directories are copied whole, with the modes of files; --times keeps times too, and owners are not kept" + rsync

// habits are flags of scp, cp and rsync that ask for what Fairlead does anyway.
var habits = map[string]string{
	"r": "directories are copied whole", "R": "directories are copied whole", "recursive": "directories are copied whole",
	"a": archive, "archive": archive, "A": "no program there could use the agent",
	"q": "progress is shown on a terminal only", "quiet": "progress is shown on a terminal only",
}

// flagError says of a flag that is not needed that it is not.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name, dashes := unknown.GetSpecifiedName(), "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		if why := habits[name]; why != "" && (dashes == "-") == (len(name) == 1) {
			return cmdutil.Usagef("%s%s is not needed: %s; leave it out", dashes, name, why)
		}
	}
	if parent := cmd.Parent(); parent != nil {
		return parent.FlagErrorFunc()(cmd, err)
	}
	return err
}
