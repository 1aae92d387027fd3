package cmdutil

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
)

// KeeperVariable is the environment variable that says what --keeper does.
const KeeperVariable = "FAIRLEAD_KEEPER"

// Keepers reaches the process that holds sessions.
type Keepers interface {
	// Find returns a client of the keeper that runs; ErrNoKeeper is wrapped where none does.
	Find(ctx context.Context) (*client.Client, error)
	// Start is Find that starts a keeper where none runs. Its error says why there is none.
	Start(ctx context.Context) (*client.Client, error)
}

// ErrNoKeeper is wrapped where no keeper runs.
var ErrNoKeeper = errors.New("keeper: none is running")

// KeeperMode returns whether to go through the keeper: what --keeper says, else the environment, else the settings.
func (f *Factory) KeeperMode() (config.KeeperMode, error) {
	if f.KeeperFlag != "" {
		return f.KeeperFlag, nil
	}
	if text := f.Getenv(KeeperVariable); text != "" {
		m, err := config.ParseKeeperMode(text)
		if err != nil {
			return "", Usagef("%s %w, and not %q", KeeperVariable, err, text)
		}
		return m, nil
	}
	c, err := f.Config()
	if c.Keeper == "" {
		c.Keeper = config.Auto
	}
	return c.Keeper, err
}

// Keeper returns a client of the keeper for a command that does without one where it must, starting one where none runs:
// nil means to do without. Close the client.
func (f *Factory) Keeper(ctx context.Context) (*client.Client, error) {
	mode, err := f.KeeperMode()
	if err != nil || mode == config.Off {
		return nil, err
	}
	c, err := f.Keepers.Start(ctx)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case mode == config.Require:
		return nil, fmt.Errorf("no keeper is available, and --keeper require needs one: %w", err)
	}
	fmt.Fprintf(f.IO.Err, "fairlead: going on without a keeper: %s\n", OneLine(Text(err)))
	return nil, nil
}
