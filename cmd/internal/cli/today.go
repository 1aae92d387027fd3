package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// maxShown bounds how many warnings are remembered.
const maxShown = 1000

// shownToday reports whether a warning about a file was shown in the last 24 hours, and remembers that it is shown now. Where
// that cannot be remembered it is shown each time.
func shownToday(f *cmdutil.Factory, file, text string) bool {
	dir, err := f.ShownDir()
	if err != nil {
		return false
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	sum := sha256.Sum256([]byte(file + "\x00" + text))
	name := filepath.Join(dir, hex.EncodeToString(sum[:16]))
	now := time.Now()
	if recent(name, now) {
		return true
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false
	}
	forget(dir, now)
	if err := os.WriteFile(name, nil, 0o600); err == nil {
		_ = os.Chtimes(name, now, now) // it may have been there
	}
	return false
}

// recent reports whether a file was made in the last 24 hours. One of the future was made by another clock.
func recent(name string, now time.Time) bool {
	st, err := os.Lstat(name)
	if err != nil {
		return false
	}
	age := now.Sub(st.ModTime())
	return age >= 0 && age < 24*time.Hour
}

// forget removes what was shown on other days, and all where it is too much.
func forget(dir string, now time.Time) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, n := range names {
		if file := filepath.Join(dir, n.Name()); len(names) > maxShown || !recent(file, now) {
			_ = os.Remove(file)
		}
	}
}
