package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/version"
)

// keepers reaches the keeper of this account.
type keepers struct {
	f       *cmdutil.Factory
	environ func() []string
	told    *sync.Once // that the keeper is an older one
}

// Find returns a client of the keeper that runs.
func (k keepers) Find(ctx context.Context) (*client.Client, error) { return k.dial(ctx, nil) }

// Start starts a keeper where none runs: this program itself.
func (k keepers) Start(ctx context.Context) (*client.Client, error) {
	for _, kv := range k.environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, overrides) {
			return nil, fmt.Errorf("keeper: it reads inventories without %s, which is set here", name)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("keeper: cannot be started: %w", err)
	}
	if strings.HasSuffix(self, ".test") {
		// It would run its tests, which would start keepers, which would run their tests, without end.
		return nil, errors.New("keeper: cannot be started by the binary of a test, which is not a program")
	}
	return k.dial(ctx, []string{self, "serve", "--auto"})
}

// overrides is how the names of variables begin that change what an inventory says.
const overrides = "FAIRLEAD_DEFAULTS_"

func (k keepers) dial(ctx context.Context, argv []string) (*client.Client, error) {
	places, err := listen.FindPlaces(k.f.Getenv)
	if err != nil {
		return nil, err
	}
	sock, err := tellable("SSH_AUTH_SOCK", k.f.Getenv("SSH_AUTH_SOCK"))
	if err != nil {
		return nil, err
	}
	cfg := reach.Config{Places: places, Client: client.Config{AuthSock: sock, SSH: k.f.SSH.Set.String()}, Command: argv,
		Version: version.Read().Version,
		Tell: func(line string) {
			k.told.Do(func() { fmt.Fprintf(k.f.IO.Err, "fairlead: %s\n", cmdutil.OneLine(line)) })
		},
	}
	inventory, err := k.f.InventoryPath()
	if err != nil {
		return nil, err
	}
	if cfg.Client.Inventory, err = tellable("the inventory", inventory); err != nil {
		return nil, err
	}
	if who := k.f.Caller(); who.Mark != "" {
		cfg.Client.Principal = who.Principal
	} else if k.f.Asker != nil {
		if a := k.f.Asker(); a.CanAsk() {
			cfg.Client.Ask = a.Wire
		}
	}
	c, err := reach.Dial(ctx, cfg)
	if errors.Is(err, reach.ErrNone) {
		return nil, fmt.Errorf("%w at %s", cmdutil.ErrNoKeeper, places.Socket)
	}
	return c, err
}

// maxTold bounds a path that the keeper is told.
const maxTold = 4096

// tellable is the path that a setting names as the keeper can be told of it, which runs elsewhere; "" stays.
func tellable(setting, path string) (string, error) {
	switch {
	case path == "":
		return "", nil
	case strings.ContainsFunc(path, unicode.IsControl):
		return "", fmt.Errorf("%s has a control character in its path, which the keeper cannot be told: use another path, or --keeper off", setting)
	}
	abs, err := filepath.Abs(path)
	if err == nil && len(abs) > maxTold {
		err = fmt.Errorf("its path is longer than %d bytes: use another path, or --keeper off", maxTold)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	return abs, nil
}

// keeperFlag is --keeper.
type keeperFlag struct{ mode *config.KeeperMode }

func (k keeperFlag) Set(text string) (err error) {
	if text == "" {
		return errors.New("must be auto, off or require")
	}
	*k.mode, err = config.ParseKeeperMode(text)
	return err
}

func (k keeperFlag) String() string {
	if k.mode == nil {
		return ""
	}
	return string(*k.mode)
}

// Type makes the help show what it takes.
func (keeperFlag) Type() string { return "auto|off|require" }
