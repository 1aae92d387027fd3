//go:build unix && !linux

package store_test

import "syscall"

// leash does nothing: only Linux ends a child with its parent.
func leash(*syscall.SysProcAttr) {}
