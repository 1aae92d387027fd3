package cmdutil

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
)

// ForPeopleKey is the annotation of a command that agents may not run: what they may not do.
const ForPeopleKey = "fairlead/for-people"

// ForPeople makes a command refuse callers that are agents by the marks in their environment, before it does anything.
// what completes "agents may not". Where except is given and holds, anybody may run it.
func (f *Factory) ForPeople(cmd *cobra.Command, what string, except ...func() bool) *cobra.Command {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[ForPeopleKey] = what
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, holds := range except {
			if holds() {
				return run(cmd, args)
			}
		}
		if err := f.Caller().MayNot(what); err != nil {
			fmt.Fprintf(f.IO.Err, "fairlead: %v\n", err)
			return Exit(exitcode.Denied)
		}
		return run(cmd, args)
	}
	return cmd
}

// MayNot says that the caller, an agent, may not do something; nil for people.
func (c Caller) MayNot(what string) error {
	if c.Mark == "" {
		return nil
	}
	return errors.New("agents may not " + what + " (" + c.Mark + " is set). Run this in a terminal of your own")
}
