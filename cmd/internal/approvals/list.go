package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// ListOptions is everything that "approvals list" needs.
type ListOptions struct {
	Base
	JSON    bool
	Session bool // the approvals that hold for sessions instead
}

// NewCmdList builds the command. runF replaces the real work in tests of flags.
func NewCmdList(b Base, runF func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{Base: b}
	if runF == nil {
		runF = listRun
	}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List pending approvals, or session approvals",
		Long: `List pending approvals, the oldest first: id, age, time left, requester, host, class and the first line of the command.
“typed at:” marks input to a running command. With --session: approvals that hold for a session.`,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.Session, "session", false, "list the approvals that hold for a session")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	return cmd
}

// typedAt stands before the command where it is asked whether something may be typed at it.
const typedAt = "typed at: "

func listRun(ctx context.Context, o *ListOptions) error {
	if o.Session {
		return listForSessions(ctx, o)
	}
	c, err := o.Client()
	if err != nil {
		return errors.New(plain(err))
	}
	list, lerr := c.List(ctx) // some may have answered, where others did not
	now := o.Now()
	t := table.New("ID", "AGE", "EXPIRES", "WHO", "HOST", "CLASS", "COMMAND")
	t.Fit, t.Keep, t.Drop = true, []string{"HOST", "COMMAND"}, []string{"CLASS", "AGE", "WHO", "EXPIRES"}
	for _, s := range list {
		if o.JSON {
			if err := json.NewEncoder(o.IO.Out).Encode(s); err != nil {
				return err
			}
			continue
		}
		command := line(s.FirstLine)
		if s.Typed {
			command = typedAt + command
		}
		if s.Lines > 1 {
			command += fmt.Sprintf(" (+ %s)", cmdutil.Count(s.Lines-1, "line"))
		}
		expires := "never"
		if !s.Expires.IsZero() {
			expires = "in " + span(s.Expires.Sub(now))
		}
		t.Add(line(s.ID), span(now.Sub(s.Asked)), expires, line(s.Principal), line(s.Host), line(s.Class), command)
	}
	return o.print(ctx, t, len(list), lerr, "pending approvals")
}

// print ends a list of n rows: JSON has none in the table. What the stores that answered have is shown, and then err, why others did not.
func (o *ListOptions) print(ctx context.Context, t *table.Table, n int, err error, what string) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case o.JSON:
	case n == 0 && err == nil:
		fmt.Fprintf(o.IO.Err, "fairlead: no %s\n", what)
	case n > 0:
		if err := t.Print(o.IO); err != nil {
			return err
		}
	}
	if err != nil {
		return errors.New(plain(err))
	}
	return nil
}
