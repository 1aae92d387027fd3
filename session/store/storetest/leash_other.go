//go:build unix && !linux

package storetest

import "syscall"

// leash does nothing: only Linux ends a child with its parent.
func leash(*syscall.SysProcAttr) {}
