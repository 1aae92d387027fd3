package main_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
)

// keeperSurroundings gives a script a keeper of its own, should it start one, and ends that with the script. The name of
// a socket must be short.
func keeperSurroundings(e *testscript.Env) error {
	dir, err := os.MkdirTemp("", "fl")
	if err != nil {
		return err
	}
	e.Setenv("XDG_RUNTIME_DIR", dir)
	places := keeper.Places{Socket: filepath.Join(dir, "fairlead", "keeper.sock")}
	e.Defer(func() {
		defer os.RemoveAll(dir)
		if _, err := os.Stat(filepath.Dir(places.Socket)); err != nil {
			return // none was ever started
		}
		ctx, cancel := context.WithTimeout(context.Background(), awaitAtMost)
		defer cancel()
		if err := keeper.Stop(ctx, places); err != nil && !errors.Is(err, keeper.ErrNone) {
			e.T().Log("the keeper does not end: ", err)
			e.T().FailNow()
		}
	})
	return nil
}

// What one command on one host does is the same with a keeper and without.
func TestExecIsTheSameWithAKeeperAndWithout(t *testing.T) {
	for name, mode := range map[string]string{"without": "off", "with": "require"} {
		t.Run(name, func(t *testing.T) {
			params := scriptParams(t)
			setup := params.Setup
			params.Dir, params.Setup = "testdata/both", func(e *testscript.Env) error {
				e.Setenv("FAIRLEAD_KEEPER", mode)
				return setup(e)
			}
			testscript.Run(t, params)
		})
	}
}
