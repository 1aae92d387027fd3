package policy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// DefaultPrincipal is whom commands are judged for unless told otherwise.
const DefaultPrincipal = "agent/mcp"

// Situation says for whom, where and by which policy commands are judged. The zero value is an agent on a prod host, by
// the files in their places.
type Situation struct {
	Principal  string
	Host       string
	Tier       string
	Shell      string
	Dir        string
	PolicyFile string
	Program    bool     // what stands after -- is a program and its exact arguments
	Words      []string // these, then

	Inventory   func() (*hosts.Inventory, error)
	DefaultFile func() (string, error)                           // the user's policy when none is named
	Guarded     func(e *rules.Engine, file string) *rules.Engine // keeps agents from what is Fairlead's own; nil keeps from nothing
}

var shells = []string{"bash", "zsh", "mksh", "ksh", "dash", "ash", "sh"}

func newSituation(f *cmdutil.Factory) Situation {
	return Situation{
		Inventory: func() (*hosts.Inventory, error) { return f.Listed() },
		DefaultFile: func() (string, error) {
			inv, err := f.DefaultInventory()
			return filepath.Join(filepath.Dir(inv), "policy.yaml"), err
		},
		Guarded: f.Guarded,
	}
}

func (s *Situation) flags(cmd *cobra.Command, f *cmdutil.Factory) {
	fl := cmd.Flags()
	fl.StringVar(&s.Principal, "principal", "", "judge for this `principal`: agent/NAME, operator/NAME, program/NAME, or a role alone (default "+DefaultPrincipal+")")
	fl.StringVar(&s.Host, "host", "", "judge for this `host` of the inventory, or user@host (default some prod host)")
	fl.StringVar(&s.Tier, "tier", "", "judge for a host of this `tier`; unknown is a host without one (default that of --host, else prod)")
	fl.StringVar(&s.Shell, "shell", "", "judge for this `shell`: "+strings.Join(shells, ", ")+" (default that of --host, else any of them)")
	fl.StringVar(&s.Dir, "cwd", "", "judge as if run in this absolute `directory` (default unknown)")
	fl.StringVar(&s.PolicyFile, "policy", "", "judge by this policy `file` instead of the one in your configuration")
	_ = cmd.RegisterFlagCompletionFunc("host", completion.Hosts(f))
	_ = cmd.RegisterFlagCompletionFunc("shell", cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp))
}

// judge returns what decides, and a request that lacks only the command. Mistakes are usage errors.
func (s *Situation) judge() (e formed, req policy.Request, err error) {
	req = policy.Request{Shell: s.Shell, Dir: s.Dir, Elsewhere: s.Program}
	if req.Principal, err = s.principal(); err != nil {
		return e, req, err
	}
	if req.Host, err = s.host(); err != nil {
		return e, req, err
	}
	if req.Shell == "" && slices.Contains(shells, req.Host.Shell) {
		req.Shell = req.Host.Shell
	}
	if req.Shell != "" && !slices.Contains(shells, req.Shell) {
		return e, req, cmdutil.Usagef("--shell %q is not one of %s", s.Shell, strings.Join(shells, ", "))
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		return e, req, cmdutil.Usagef("--cwd must be absolute: it is a directory on the host")
	}
	e.words = s.Words
	e.Engine, err = s.engine()
	return e, req, err
}

func (s *Situation) principal() (string, error) {
	switch s.Principal {
	case "", "agent":
		return DefaultPrincipal, nil
	case "operator":
		return cmdutil.Principal(), nil
	case "program":
		return "program/any", nil
	}
	role, name, _ := strings.Cut(s.Principal, "/")
	if role != "agent" && role != "operator" && role != "program" || name == "" {
		return "", cmdutil.Usagef("--principal %q is not agent/NAME, operator/NAME, program/NAME or one of these roles", s.Principal)
	}
	return s.Principal, nil
}

func (s *Situation) host() (hosts.Host, error) {
	h := hosts.Host{Tier: hosts.Prod}
	if s.Host != "" {
		found, adhoc, err := hosts.ParseAdHoc(s.Host)
		if err == nil && !adhoc {
			var inv *hosts.Inventory
			if inv, err = s.Inventory(); err == nil {
				found, err = inv.Lookup(s.Host)
			}
		}
		if err != nil {
			return h, &cmdutil.UsageError{Err: err}
		}
		h = found
	}
	switch s.Tier {
	case "":
	case "unknown":
		h.Tier = ""
	default:
		if err := hosts.CheckTier(s.Tier); err != nil {
			return h, cmdutil.Usagef("--tier %v", err)
		}
		h.Tier = s.Tier
	}
	return h, nil
}

func (s *Situation) engine() (*rules.Engine, error) {
	p := rules.Places{User: s.PolicyFile, Named: true}
	if s.PolicyFile == "" {
		var err error
		if p.User, err = s.DefaultFile(); err != nil {
			return nil, err
		}
		p.Named = false
	}
	cfg, err := p.Load()
	if err != nil {
		return nil, mistakes(err)
	}
	if err := cmdutil.NamesIn(cfg, s.Inventory, s.Tier); err != nil {
		return nil, mistakes(err)
	}
	e := rules.New(cfg)
	if s.Guarded != nil {
		e = s.Guarded(e, s.PolicyFile)
	}
	return e, nil
}

// mistakes makes usage errors for people of what is wrong with policy files: one each.
func mistakes(err error) error {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for i, e := range list {
		list[i] = errors.New(strings.TrimPrefix(e.Error(), "rules: "))
	}
	return &cmdutil.UsageError{Err: errors.Join(list...)}
}

// formed decides as a run would: first by what is refused whatever the rules say, then by those.
type formed struct {
	*rules.Engine
	words []string
}

// Decide implements [policy.Decider].
func (f formed) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if d := consent.Refused(f.Engine, req.Principal, req.Command, f.words); d != nil {
		d.Policy = f.Hash()
		return *d, ctx.Err()
	}
	return f.Engine.Decide(ctx, req)
}

// Offer is [rules.Engine.Offer], where a rule can change anything.
func (f formed) Offer(req policy.Request) (string, error) {
	if d := consent.Refused(f.Engine, req.Principal, req.Command, f.words); d != nil {
		return "", fmt.Errorf("%s decides, which no rule changes", d.Rule)
	}
	return f.Engine.Offer(req)
}

// program adds the flag of structured mode.
func (s *Situation) program(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.Program, "program", false, "judge the words after -- as a program and its exact arguments, without shell features")
}

// command returns the shell source that the arguments after -- stand for.
func (s *Situation) command(name string, args []string, dash int) (string, error) {
	script, err := words(name, args, dash)
	if err != nil || !s.Program {
		return script, err
	}
	s.Words = args
	if script, err = consent.Program(args); err != nil {
		return "", &cmdutil.UsageError{Err: err}
	}
	return script, nil
}

// words returns the shell source that the arguments after -- stand for.
func words(name string, args []string, dash int) (string, error) {
	switch {
	case dash < 0 && len(args) > 0:
		return "", cmdutil.Usagef("write -- before the command: fairlead policy %s -- %s", printable.Word(name), cmdutil.Retype(args))
	case dash > 0:
		return "", cmdutil.Usagef("policy %s takes nothing before --", name)
	case len(args) == 0:
		return "", cmdutil.Usagef("policy %s needs a command: fairlead policy %s -- COMMAND", name, printable.Word(name))
	case len(args) == 1:
		return args[0], nil
	}
	return quote(args)
}
