// Package quotas keeps what principals have used of their rates and days, see rules.Quotas, in files of an account: it counts in all
// programs of the account together, and stays when they end. The package has no global state.
package quotas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Dir is a directory with a file for each principal. It need not be there. Its methods may be called concurrently.
type Dir string

// patience is how long another program's count is waited for, a variable for the tests. It takes less than a millisecond, but where
// that program is stopped.
var patience = 2 * time.Second

const tick = 5 * time.Millisecond

// Use implements rules.Quotas. Where the count cannot be kept nothing is admitted, and the error says what to do.
func (d Dir) Use(principal string, change func(*rules.Usage) error) error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	name := filepath.Join(string(d), url.PathEscape(principal)+".json")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // which gives the lock back
	if err := lock(f); err != nil {
		return err
	}
	var u rules.Usage
	if err := json.NewDecoder(f).Decode(&u); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s holds no count: remove it, and its principal begins anew", name)
	}
	if err := change(&u); err != nil {
		return err
	}
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	// One write, so that whoever is killed leaves the old count or the new one; what is left of a longer one stands behind it.
	if old, err := f.Seek(0, io.SeekEnd); err == nil && old > int64(len(text)) {
		text = append(text, bytes.Repeat([]byte{' '}, int(old)-len(text))...)
	}
	_, err = f.WriteAt(text, 0)
	return err
}

// lock takes the file's lock, see flock(2).
func lock(f *os.File) error {
	for began := time.Now(); ; time.Sleep(tick) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		case time.Since(began) > patience:
			return fmt.Errorf("another program holds the lock of %s for too long: try again, or see which one it is with lsof", f.Name())
		}
	}
}
