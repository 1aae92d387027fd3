// Package owned says whether a directory is this account's: whether another account could read, replace or rename what
// Fairlead keeps in it.
package owned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links on the way to a directory.
const maxLinks = 40

// Check refuses a path of which a directory belongs to another account than this one and root, or that others may write to:
// whoever can rename a directory on the way has what is in it. What does not exist yet is not looked at. A directory with the
// sticky bit, as /tmp, counts as one that others cannot change, and the group of an account alone as that account.
func Check(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s must be an absolute path", path)
	}
	return check(filepath.Clean(path), maxLinks)
}

func check(path string, links int) error {
	at := string(filepath.Separator)
	for _, name := range append([]string{""}, strings.Split(strings.TrimPrefix(path, at), at)...) {
		at = filepath.Join(at, name)
		st, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return nil // who makes it finds out
		case err != nil:
			return fmt.Errorf("cannot look at %s: %w", at, err)
		}
		if err := one(at, st); err != nil {
			return err
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		to, err := filepath.EvalSymlinks(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || links == 0 {
			return fmt.Errorf("cannot follow the link %s: %w", at, errors.Join(err, syscall.ELOOP))
		}
		if err := check(to, links-1); err != nil {
			return err
		}
	}
	return nil
}

// one looks at one directory or link on the way.
func one(path string, st fs.FileInfo) error {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	me := os.Geteuid()
	if uid := int(sys.Uid); uid != me && uid != 0 && !unmapped(uid) {
		return fmt.Errorf("%s belongs to %s, who could replace what Fairlead keeps below it. Set XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_RUNTIME_DIR to directories of your own, or run: sudo chown -h %s %s",
			path, name(uid), login(me), path)
	}
	if st.Mode()&fs.ModeSymlink != 0 || !st.IsDir() || st.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	switch mode := st.Mode().Perm(); {
	case mode&0o002 != 0:
		return fmt.Errorf("every account can write to %s (mode %04o, owner %s), and replace what Fairlead keeps below it. Run: chmod o-w %s", path, mode, name(int(sys.Uid)), path)
	case mode&0o020 != 0 && !(int(sys.Gid) == os.Getegid() && os.Getegid() == me) && !(sys.Uid == 0 && sys.Gid == 0):
		return fmt.Errorf("the group %d can write to %s (mode %04o, owner %s), and replace what Fairlead keeps below it. Run: chmod g-w %s", sys.Gid, path, mode, name(int(sys.Uid)), path)
	}
	return nil
}

// overflow is the uid that files of accounts have which a user namespace does not know (user_namespaces(7)).
const overflow = 65534

// unmapped reports whether a uid stands for an account outside of this user namespace, as the system's own directories have in
// an unprivileged container.
func unmapped(uid int) bool {
	if uid != overflow {
		return false
	}
	data, err := os.ReadFile("/proc/self/uid_map")
	f := strings.Fields(string(data))
	return err == nil && len(f) >= 3 && f[2] != "4294967295"
}

// name is an account for people.
func name(uid int) string {
	if n := login(uid); n != strconv.Itoa(uid) {
		return fmt.Sprintf("%s (uid %d)", n, uid)
	}
	return fmt.Sprintf("uid %d", uid)
}

func login(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(uid)
}
