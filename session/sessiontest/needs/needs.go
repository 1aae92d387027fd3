// Package needs ends tests that lack a part of the machine: they are skipped, or fail where everything must be there.
package needs

import (
	"fmt"
	"os"
	"testing"
)

// Part skips the test for a part that is missing. With CI=true it fails it instead: there a skip would hide that something
// is not tested any more.
func Part(t testing.TB, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and with CI=true it must be had", why)
	}
	t.Skip(why)
}

// Root skips or fails the test like Part unless it runs as root.
func Root(t testing.TB, what string) {
	t.Helper()
	if os.Getuid() != 0 {
		Part(t, "only root can %s", what)
	}
}

// Files fails the test unless a directory of cases has at least as many files as it had: one that is gone is not missed
// otherwise.
func Files(t testing.TB, dir string, least int) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < least {
		t.Fatalf("%s has %d files and had %d: restore them, or lower the number with those that you remove", dir, len(all), least)
	}
}
