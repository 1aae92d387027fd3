package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

const (
	fullSpace   = 1 << 20   // bytes; with less nothing is sent, soon
	verifyAtAll = 256 << 20 // bytes of record that are verified here and now
	maxAhead    = 5 * time.Minute
)

// state looks at the directory in which everything is kept.
func (o *Options) state(context.Context) []Check {
	dir, err := o.AuditDir()
	if err != nil {
		return []Check{fail("state", "set HOME or XDG_STATE_HOME", "%s", why(err))}
	}
	state := filepath.Dir(dir)
	all := directory("state", state, Warn)
	for _, name := range []string{"store.db", "store.key"} { // sandboxes, what waits, and what seals that
		file := filepath.Join(state, name)
		if st, err := os.Stat(file); err == nil && st.Mode().Perm()&0o077 != 0 {
			all = append(all, fail("store", "chmod 600 "+file, "%s: other accounts may read it (mode %04o)", file, st.Mode().Perm()))
		}
	}
	return all
}

// record looks at the audit trail: without one that can be written nothing is sent.
func (o *Options) record(context.Context) []Check {
	dir, err := o.AuditDir()
	if err != nil {
		return nil // state has said so
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return []Check{ok("audit log", "none yet: the first command makes it")}
	}
	all := directory("audit log", dir, Fail)
	if all[len(all)-1].Status == Fail {
		return all
	}
	return append(all, o.chain(dir, verifyAtAll))
}

// chain verifies the record, unless it is longer than so many bytes: that takes long.
func (o *Options) chain(dir string, most int64) Check {
	var bytes int64
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			bytes += st.Size()
		}
	}
	if bytes > most {
		last, err := audit.Tail(dir, 1)
		if errors.Is(err, audit.ErrDamaged) && len(last) > 0 {
			return fail("chain", "see fairlead audit verify", "the end of the audit log is damaged: %s", why(err))
		}
		if err != nil || len(last) == 0 {
			return fail("chain", "see fairlead audit verify", "the end of the audit log cannot be read")
		}
		return ok("chain", "its end can be read; fairlead audit verify looks at all of its %s", size(bytes))
	}
	r, err := audit.Verify(dir)
	switch {
	case err != nil:
		return fail("chain", "see fairlead audit verify", "%s", why(err))
	case r.Problem != nil:
		return fail("chain", "keep the directory as evidence, and move it aside to start a new one", "the audit log is damaged: %s", r.Problem)
	case r.Last.After(o.Now().Add(maxAhead)):
		return warn("chain", "see whether this machine's clock is right", "its last entry is from the future: %s", r.Last.Local().Format(time.DateTime))
	}
	said := ""
	if n := len(r.Pending); n > 0 {
		said = "; " + cmdutil.Count(n, "request") + " without a result"
	}
	return ok("chain", "whole: %s%s", cmdutil.Count(int(r.Records), "entry"), said)
}

// directory looks at one of ours. open is what it is that other accounts may look into it.
func directory(name, dir string, open Status) []Check {
	st, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		parent := dir
		for errors.Is(err, fs.ErrNotExist) && parent != filepath.Dir(parent) {
			parent = filepath.Dir(parent)
			_, err = os.Stat(parent)
		}
		if err := unix.Access(parent, unix.W_OK); err != nil {
			return []Check{fail(name, "make it, for this account only (mode 0700)", "%s is not there, and %s: %v", dir, parent, err)}
		}
		return []Check{ok(name, "%s is not there yet: the first command makes it", dir)}
	}
	switch {
	case err != nil:
		return []Check{fail(name, "make it readable for this account", "%s", reason(dir, err))}
	case !st.IsDir():
		return []Check{fail(name, "move it aside", "%s is not a directory", dir)}
	}
	var all []Check
	if st.Mode().Perm()&0o077 != 0 {
		all = append(all, Check{"", name, open, text("%s: other accounts may look into it (mode %04o)", dir, st.Mode().Perm()), "chmod 700 " + dir})
	}
	free, inodes := space(dir)
	switch err := tryWrite(dir); {
	case err != nil:
		return append(all, fail(name, "see to permissions and free space: nothing is sent until then", "%s cannot be written: %v", dir, err))
	case free < fullSpace || inodes == 0:
		return append(all, fail(name, "free space: nothing is sent when it is full", "%s: only %s and %d files are left on that disk", dir, size(free), inodes))
	case free < lowSpace:
		return append(all, warn(name, "free space: nothing is sent when it is full", "%s: only %s are left on that disk", dir, size(free)))
	}
	return append(all, ok(name, "%s can be written, %s are free", dir, size(free)))
}

// tryWrite writes a file and removes it.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return cause(err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, 4096))
	return cause(errors.Join(err, f.Sync(), f.Close()))
}

// cause is an error without the path, which is told already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func reason(path string, err error) string { return path + ": " + cause(err).Error() }

// space is what is left on a file system for this account; very much where it does not tell.
func space(dir string) (bytes int64, files uint64) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 1 << 62, 1
	}
	if files = uint64(st.Ffree); st.Files == 0 {
		files = 1 // it does not count them
	}
	return int64(uint64(st.Bavail) * uint64(st.Bsize)), files
}
