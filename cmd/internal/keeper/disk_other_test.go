//go:build !linux

package keeper_test

import "testing"

func smallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("small disks are made on Linux only")
	return ""
}

func fill(*testing.T, string) {}

func openFiles(*testing.T) int { return 0 }
