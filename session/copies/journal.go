package copies

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// A journal is a directory of this machine that has a note of each upload to a host that runs, or that did not end well. Whoever
// runs the upload has the note locked, so that the kernel says which of them are dead: what such a one has left on the host is
// removed by the next that goes to the same place.
type journal struct{ dir string }

// JournalIn is a Copy.Journal in a directory of this account's. Those who see no secrets have one of their own: they clean up after
// each other only.
func JournalIn(dir string, guarded bool) string {
	if guarded {
		return filepath.Join(dir, "copies-guarded")
	}
	return filepath.Join(dir, "copies")
}

// note is what is known of an upload to one host.
type note struct {
	Run  string   `json:"run"` // is in the names of its temporary files
	Host string   `json:"host"`
	Dir  string   `json:"dir"`            // all of it is in there
	Base string   `json:"base"`           // where the sources go
	Root string   `json:"root,omitempty"` // the source, if it is one directory
	Made bool     `json:"made,omitempty"` // Base was not there, and is to be what Root is
	Dirs []string `json:"dirs"`           // in which it makes files
	Part []string `json:"part,omitempty"` // what it may leave to be continued

	file string
	lock *os.File
}

const (
	runLetters = 7                   // of 16 in the name of a temporary file; the others are its own
	noteAge    = 30 * 24 * time.Hour // after which nothing is continued, or looked for
	maxNotes   = 1000                // that are looked at
)

// hostKey is who a host is, as far as files are concerned.
func hostKey(h hosts.Host) string {
	text, _ := json.Marshal([]any{h.Name, h.Transport, h.Addr, h.Port, h.User, h.Command, h.Become.User})
	return string(text)
}

// begin notes that an upload runs. Where that cannot be noted it goes without.
func (j journal) begin(n *note) {
	n.Run = id.Secret()[:runLetters]
	if j.dir == "" || os.MkdirAll(j.dir, 0o700) != nil {
		return
	}
	text, err := json.Marshal(n)
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(j.dir, "new-"+n.Run), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	err = lockFile(f)
	if err == nil {
		_, err = f.Write(text)
	}
	to := filepath.Join(j.dir, n.Run)
	if err == nil {
		err = os.Rename(f.Name(), to) // not before it is locked
	}
	if err != nil {
		_ = os.Remove(f.Name())
		f.Close()
		return
	}
	n.file, n.lock = to, f
}

// end forgets an upload that has left nothing, or leaves its note to the next one.
func (n *note) end(forget bool) {
	if n.lock == nil {
		return
	}
	if forget {
		_ = os.Remove(n.file)
	}
	n.lock.Close()
	n.lock = nil
}

// dead are the notes of uploads to a directory of a host that do not run any more. The caller ends each.
func (j journal) dead(host, dir string) (all []*note) {
	if j.dir == "" {
		return nil
	}
	names, err := os.ReadDir(j.dir)
	if err != nil {
		return nil
	}
	for _, name := range names[:min(len(names), maxNotes)] {
		n := j.open(name)
		if n == nil {
			continue
		}
		if n.Host != host || !overlap(n.Dir, dir) {
			n.end(false)
			continue
		}
		all = append(all, n)
	}
	return all
}

// overlap reports whether one of two paths is the other, or in it.
func overlap(a, b string) bool {
	a, b = strings.TrimSuffix(a, "/")+"/", strings.TrimSuffix(b, "/")+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// open opens the note of an upload that does not run; nil is none.
func (j journal) open(name os.DirEntry) *note {
	st, err := name.Info()
	if err != nil {
		return nil
	}
	file, old := filepath.Join(j.dir, name.Name()), time.Since(st.ModTime()) > noteAge
	if len(name.Name()) != runLetters { // it is being made
		if old {
			_ = os.Remove(file)
		}
		return nil
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	n := &note{file: file, lock: f}
	if lockFile(f) != nil {
		f.Close()
		return nil
	}
	text, err := io.ReadAll(f)
	if now, lerr := os.Lstat(file); err != nil || lerr != nil || !os.SameFile(st, now) { // somebody was faster
		n.end(false)
		return nil
	}
	if json.Unmarshal(text, n) != nil || n.Run != name.Name() || old {
		n.end(true)
		return nil
	}
	return n
}

// continues reports whether one of the dead uploads to a host was that of a directory called root to base itself.
func (j journal) continues(host, base, root string) (yes bool) {
	for _, n := range j.dead(host, base) {
		yes = yes || n.continues(base, root)
		n.end(false)
	}
	return yes
}

// continues reports whether a note is of the upload of a directory called root to base itself.
func (n *note) continues(base, root string) bool {
	return n.Made && n.Base == base && n.Root == root
}

// temp is a new temporary name for a file.
func (n *note) temp(to string) string {
	return path.Join(path.Dir(to), tempPrefix+n.Run+id.Secret()[:16-runLetters])
}

// left reports whether a name is that of a temporary file of the upload.
func (n *note) left(m hostfs.Meta) bool {
	return m.Mode.IsRegular() && len(m.Name) == len(tempPrefix)+16 && strings.HasPrefix(m.Name, tempPrefix+n.Run)
}

// noted is the note of this upload.
func (u *uploading) noted() *note {
	n := &note{Host: hostKey(u.host), Dir: u.syncDir(), Base: u.base, Root: u.p.root(), Made: u.makes && u.p.root() != ""}
	dirs := map[string]bool{}
	for i := range u.p.Entries {
		e, to := &u.p.Entries[i], u.target(i)
		if e.Dir {
			continue
		}
		dirs[path.Dir(to)] = true
		if u.p.Resume && e.Size > hostfs.SmallFile {
			n.Part = append(n.Part, partialName(to, e.Size))
		}
	}
	n.Dirs = slices.Sorted(maps.Keys(dirs))
	return n
}

// clean removes what dead uploads have left, but for what this one continues, and reports whether there was nothing.
func (u *uploading) clean(ctx context.Context) (clean bool) {
	clean = true
	for _, n := range u.dead {
		failed := make([]error, len(n.Dirs))
		hostfs.Each(u.r.Width(), len(n.Dirs), func(i int) { failed[i] = u.cleanDir(ctx, n, n.Dirs[i]) })
		for _, part := range n.Part {
			if !slices.Contains(u.note.Part, part) {
				failed = append(failed, u.r.Remove(ctx, part, false))
			}
		}
		clean = clean && errors.Join(failed...) == nil
	}
	return clean
}

// cleaned forgets dead uploads once nothing of them is left: programs that they have started may have gone on until now. What
// cannot be removed is left to the next upload.
func (u *uploading) cleaned(ctx context.Context, err error) {
	clean := len(u.dead) > 0 && err == nil
	for range maxCleanings {
		if !clean || u.clean(ctx) {
			break
		}
	}
	clean = clean && u.clean(ctx)
	for _, n := range u.dead {
		n.end(clean)
	}
}

const maxCleanings = 3

var errLeft = errors.New("something was left there")

func (u *uploading) cleanDir(ctx context.Context, n *note, dir string) error {
	names, err := names(ctx, u.r, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, m := range names {
		if n.left(m) {
			err = errors.Join(err, errLeft, u.r.Remove(ctx, path.Join(dir, m.Name), false))
		}
	}
	return err
}
