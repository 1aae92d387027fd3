//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
)

// LandlockVersion is 0: Landlock is Linux's.
func LandlockVersion() int { return 0 }

// Confine fails: Landlock is Linux's.
func Confine(string, []string, []string) error {
	return fmt.Errorf("sandbox: Landlock is there on Linux only, and nothing was run: %w", errors.ErrUnsupported)
}
