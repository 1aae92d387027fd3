package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// linger is how long a connection stays after its host is done: a run uses each host once.
const linger = time.Millisecond

// sharedUID says on record what the gate is worth: a program of the same account could run ssh itself.
const sharedUID = "shared-uid"

// maxWarnings bounds how many warnings about an inventory are printed.
const maxWarnings = 10

// newFactory returns the factory of the program, and what closes everything that came out of it.
func newFactory(ios *iostreams.IOStreams, getenv func(string) string) (*cmdutil.Factory, func() error) {
	f := &cmdutil.Factory{IO: ios, Getenv: getenv, Terminal: openTerminal, Running: &cmdutil.Running{}, SSHHosts: &sshhosts.Book{}}
	f.Keepers = keepers{f, os.Environ, &sync.Once{}}
	var closers []func() error // in the order of opening; commands ask one at a time
	f.Asker = sync.OnceValue(func() *question.Asker {
		if f.Caller().Mark != "" {
			return nil // agents are never asked
		}
		a := question.New(ios, getenv)
		closers = append(closers, func() error { a.Close(); return nil })
		return a
	})
	f.Listed = sync.OnceValues(func() (*hosts.Inventory, error) { return loadInventory(f) })
	f.Inventory = sync.OnceValues(func() (*hosts.Inventory, error) { return orOfSSH(f) })
	f.Audit = sync.OnceValues(func() (audit.Sink, error) {
		sink, err := f.OpenAudit()
		if err != nil {
			return nil, err
		}
		closers = append(closers, sink.Close)
		uid := os.Getuid()
		return audit.As(sink, audit.Event{UID: &uid, Separation: sharedUID}), nil
	})
	f.Pool = func(o cmdutil.PoolOptions) (*session.Pool, error) {
		if o.Policy == nil {
			engine, err := f.Policy("")
			if err != nil {
				return nil, err
			}
			o.Policy = engine
		}
		if o.Redact == nil {
			o.Redact = redact.New(redact.Config{})
		}
		if c, ok := o.Policy.(cmdutil.Counter); ok {
			c.Count()
		}
		sink, err := f.Audit()
		if err != nil {
			return nil, err
		}
		outputs, err := f.Outputs()
		if err != nil {
			return nil, err
		}
		d, err := dialer.New(dialer.Config{Ask: f.Ask(), Inventory: f.Inventory, Principal: f.Caller().Principal, NoPrograms: f.NoPrograms(), Audit: f.Audit})
		if err != nil {
			return nil, err
		}
		closers = append(closers, d.Close)
		forks, capped := dialer.CapForks(o.Forks)
		if capped {
			fmt.Fprintf(ios.Err, "fairlead: only %d hosts at a time: this process may not open more files (ulimit -n)\n", forks)
		}
		pool, err := session.NewPool(session.PoolConfig{
			Dial: d.Dial, Forks: forks, MaxDials: forks, MaxConnsPerHost: 1, IdleTimeout: linger,
			DialTimeout: -1, // a dial has limits of its own, which stand still while a person is asked
			Session: session.Config{
				Principal: f.Caller().Principal, Policy: o.Policy, Audit: sink, Redact: cmdutil.Redactor(o.Redact), Sending: cmdutil.Learner(o.Redact, f.Caller().Principal), Trace: o.Trace,
				Become: question.Become(f.Ask()), Outputs: outputs, CleanEnvIf: sync.OnceValue(func() bool { return cleanEnv(f, o.Policy) }),
			},
		})
		if err != nil {
			return nil, err
		}
		closers = append(closers, pool.Close)
		return pool, nil
	}
	return f, func() error {
		var errs []error
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i]())
		}
		return errors.Join(errs...)
	}
}

// openTerminal opens the terminal that the process belongs to.
func openTerminal() (cmdutil.Terminal, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return tty, nil
}

// loadInventory reads the inventory that the flag, the environment or habit names, as the caller logs in to its hosts.
func loadInventory(f *cmdutil.Factory) (*hosts.Inventory, error) {
	path, from := f.InventoryFile, "-i"
	if path == "" {
		path, from = f.Getenv("FAIRLEAD_INVENTORY"), "FAIRLEAD_INVENTORY"
	}
	if path == "" {
		var err error
		if path, err = f.DefaultInventory(); err != nil {
			return nil, err
		}
		from = ""
	}
	inv, warnings, err := inventory.Load(path, f.InventoryOptions())
	switch {
	case errors.Is(err, fs.ErrNotExist) && from == "":
		return nil, &missing{fmt.Sprintf("there is no inventory at %s: write one, name one with -i, or use user@host", path), true}
	case errors.Is(err, fs.ErrNotExist):
		hint := ""
		if from == "-i" && strings.Contains(path, ",") { // as Ansible takes a list of hosts
			hint = "; hosts are named without -i: fairlead run HOST,HOST -- COMMAND"
		}
		return nil, &missing{fmt.Sprintf("there is no inventory at %s, which %s names%s", path, from, hint), false}
	case err != nil:
		return nil, err
	}
	warnings = slices.DeleteFunc(warnings, func(w inventory.Warning) bool { return w.NoTier && shownToday(f, path, w.Msg) })
	for i, w := range warnings {
		if i == maxWarnings {
			fmt.Fprintf(f.IO.Err, "fairlead: and %d more warnings about the inventory\n", len(warnings)-i)
			break
		}
		fmt.Fprintf(f.IO.Err, "fairlead: warning: %s\n", printable.Line(fmt.Sprint(w)))
	}
	return inv.As(f.Caller().Principal), nil
}

// orOfSSH returns the inventory or, where there is none at the usual place, the hosts of ssh_config if the caller may use
// them and there are any.
func orOfSSH(f *cmdutil.Factory) (*hosts.Inventory, error) {
	inv, err := f.Listed()
	var none *missing
	if !errors.As(err, &none) || !none.usual {
		return inv, err
	}
	switch ssh, serr := f.SSHInventory(); {
	case serr != nil:
		return nil, fmt.Errorf("%w; the hosts of ssh_config cannot be read: %w", err, serr)
	case ssh != nil && ssh.Len() > 0:
		return ssh, nil
	}
	return nil, err
}

// missing says that there is no inventory, which is not to be taken for one that cannot be read: see dialer.Config.Outside.
type missing struct {
	text  string
	usual bool // no other place was named
}

func (m *missing) Error() string { return m.text }

func (*missing) Is(target error) bool { return target == fs.ErrNotExist }

// cleanEnv reports whether the policy starts the caller's shells with a clean environment. One that cannot be read does.
func cleanEnv(f *cmdutil.Factory, decider policy.Decider) bool {
	engine, ok := decider.(*rules.Engine)
	if !ok {
		var err error
		if engine, err = f.Policy(""); err != nil {
			return true
		}
	}
	return engine.Limits(f.Caller().Principal).CleanEnv
}

// inventoryFlag is the value of -i. The last of several would count, and the others for nothing.
type inventoryFlag struct{ path *string }

func (i inventoryFlag) Set(text string) error {
	if text == "t" { // -it, as docker and kubectl have it
		if _, err := os.Stat(text); errors.Is(err, fs.ErrNotExist) {
			return errors.New("there is no such file; if -it is meant, fairlead shell HOST opens a terminal")
		}
	}
	if *i.path != "" && *i.path != text {
		return fmt.Errorf("one inventory is read, and %s is named already: name both in one, as in sources: [{ansible: %s}, {ansible: %s}]", *i.path, *i.path, text)
	}
	*i.path = text
	return nil
}

func (i inventoryFlag) String() string {
	if i.path == nil {
		return ""
	}
	return *i.path
}

// Type is what cobra calls a text.
func (inventoryFlag) Type() string { return "string" }
