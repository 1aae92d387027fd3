package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Looks is what is sent to a host to see whether commands run there, and these are what is recorded as the reason.
const (
	Looks      = "true"
	PingReason = "hosts ping"
	HeldReason = "hosts list --held"
)

// PingOptions is everything that "hosts ping" needs.
type PingOptions struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)
	Reach     targets.Reach
	Pool      func(cmdutil.PoolOptions) (*session.Pool, error)
	Place     place.Chooser

	Except         string
	JSON           bool
	Forks          int
	ConnectTimeout time.Duration

	Selector string // "" means all
}

// NewCmdPing builds the command. runF replaces the real work in tests of flags.
func NewCmdPing(f *cmdutil.Factory, runF func(context.Context, *PingOptions) error) *cobra.Command {
	o := &PingOptions{IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), Pool: f.Pool, Place: place.NewChooser(f)}
	if runF == nil {
		runF = pingRun
	}
	cmd := &cobra.Command{
		Use:   "ping [SELECTOR]",
		Short: "Connect to hosts and run true",
		Long: `Connect to every host of the inventory, or to those that SELECTOR picks, start a shell and run true in it.

Hosts are printed as they answer: name, status, how long connecting and starting the shell took, and how long the
command took after that. A keeper that runs has connections to some hosts already, and says so by how soon they are
there. Exit codes are those of "fairlead run".`,
		Example: `  fairlead hosts ping
  fairlead hosts ping @web --connect-timeout 3s`,
		Args: cmdutil.Args(0, 1, "at most one SELECTOR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Selector = strings.Join(args, "")
			if len(args) == 0 {
				o.Selector = "all"
			}
			switch {
			case o.Forks < 1:
				return cmdutil.Usagef("--forks must be at least 1, not %d", o.Forks)
			case o.ConnectTimeout < 0 || o.ConnectTimeout > cmdutil.MaxConnectTimeout:
				return cmdutil.Usagef("--connect-timeout must be between 0 and %v", cmdutil.MaxConnectTimeout)
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	fl := cmd.Flags()
	f.SSH.Add(fl)
	fl.StringVarP(&o.Except, "except", "x", "", "leave out the hosts that `selector` picks")
	fl.BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	fl.IntVar(&o.Forks, "forks", session.DefaultForks, "how many hosts at a time, at most `n`")
	fl.DurationVar(&o.ConnectTimeout, "connect-timeout", 0, "give up connecting after `duration`; 0 means what the inventory or ssh_config says")
	return cmd
}

// pingJSON is a stable format.
type pingJSON struct {
	Host      string         `json:"host"`
	Status    session.Status `json:"status"`
	ConnectMS float64        `json:"connect_ms"` // connecting and starting the shell
	RunMS     float64        `json:"run_ms"`     // the command after that
	Error     string         `json:"error,omitempty"`
}

func pingRun(ctx context.Context, o *PingOptions) error {
	r := targets.Resolver{Inventory: o.Inventory, In: o.IO.In, Reach: o.Reach}
	hs, err := r.Resolve(o.Selector, o.Except)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	width := 0
	for i := range hs {
		width = max(width, len(hs[i].Name))
		if o.ConnectTimeout > 0 {
			hs[i].ConnectTimeout = o.ConnectTimeout
		}
	}
	where, done, err := o.where(ctx, hs)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var tally exitcode.Tally
	var canceled bool
	var failed error // to print
	cmd := session.Command{Script: Looks, Keep: -1, Reason: PingReason}
	err = where.Run(ctx, hs, cmd, func(e place.HostEnd) {
		if failed != nil {
			return
		}
		tally.Add(e.Result)
		canceled = canceled || e.Result.Status == session.StatusCanceled
		if failed = o.print(e.Host, e.Result, width); failed != nil {
			cancel(failed) // nobody listens
		}
	})
	if err = cmp.Or(failed, err); err != nil {
		return err
	}
	var sig *cmdutil.SignalError
	if canceled && errors.As(context.Cause(ctx), &sig) {
		return cmdutil.Exit(128 + sig.Number)
	}
	return cmdutil.Exit(tally.Code())
}

// where says where hs are reached from; done gives it back.
func (o *PingOptions) where(ctx context.Context, hs []hosts.Host) (w place.Runner, done func(), err error) {
	here := &place.Here{Open: sync.OnceValues(func() (*session.Pool, error) {
		return o.Pool(cmdutil.PoolOptions{Forks: min(o.Forks, len(hs))})
	})}
	keeper, err := o.Place.For(ctx, hs)
	if err != nil || keeper == nil {
		return here, func() {}, err
	}
	there := &place.There{Keeper: keeper, Request: wire.NewRun{Forks: o.Forks, Quiet: true}, Waiting: place.TellWaiting(o.IO.Err)}
	if o.ConnectTimeout > 0 {
		s := o.ConnectTimeout.Seconds()
		there.Request.ConnectTimeoutS = &s
	}
	return &place.Either{There: there, Here: here, Place: o.Place, Tell: o.IO.Err}, keeper.Close, nil
}

func (o *PingOptions) print(h hosts.Host, res session.Result, width int) error {
	j := pingJSON{Host: h.Name, Status: res.Status, ConnectMS: ms(res.Dial)}
	if res.Status == session.StatusOK {
		j.RunMS = ms(res.Duration - res.Dial)
	}
	if res.Err != nil {
		j.Error = cmdutil.WhyAt(res.Err)
	}
	if o.JSON {
		return json.NewEncoder(o.IO.Out).Encode(j)
	}
	said := fmt.Sprintf("connect %.1f ms\trun %.2f ms", j.ConnectMS, j.RunMS)
	if j.Error != "" {
		said = j.Error
	} else if res.Status != session.StatusOK {
		said = "true did not succeed"
	}
	if o.IO.OutTTY {
		_, err := fmt.Fprintf(o.IO.Out, "%-*s  %-11s  %s\n", width, h.Name, res.Status, strings.ReplaceAll(said, "\t", "  "))
		return err
	}
	_, err := fmt.Fprintf(o.IO.Out, "%s\t%s\t%s\n", h.Name, res.Status, said)
	return err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
