//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package localpty

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/fairlead-ssh/fairlead/session"
)

type stream struct{}

func start(*Transport, session.Program) (*stream, error) {
	return nil, fmt.Errorf("localpty: there are no pseudo-terminals on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func (*stream) Read([]byte) (int, error)    { return 0, errors.ErrUnsupported }
func (*stream) Write([]byte) (int, error)   { return 0, errors.ErrUnsupported }
func (*stream) Wait() (session.Exit, error) { return session.Exit{}, errors.ErrUnsupported }
func (*stream) Close() error                { return nil }
