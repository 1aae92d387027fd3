//go:build !linux && !darwin

package approval

import (
	"errors"
	"fmt"
	"net"
	"runtime"
)

func peerOf(*net.UnixConn) (peer, error) {
	return peer{}, fmt.Errorf("approval: not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func lookUp(int) (process, error) {
	return process{}, fmt.Errorf("approval: not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func environOf(int) (getenv func(string) string, err error) {
	return nil, fmt.Errorf("approval: not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
