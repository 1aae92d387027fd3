// Package trust implements "fairlead hosts trust" and "fairlead hosts forget": which keys of hosts are known.
package trust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Options is everything that both commands need.
type Options struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)
	Reach     targets.Reach
	Audit     func() (audit.Sink, error)
	Caller    func() cmdutil.Caller
	Dialer    func() (*sshconn.Dialer, error)
	Confirm   func(ctx context.Context, text, prompt string) (string, error) // its error wraps sshconn.ErrNoPerson where nobody is there

	From  string // a file with expected keys, "-" for standard input; "" means none
	Yes   bool
	Forks int

	Selector string
	Way      sshopt.Set // for what is printed
}

func options(f *cmdutil.Factory) *Options {
	return &Options{
		IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), Audit: f.Audit, Caller: f.Caller,
		Dialer: func() (*sshconn.Dialer, error) {
			cfg := dialer.Config{Inventory: f.Inventory, Principal: f.Caller().Principal}
			return sshconn.Default(dialer.SSH(sshconn.DefaultConfig{
				Ask: f.Ask(), NoPrograms: f.NoPrograms(), Network: sshconn.Network{Lookup: cfg.Lookup, Outside: cfg.Outside()},
			}))
		},
		Confirm: func(ctx context.Context, text, prompt string) (string, error) {
			if f.Asker == nil {
				return "", sshconn.ErrNoPerson
			}
			return f.Asker().Confirm(ctx, text, prompt)
		},
	}
}

// NewCmdTrust builds "hosts trust".
func NewCmdTrust(f *cmdutil.Factory) *cobra.Command {
	o := options(f)
	cmd := &cobra.Command{
		Use:   "trust SELECTOR",
		Short: "Record the keys of hosts, after you have compared them",
		Long: `Connect to the hosts that SELECTOR picks, show the keys of those that are not known, and record them.

  fairlead hosts trust web1
  fairlead hosts trust @web --from keys.txt
  ssh console@hypervisor cat keys | fairlead hosts trust all --from -

Keys are recorded where ssh records them: in the first file of UserKnownHostsFile, hashed if HashKnownHosts says so.
Compare each fingerprint with one that you got in another way; --from does so for you, and records only the keys that it
names. A file of expected keys has lines as in known_hosts, as ssh-keyscan or ssh-keygen -l print them, HOST SHA256:…, or SSHFP
records of DNS, as ssh-keygen -r and dig print them; fetch those over a way that you trust: fairlead does not ask DNS itself.
A changed key is never recorded: fairlead hosts forget removes the old one first. Each recorded key is in the audit log.`,
		Args:              cmdutil.Args(1, 1, "one SELECTOR"),
		ValidArgsFunction: completion.Targets(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Selector, o.Way = args[0], f.SSH.Set
			if o.Forks < 1 {
				return cmdutil.Usagef("--forks must be at least 1, not %d", o.Forks)
			}
			if cmd.Flags().Changed("from") && o.From == "" {
				return cmdutil.Usagef("--from takes a file, or - for standard input")
			}
			return o.trust(cmd.Context())
		},
	}
	fl := cmd.Flags()
	f.SSH.AddWay(fl, "p")
	fl.StringVar(&o.From, "from", "", "record only keys that this `file` names; - is standard input")
	fl.BoolVarP(&o.Yes, "yes", "y", false, "record without asking")
	fl.IntVar(&o.Forks, "forks", session.DefaultForks, "how many hosts at a time, at most `n`")
	return f.ForPeople(cmd, "decide which host keys are trusted")
}

// seen is what became of one host.
type seen struct {
	host  hosts.Host
	place sshconn.KeyPlace
	key   ssh.PublicKey // nil where there is none to record
	state string        // what is printed
	bad   bool
	// behind says that the key of a host on the way is not known.
	behind bool
}

func (s *seen) fail(format string, args ...any) {
	s.key, s.state, s.bad = nil, cmdutil.OneLine(fmt.Sprintf(format, args...)), true
}

func (o *Options) trust(ctx context.Context) error {
	var expected *expectations
	if o.From != "" {
		var err error
		if expected, err = readExpected(o.From, o.IO.In); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	}
	in := o.IO.In
	if o.From == "-" {
		in = strings.NewReader("")
	}
	all, err := o.hosts(in)
	if err != nil {
		return err
	}
	d, err := o.Dialer()
	if err != nil {
		return err
	}
	for round := all; len(round) > 0; round = behind(round) {
		if err := o.round(ctx, d, round, expected); err != nil {
			return err
		}
	}
	return o.print(all)
}

// round records the keys of the hosts that are not decided yet, as far as they can be seen.
func (o *Options) round(ctx context.Context, d *sshconn.Dialer, all []*seen, expected *expectations) error {
	o.scan(ctx, d, all)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if expected != nil {
		for _, s := range all {
			if s.key != nil && !expected.has(s, fingerprint(s.key)) {
				s.fail("not recorded: %s %s is not among the expected keys of %s", plain(s.key).Type(), fingerprint(s.key), o.From)
			}
		}
	}
	pending := slices.DeleteFunc(slices.Clone(all), func(s *seen) bool { return s.key == nil })
	if len(pending) > 0 && expected == nil && !o.Yes {
		switch said, err := o.Confirm(ctx, o.text(pending), fmt.Sprintf("Record %s? [y/N] ", count(len(pending)))); {
		case errors.Is(err, sshconn.ErrNoPerson):
			fmt.Fprint(o.IO.Err, o.text(pending))
			for _, s := range pending {
				s.fail("not recorded: there is no terminal to ask at; compare the fingerprint, then run: %s --yes", o.again())
			}
		case err != nil:
			return err
		case said != "y" && said != "yes":
			for _, s := range pending {
				s.fail("not recorded: the answer was not yes")
			}
		}
	}
	for _, s := range all {
		if s.key != nil {
			if err := o.record(ctx, s); err != nil {
				s.fail("not recorded: %s", cmdutil.Text(err))
			}
		}
	}
	return nil
}

// behind returns the hosts that were not seen because the key of a host on the way was unknown, if a key has been recorded since.
func behind(all []*seen) (again []*seen) {
	recorded := false
	for _, s := range all {
		recorded = recorded || s.key != nil
		if s.behind {
			again = append(again, s)
		}
	}
	if !recorded {
		return nil
	}
	for _, s := range again {
		s.behind, s.bad, s.state = false, false, ""
	}
	return again
}

// again is this call, to be typed once more.
func (o *Options) again() string {
	if !o.Way.Empty() {
		return "this command with"
	}
	return "fairlead hosts trust " + printable.Word(o.Selector)
}

// hosts are those that the selector picks. Such without a key are done already.
func (o *Options) hosts(in io.Reader) ([]*seen, error) {
	r := targets.Resolver{Inventory: o.Inventory, In: in, Reach: o.Reach}
	hs, err := r.Resolve(o.Selector, "")
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	all := make([]*seen, len(hs))
	for i, h := range hs {
		all[i] = &seen{host: h}
		switch h.Transport {
		case hosts.SSH, "":
		default:
			all[i].state = fmt.Sprintf("no key to record: it is reached by %s, not over SSH", h.Transport)
		}
	}
	return all, nil
}

// scan looks at the key of each host.
func (o *Options) scan(ctx context.Context, d *sshconn.Dialer, all []*seen) {
	var wg sync.WaitGroup
	forks, _ := dialer.CapForks(min(o.Forks, len(all)))
	free := make(chan struct{}, forks)
	for _, s := range all {
		if s.state != "" {
			continue
		}
		wg.Go(func() {
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
			case <-ctx.Done():
				s.fail("not tried")
				return
			}
			s.look(ctx, d)
		})
	}
	wg.Wait()
}

func (s *seen) look(ctx context.Context, d *sshconn.Dialer) {
	var err error
	if s.place, err = d.KeyPlace(s.host); err != nil {
		s.fail("%s", cmdutil.WhyAt(err))
		return
	}
	key, err := d.ScanHostKey(ctx, s.host)
	var unknown *knownhosts.UnknownError
	var changed *knownhosts.ChangedError
	switch {
	case key == nil:
		s.fail("%s", cmdutil.WhyAt(err))
		s.behind = errors.As(err, &unknown)
	case err == nil:
		s.state = fmt.Sprintf("known already: %s %s", plain(key).Type(), fingerprint(key))
	case errors.As(err, &changed):
		s.fail("%s; or, once that is certain: %s", cmdutil.Text(err), dialer.ForgetCommand(s.host))
	case !errors.As(err, &unknown):
		s.fail("%s", cmdutil.Text(err))
	case len(s.place.Files) == 0:
		s.fail("no known_hosts file is configured to record its key in")
	default:
		s.key = key
	}
}

// text shows keys, hosts with the same one together.
func (o *Options) text(pending []*seen) string {
	var order []string
	names := map[string][]string{}
	for _, s := range pending {
		id := plain(s.key).Type() + " " + fingerprint(s.key)
		if names[id] == nil {
			order = append(order, id)
		}
		names[id] = append(names[id], s.host.Name)
	}
	var b strings.Builder
	b.WriteString("Keys that are not known. Compare each fingerprint with one that you got in another way.\n")
	for _, id := range order {
		fmt.Fprintf(&b, "  %s  %s\n", id, printable.Line(hosts.Fold(names[id])))
	}
	return b.String()
}

// record writes a key down, after the audit log has it.
func (o *Options) record(ctx context.Context, s *seen) error {
	id := plain(s.key).Type() + " " + fingerprint(s.key)
	how := "answered"
	switch {
	case o.From != "":
		how = "expected"
	case o.Yes:
		how = "unasked"
	}
	err := o.note(ctx, audit.HostKeyTrust, s, fmt.Sprintf("%s for %s in %s (%s)", id, s.place.Name, s.place.Files[0], how))
	if err == nil {
		err = knownhosts.Append(s.place.Files[0], s.place.Name, s.key, knownhosts.AppendOptions{Hash: s.place.Hash})
	}
	if err == nil {
		s.state = "recorded: " + id
	}
	return err
}

func (o *Options) note(ctx context.Context, kind audit.Kind, s *seen, change string) error {
	sink, err := o.Audit()
	if err != nil {
		return err
	}
	return sink.Record(context.WithoutCancel(ctx), audit.Event{Kind: kind, Principal: o.Caller().Principal, Subject: s.host.Name, Change: change})
}

// print tells what became of each host.
func (o *Options) print(all []*seen) error {
	bad := false
	for _, s := range all {
		bad = bad || s.bad
		if _, err := fmt.Fprintf(o.IO.Out, "%s\t%s\n", printable.Cell(s.host.Name), s.state); err != nil {
			return err
		}
	}
	if bad {
		return cmdutil.Exit(exitcode.Unreachable)
	}
	return nil
}

func count(n int) string {
	if n == 1 {
		return "this key"
	}
	return fmt.Sprintf("the keys of these %d hosts", n)
}

// plain is a key without its certificate.
func plain(key ssh.PublicKey) ssh.PublicKey {
	if cert, ok := key.(*ssh.Certificate); ok {
		return cert.Key
	}
	return key
}

func fingerprint(key ssh.PublicKey) string { return ssh.FingerprintSHA256(plain(key)) }
