//go:build unix && !linux

package hostfs

import "golang.org/x/sys/unix"

func SyncAll(string) { unix.Sync() }
