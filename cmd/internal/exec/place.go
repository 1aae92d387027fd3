package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// site is where the command runs.
type site struct {
	host   hosts.Host
	asked  string         // what a keeper finds the host by
	keeper *client.Client // nil means from here

	// session returns the id of the session, opening it if it must; nil means a shell of its own.
	session func(ctx context.Context) (string, error)
}

func (p *site) close() {
	if p.keeper != nil {
		p.keeper.Close()
	}
}

// find says where. Mistakes of the caller's are usage errors.
func (o *Options) find(ctx context.Context) (*site, error) {
	mode, err := o.Place.Mode()
	if err != nil {
		return nil, err
	}
	if o.Session != "" {
		return o.named(ctx, mode)
	}
	p, herr := o.host()
	if herr != nil {
		return o.existing(ctx, mode, herr)
	}
	p.keeper, err = o.Place.For(ctx, []hosts.Host{p.host})
	return p, err
}

// host is what the target names in the inventory, or outside of it.
func (o *Options) host() (*site, error) {
	all := targets.Resolver{Inventory: o.Inventory, In: strings.NewReader(""), Reach: o.Reach}
	hs, err := all.Resolve(o.Target, "")
	switch {
	case err != nil:
		return nil, &cmdutil.UsageError{Err: err}
	case len(hs) > 1:
		return nil, cmdutil.Usagef("exec takes one host, and %s picks %d: fairlead run takes many", o.Target, len(hs))
	}
	return &site{host: hs[0], asked: targets.Asked(hs[0])}, nil
}

// named is the session of -s, on the host.
func (o *Options) named(ctx context.Context, mode config.KeeperMode) (*site, error) {
	if mode == config.Off {
		return nil, cmdutil.Usagef("-s %s is a session, which lives in the keeper, and the keeper is off: leave -s out, or --keeper off", o.Session)
	}
	p, err := o.host()
	if err != nil {
		return nil, err
	}
	if file := place.Relative(p.host); file != "" {
		return nil, place.Elsewhere(p.host, file)
	}
	if inv, err := o.Inventory(); err == nil {
		if _, err := inv.Lookup(o.Session); err == nil {
			return nil, cmdutil.Usagef("-s %s: a host has that name; give the session another one", o.Session)
		}
	}
	if p.keeper, err = o.Keepers.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, cmdutil.Wrap("sessions need the keeper", err)
	}
	if p.keeper, err = o.Place.With(p.keeper, p.host); err != nil {
		return nil, err
	}
	p.session = func(ctx context.Context) (string, error) {
		for range 2 { // somebody may open it at the same time
			s, err := p.keeper.Session(ctx, o.Session)
			switch code := codeOf(err); {
			case err == nil && s.Host != p.host.Name:
				return "", cmdutil.Usagef("session %s is on %s, and not on %s: fairlead exec %s runs there", o.Session, s.Host, p.host.Name, printable.Word(o.Session))
			case err == nil && !o.suits(s):
				return "", o.opened(o.Session)
			case err == nil:
				return s.ID, nil
			case code == "closed", code == wire.CodeElsewhere: // what it held is gone, and whoever goes on as if it were there should know
				var why *wire.Problem
				if errors.As(err, &why) {
					fmt.Fprintf(o.IO.Err, "fairlead: %s; this is a new one\n", cmdutil.OneLine(cmdutil.Text(errors.New(why.Detail))))
				}
			case code != "not_found":
				return "", err
			}
			s, err = p.keeper.Open(ctx, wire.Open{Host: p.asked, Name: o.Session, Reason: o.Reason})
			if codeOf(err) != "exists" {
				return s.ID, err
			}
		}
		return "", fmt.Errorf("session %s comes and goes: try again", o.Session)
	}
	return p, nil
}

// existing is the session that the target names, which is no host.
func (o *Options) existing(ctx context.Context, mode config.KeeperMode, herr error) (*site, error) {
	if mode == config.Off {
		return nil, herr
	}
	c, err := o.Keepers.Find(ctx)
	switch {
	case errors.Is(err, cmdutil.ErrNoKeeper):
		return nil, herr
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && mode == config.Require:
		return nil, err
	case err != nil:
		return nil, o.unknown(herr, err)
	}
	s, err := c.Session(ctx, o.Target)
	if err != nil {
		c.Close()
		switch code := codeOf(err); {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case code == "closed", code == wire.CodeElsewhere:
			return nil, &cmdutil.UsageError{Err: err}
		case code == "not_found", code == "invalid": // no session can have such a name
			return nil, herr
		}
		return nil, o.unknown(herr, err)
	}
	if !o.suits(s) {
		c.Close()
		return nil, o.opened(o.Target)
	}
	p := &site{host: o.hostOf(s), keeper: c, session: func(context.Context) (string, error) { return s.ID, nil }}
	return p, nil
}

// unknown says that the target is no host, and that the keeper, which would know a session of that name, failed: an open session that
// is called an unknown host sends its user to the inventory.
func (o *Options) unknown(herr, err error) error {
	return cmdutil.Wrap(cmdutil.OneLine(cmdutil.Text(herr))+"; whether it is an open session only the keeper knows", err)
}

// suits reports whether an open session is what the options ask for: none does but for the account that it runs as.
func (o *Options) suits(s wire.Session) bool {
	rest := *o.SSH
	rest.Become = ""
	return rest.Empty() && (o.SSH.Become == "" || o.SSH.Become == cmp.Or(s.Become, hosts.NoBecome))
}

// opened says that a session's host is reached already, and no option changes how.
func (o *Options) opened(name string) error {
	return cmdutil.Usagef("session %s is open, and %s would count only when it is opened: leave that out, or close it first with fairlead sessions close %s",
		name, o.SSH.Names(), printable.Word(name))
}

// hostOf is a session's host, as far as it is known here: one that is not has no tier, which is the strictest.
func (o *Options) hostOf(s wire.Session) hosts.Host {
	h := hosts.Host{Name: s.Host}
	if inv, err := o.Inventory(); err == nil {
		if known, err := inv.Lookup(s.Host); err == nil {
			h = known
		}
	}
	if s.Shell != "" {
		h.Shell = s.Shell
	}
	return h
}

// codeOf is the code of what a keeper refuses; "" for other errors.
func codeOf(err error) string {
	var p *wire.Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}
