// Package cmdutil is what every command package may assume: a Factory of dependencies, and errors that say how a command
// ends.
package cmdutil

import (
	"io"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Factory hands out dependencies. Cheap ones are values; anything that reads files, asks or dials is a function, made at
// most once and only by the commands that need it, so that "fairlead help" works with a broken inventory.
type Factory struct {
	IO     *iostreams.IOStreams
	Getenv func(string) string

	Commands []string // the names that an alias cannot have

	KeeperFlag config.KeeperMode // as given with --keeper; "" means FAIRLEAD_KEEPER, else the settings
	Keepers    Keepers

	InventoryFile string // as given with -i; "" means FAIRLEAD_INVENTORY, else the default place

	// Inventory loads the inventory, as the caller logs in to its hosts; where there is none it is made of the hosts of
	// ssh_config, for an operator. Mistakes in it are usage errors.
	Inventory func() (*hosts.Inventory, error)
	// Listed is Inventory that is never made of ssh_config: what agents get, and what rules are about.
	Listed func() (*hosts.Inventory, error)
	// SSH is what ssh's flags say about how hosts are reached, for this call.
	SSH sshopt.Flags
	// SSHHosts knows the hosts of ssh_config, which operators may name where the inventory does not. Nil knows none.
	SSHHosts *sshhosts.Book
	// Audit opens the record. Its error means that nothing may be sent.
	Audit func() (audit.Sink, error)
	// Pool opens the record and makes a pool that writes to it. Whoever made the factory closes it.
	Pool func(PoolOptions) (*session.Pool, error)
	// Running learns where commands run. It may be nil.
	Running *Running
	// Asker asks the person who runs the program what connecting wants to know. It is nil, or returns nil, where agents call.
	Asker func() *question.Asker
	// Terminal opens the terminal of the process, wherever its streams go, for questions. Nil means that there is none.
	Terminal func() (Terminal, error)

	settings struct {
		once   sync.Once
		config config.Config
		err    error
	}
}

// Terminal is where a person is asked. The end of its deadline ends a Read, where the terminal can be polled.
type Terminal interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
}

// PoolOptions is what a command's flags say about connections.
type PoolOptions struct {
	Forks  int // hosts at a time; at least 1
	Trace  *session.Trace
	Policy policy.Decider // nil means what [Factory.Policy] returns for ""
	Redact *redact.Set    // what the record must not show; nil means what the commands themselves give away
}

// Counter is a Policy for one request, which it counts for the policy's limits where this process runs it: a keeper counts what it
// runs itself.
type Counter interface{ Count() }

// MaxConnectTimeout bounds what --connect-timeout takes: longer is a slip of the unit.
const MaxConnectTimeout = time.Hour

// Ask is what Asker gives to a dialer: nil where no person may be asked.
func (f *Factory) Ask() sshconn.Ask {
	if f.Asker == nil {
		return nil
	}
	if a := f.Asker(); a != nil {
		return a.Ask
	}
	return nil
}

// Asked reports whether the person was asked anything about connecting.
func (f *Factory) Asked() bool {
	if f.Asker == nil {
		return false
	}
	a := f.Asker()
	return a != nil && a.Asked()
}
