//go:build !linux

package keepertest

import "testing"

// SmallDisk skips the test: small disks are made on Linux only.
func SmallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("small disks are made on Linux only")
	return ""
}

// Fill leaves no byte on a disk.
func Fill(*testing.T, string) {}
