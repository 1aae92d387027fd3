package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// doomed is something that Delete removes.
type doomed struct {
	name string
	dir  bool
}

// extra finds what is in the directories of the plan on the host and not in the plan, the deepest first.
func (u *uploading) extra(ctx context.Context) (all []doomed, err error) {
	keep := map[string]bool{}
	for n := range u.p.Entries {
		keep[u.target(n)] = true
	}
	for _, name := range u.p.Keep {
		keep[under(u.base, name, u.into)] = true
	}
	for n := range u.p.Entries {
		dir := u.target(n)
		if !u.p.Entries[n].Dir || u.made[dir] {
			continue
		}
		names, err := names(ctx, u.r, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, placed(dir, err)
		}
		arriving := arriving(names)
		for _, m := range names {
			name := path.Join(dir, m.Name)
			if keep[name] || arriving(m) || m.Name == "." || m.Name == ".." || strings.ContainsAny(m.Name, "/\x00") {
				continue
			}
			if all, err = u.below(ctx, all, name, m.Mode.IsDir(), 0); err != nil {
				return nil, err
			}
		}
	}
	slices.Reverse(all)
	return all, nil
}

// tempAge is after which a temporary file is one that was left.
const tempAge = 24 * time.Hour

// arriving tells which of the names in a directory are of files that another copy may be writing now: to a host that has the directory
// too, or from another machine. Their age is that against the newest name, because the host's clock may be another one.
func arriving(names []hostfs.Meta) func(hostfs.Meta) bool {
	var newest time.Time
	for _, m := range names {
		if m.Changed.After(newest) {
			newest = m.Changed
		}
	}
	return func(m hostfs.Meta) bool {
		return m.Mode.IsRegular() && tempName.MatchString(m.Name) && newest.Sub(m.Changed) < tempAge
	}
}

const maxDepth = 200

// below adds a name and all that is in it. Links are not followed.
func (u *uploading) below(ctx context.Context, all []doomed, name string, dir bool, depth int) ([]doomed, error) {
	if len(all) > MaxEntries || depth > maxDepth {
		return nil, fault(files.CodeTooLarge, "more than %d names, or %d levels, would be removed below %s", MaxEntries, maxDepth, u.base)
	}
	if ctx.Err() != nil {
		return nil, ctxerr.Of(ctx)
	}
	all = append(all, doomed{name, dir})
	if !dir {
		return all, nil
	}
	names, err := names(ctx, u.r, name)
	if errors.Is(err, fs.ErrNotExist) { // the copy to a host that has it too was faster
		return all, nil
	}
	if err != nil {
		return nil, placed(name, err)
	}
	for _, m := range names {
		if m.Name == "." || m.Name == ".." || strings.ContainsAny(m.Name, "/\x00") {
			continue
		}
		if all, err = u.below(ctx, all, path.Join(name, m.Name), m.Mode.IsDir(), depth+1); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// deletions removes what is not in the source. Nothing is removed where a file was not copied.
func (u *uploading) deletions(ctx context.Context) error {
	if u.failed > 0 {
		return nil
	}
	all, err := u.extra(ctx)
	if err != nil {
		return err
	}
	for _, x := range all {
		if err := u.r.Remove(ctx, x.name, x.dir); err != nil {
			return placed(x.name, err)
		}
		u.rep.tell(Report{Done: Deleted, Path: x.name})
	}
	return nil
}

const maxDiff = 64 << 10 // bytes of an old file that a dry run reports

// dry reports what the upload would change. The plan has the hashes of the new contents.
func (u *uploading) dry(ctx context.Context) error {
	defer u.rep.flush()
	var err error
	if u.uid, u.gid, err = u.p.owner(); err != nil {
		return err
	}
	if u.mode, u.hasMode, err = u.p.mode(); err != nil {
		return err
	}
	reports, errs := make([]*Report, len(u.p.Entries)), make([]error, len(u.p.Entries))
	hostfs.Each(u.r.Width(), len(u.p.Entries), func(n int) { reports[n], errs[n] = u.compare(ctx, n) })
	if ctx.Err() != nil {
		return ctxerr.Of(ctx)
	}
	bad := 0
	for n, r := range reports {
		if errs[n] != nil {
			bad++
			code, why := because(errs[n])
			r = &Report{Done: Failed, Why: why, Code: code}
		}
		r.Path, r.Name = u.target(n), u.p.Entries[n].Name
		u.rep.tell(*r)
	}
	if u.p.Delete {
		all, err := u.extra(ctx)
		if err != nil {
			return err
		}
		for _, x := range all {
			u.rep.tell(Report{Done: Doomed, Path: x.name})
		}
	}
	if bad > 0 {
		return fault(files.CodeError, "%d of %d would not be copied", bad, len(u.p.Entries))
	}
	return nil
}

// compare says what would become of one entry.
func (u *uploading) compare(ctx context.Context, n int) (*Report, error) {
	e, to := &u.p.Entries[n], u.target(n)
	st, err := u.r.Lstat(ctx, to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		mode := fileplan.Mode(e.Mode)
		if !e.Dir {
			mode = u.dress(e, nil).Mode
		}
		return &Report{Done: New, Size: e.Size, SHA256: e.SHA256, Mode: fmt.Sprintf("%04o", Octal(mode))}, nil
	case err != nil:
		return nil, err
	case e.Dir && st.Mode.IsDir():
		r := &Report{Done: Unchanged}
		if was, other, err := u.otherTime(ctx, e, to, st); err != nil {
			return nil, err
		} else if other {
			r.Done, r.WasModified, r.Modified = Changed, was, e.Modified
		}
		return r, nil
	case e.Dir && st.Mode&fs.ModeSymlink != 0 && to == u.base:
		return &Report{Done: Unchanged}, nil
	case e.Dir:
		return nil, fault(files.CodeConflict, "it is not a directory on the host")
	}
	old, err := u.old(ctx, to)
	if err != nil {
		return nil, err
	}
	c := u.dress(e, old)
	sum := &hashing{h: newHash()}
	if err := u.r.Read(ctx, to, hostfs.Whole(st.Size), sum); err != nil {
		return nil, err
	}
	r := &Report{Done: Changed, Size: e.Size, SHA256: e.SHA256, Was: sum.hex(), Mode: fmt.Sprintf("%04o", Octal(c.Mode))}
	if was := st.Mode & modeBits; was != c.Mode {
		r.WasMode = fmt.Sprintf("%04o", Octal(was))
	}
	if c.UID >= 0 && (c.UID != old.UID || c.GID != old.GID) {
		r.Owner, r.WasOwner = fmt.Sprintf("%d:%d", c.UID, c.GID), fmt.Sprintf("%d:%d", old.UID, old.GID)
	}
	was, other, err := u.otherTime(ctx, e, to, st)
	if err != nil {
		return nil, err
	}
	if other {
		r.WasModified, r.Modified = was, e.Modified
	}
	switch {
	case r.Was == e.SHA256 && r.WasMode == "" && r.Owner == "" && !other:
		r.Done = Unchanged
	case r.Was != e.SHA256 && sum.n <= maxDiff && !u.p.Guarded:
		r.Old = sum.head
	}
	return r, nil
}

// hashing hashes what is written to it and keeps the beginning.
type hashing struct {
	h    sumHash
	n    int64
	head []byte
}

func (s *hashing) Write(p []byte) (int, error) {
	s.n += int64(len(p))
	if room := maxDiff - len(s.head); room > 0 {
		s.head = append(s.head, p[:min(room, len(p))]...)
	}
	return s.h.Write(p)
}

func (s *hashing) hex() string { return fmt.Sprintf("%x", s.h.Sum(nil)) }
