package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/storeplace"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// PurgeOptions is everything that "audit purge" needs.
type PurgeOptions struct {
	IO      *iostreams.IOStreams
	Dir     func() (string, error)
	Store   func() (store.Config, error)
	Caller  cmdutil.Caller
	Before  time.Time
	Records bool
}

// NewCmdPurge builds the command. runF replaces the real work in tests of flags.
func NewCmdPurge(f *cmdutil.Factory, dir func() (string, error), runF func(context.Context, *PurgeOptions) error) *cobra.Command {
	o := &PurgeOptions{IO: f.IO, Dir: dir, Store: func() (store.Config, error) { return storeplace.Of(f) }, Caller: f.Caller()}
	if runF == nil {
		runF = purgeRun
	}
	before := ""
	cmd := &cobra.Command{
		Use:   "purge --before TIME [--records]",
		Short: "Remove old outputs or old entries, and log it",
		Long: `Remove outputs of commands that were last kept before TIME, also from the store of sandbox commands. The entries stay: they
have the hashes of the outputs, and still verify.

--records removes old entries instead: the oldest files of the log whose last entry is older than TIME. The file that is
written to stays.

An entry records what is removed and by whom, and "audit verify" accepts no other gap. Agents cannot purge.`,
		Example: `  fairlead audit purge --before 90d
  fairlead audit purge --before 2026-01-01 --records`,
		Args: cmdutil.Args(0, 0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if before == "" {
				return cmdutil.Usagef("audit purge needs --before: %s", whenHelp)
			}
			if o.Before, err = parseWhen("--before", before, time.Now()); err != nil {
				return err
			}
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&before, "before", "", "remove what is older than this `time`: "+whenHelp)
	cmd.Flags().BoolVar(&o.Records, "records", false, "remove files of entries instead of outputs")
	return f.ForPeople(cmd, "remove anything from the audit log")
}

func purgeRun(ctx context.Context, o *PurgeOptions) (err error) {
	dir, err := existing(o.Dir)
	if err != nil {
		return err
	}
	f, err := audit.Open(dir, audit.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	uid := os.Getuid()
	who := audit.Event{Principal: o.Caller.Principal, UID: &uid}
	if o.Records {
		p, err := f.PurgeRecords(o.Before, who)
		if err != nil {
			return err
		}
		if p.Through == "" {
			_, err = fmt.Fprintf(o.IO.Out, "no file of the audit log is older than %s\n", stamp(o.Before))
			return err
		}
		_, err = fmt.Fprintf(o.IO.Out, "removed the audit log up to %s: %s, %s\n", p.Through, cmdutil.Count(p.Records, "entry"), cmdutil.Count(uint64(p.Bytes), "byte"))
		return err
	}
	p, err := audit.NewOutputDir(cmdutil.OutputsOf(dir), nil).Purge(ctx, o.Before, func(p audit.Purged) error { return f.RecordPurge(p, who) })
	if err != nil {
		return err
	}
	kept, err := purgeStore(ctx, o, f, who)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.IO.Out, "removed %s, %s\n", cmdutil.Count(uint64(p.Outputs+kept.Outputs), "output"), cmdutil.Count(uint64(p.Bytes+kept.Bytes), "byte"))
	return err
}

// purgeStore removes outputs of sandbox commands from the store, if there is one. An entry says so first.
func purgeStore(ctx context.Context, o *PurgeOptions, f *audit.File, who audit.Event) (p audit.Purged, err error) {
	cfg, err := o.Store()
	if err != nil {
		return p, err
	}
	if _, err := os.Stat(cfg.Path); cfg.Path != "" && errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	s, err := store.Open(ctx, cfg)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	_, err = s.PurgeBefore(ctx, o.Before, func(out store.Purged) error {
		p = audit.Purged{Before: o.Before, Outputs: int64(out.Outputs + out.Commands), Bytes: out.Bytes}
		return f.RecordPurge(p, who)
	})
	return p, err
}
