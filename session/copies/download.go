package copies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// found is something to download.
type found struct {
	Entry
	path string // absolute
	skip string // why it is skipped, if it is
	root bool   // the path of the download stands for it
}

// downloading is one download from one host.
type downloading struct {
	r     hostfs.FS
	times bool // each entry says when it was changed last
	rep   *reporter
	all   []found
	lines bytes.Buffer
	files int
	bytes int64
	last  string // hash of the last file
	bad   int
}

// named is what something that matches is called here: its last name, or all from the first pattern on, so that no two are
// called the same.
func named(pattern, name string) string {
	n := 0
	for part := range strings.SplitSeq(strings.Trim(clean(pattern), "/"), "/") {
		if strings.ContainsAny(part, "*?[") {
			break
		}
		n++
	}
	parts := strings.Split(strings.Trim(name, "/"), "/")
	if !strings.HasPrefix(pattern, "/") || n >= len(parts) { // the home directory is in front
		n = max(len(parts)-1, 0)
		if i := len(parts) - strings.Count(pattern, "/") - 1; strings.ContainsAny(path.Dir(pattern), "*?[") && i >= 0 {
			n = i
		}
	}
	if last := strings.Join(parts[n:], "/"); last != "" {
		return last
	}
	return "root"
}

// matches are what a path stands for: itself, or what its patterns match.
func matches(ctx context.Context, r hostfs.FS, name string) ([]string, error) {
	abs, err := absolute(ctx, r, name)
	if err != nil {
		return nil, err
	}
	if !strings.ContainsAny(abs, "*?[") {
		return []string{abs}, nil
	}
	// A name may hold such characters, as [id].tsx. One that the pattern matches, as a file called *, hides no other.
	if self, _ := path.Match(abs, abs); !self {
		if _, err := r.Lstat(ctx, abs); err == nil {
			return []string{abs}, nil
		}
	}
	got := []string{"/"}
	for part := range strings.SplitSeq(strings.Trim(abs, "/"), "/") {
		var next []string
		if !strings.ContainsAny(part, "*?[") {
			for _, dir := range got {
				next = append(next, path.Join(dir, part))
			}
			got = next
			continue
		}
		if _, err := path.Match(part, ""); err != nil {
			return nil, fault(files.CodeInvalid, "%q is not a pattern", part)
		}
		for _, dir := range got {
			names, err := names(ctx, r, dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil && len(got) == 1 {
				return nil, placed(dir, err)
			}
			for _, m := range names {
				if strings.HasPrefix(m.Name, ".") && !strings.HasPrefix(part, ".") {
					continue
				}
				if ok, _ := path.Match(part, m.Name); ok {
					next = append(next, path.Join(dir, m.Name))
				}
			}
		}
		slices.Sort(next)
		if got = next; len(got) > MaxEntries {
			return nil, fault(files.CodeTooLarge, "the pattern matches more than %d names", MaxEntries)
		}
	}
	var there []string
	for _, name := range got {
		if _, err := r.Lstat(ctx, name); err == nil {
			there = append(there, name)
		}
	}
	if len(there) == 0 {
		return nil, fault(files.CodeNotFound, "nothing matches %s", abs)
	}
	return there, nil
}

// roots are what a download begins with.
type roots struct {
	asked, real []string // what is meant, and where that leads
	lost        []lost
}

// lost is something that a pattern matches and that cannot be looked at, such as a link to nothing. It keeps nothing else back.
type lost struct {
	name string
	err  error
}

// roots finds out what a download begins with. Nothing is read.
func (p *Plan) roots(ctx context.Context, r hostfs.FS) (all roots, err error) {
	names, err := matches(ctx, r, p.Path)
	if err != nil {
		return roots{}, err
	}
	for _, name := range names {
		to, err := r.Real(ctx, name)
		if err == nil {
			_, err = r.Stat(ctx, to) // servers resolve a last name that is not there
		}
		switch {
		case err == nil:
			all.asked, all.real = append(all.asked, name), append(all.real, to)
		case ctx.Err() != nil, errors.Is(err, session.ErrClosed):
			return roots{}, placed(name, err)
		default:
			all.lost = append(all.lost, lost{name, err})
		}
	}
	if len(all.real) > 0 || len(all.lost) == 0 {
		return all, nil
	}
	if first := all.lost[0]; !errors.Is(first.err, fs.ErrNotExist) {
		return roots{}, placed(first.name, first.err)
	}
	return roots{}, fault(files.CodeNotFound, "there is no %s on the host", all.lost[0].name)
}

// run writes a stream of all that is below roots.
func (d *downloading) run(ctx context.Context, pattern string, from roots, w io.Writer) error {
	defer d.rep.flush()
	for _, l := range from.lost {
		d.leave(l, named(pattern, l.name))
	}
	for i, name := range from.real {
		if err := d.walk(ctx, from.asked[i], name, named(pattern, from.asked[i])); err != nil {
			return err
		}
	}
	if len(from.real) > 1 { // who gives one name to what comes learns at once that there are several
		slices.SortStableFunc(d.all, func(a, b found) int { return a.rank() - b.rank() })
	}
	for i := range d.all {
		d.rep.total += d.all[i].Size
	}
	if err := d.contents(ctx, w); err != nil {
		return err
	}
	if _, err := w.Write(frame(frameEnd, nil)); err != nil {
		return err
	}
	if d.bad > 0 {
		return fault(files.CodeError, "%s", notCopied(d.bad, d.files))
	}
	return nil
}

// rank is where something stands in a stream of several.
func (f *found) rank() int {
	switch {
	case f.root && f.Dir:
		return 0
	case f.root:
		return 1
	}
	return 2
}

// walk finds all that is below a name, parents first.
func (d *downloading) walk(ctx context.Context, asked, real, name string) error {
	st, err := d.r.Stat(ctx, real)
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, session.ErrClosed)):
		return placed(asked, err)
	case err != nil: // it went away meanwhile
		d.leave(lost{asked, err}, name)
		return nil
	}
	one := []hostfs.Meta{st}
	if err := d.timed(ctx, path.Dir(real), one); err != nil {
		return placed(asked, err)
	}
	st = one[0]
	d.add(found{Entry: Entry{Name: name}, path: real, root: true}, st)
	if !st.Mode.IsDir() {
		return nil
	}
	level := []found{d.all[len(d.all)-1]}
	for len(level) > 0 {
		lists, errs := make([][]hostfs.Meta, len(level)), make([]error, len(level))
		hostfs.Each(d.r.Width(), len(level), func(i int) {
			if lists[i], errs[i] = names(ctx, d.r, level[i].path); errs[i] == nil {
				errs[i] = d.timed(ctx, level[i].path, lists[i])
			}
		})
		var next []found
		for i, dir := range level {
			if ctx.Err() != nil {
				return ctxerr.Of(ctx)
			}
			if errors.Is(errs[i], session.ErrClosed) {
				return errs[i]
			}
			if errs[i] != nil {
				d.files++
				d.fail(&dir, errs[i])
				continue
			}
			for _, m := range lists[i] {
				if m.Name == "" || m.Name == "." || m.Name == ".." || strings.ContainsAny(m.Name, "/\x00") || len(dir.Name)+len(m.Name) > maxPath {
					return fault(files.CodeError, "the host reports an invalid name")
				}
				f := found{Entry: Entry{Name: dir.Name + "/" + m.Name}, path: strings.TrimSuffix(dir.path, "/") + "/" + m.Name}
				d.add(f, m)
				if m.Mode.IsDir() {
					next = append(next, d.all[len(d.all)-1])
				}
			}
			if len(d.all) > MaxEntries {
				return fault(files.CodeTooLarge, "there are more than %d files and directories", MaxEntries)
			}
		}
		level = next
	}
	return nil
}

func (d *downloading) add(f found, m hostfs.Meta) {
	f.Mode = Octal(m.Mode)
	if d.times && !m.Changed.IsZero() {
		f.Modified, _ = keptTime(m.Changed)
	}
	switch {
	case m.Mode.IsDir():
		f.Dir = true
	case m.Mode.IsRegular():
		f.Size = m.Size
		d.files++
	case m.Mode&fs.ModeSymlink != 0:
		f.skip = "it is a symbolic link"
	default:
		f.skip = "it is a device, a FIFO or a socket"
	}
	d.all = append(d.all, f)
}

// contents writes all entries in order. Small files are read ahead.
func (d *downloading) contents(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ahead := newAhead(ctx, d)
	defer ahead.stop()
	for i := range d.all {
		f := &d.all[i]
		if f.skip != "" {
			d.rep.tell(Report{Done: Skipped, Path: f.path, Name: f.Name, Why: f.skip})
			continue
		}
		if d.times && f.Modified.IsZero() {
			d.fail(f, errors.New("the host does not say when it was changed"))
			continue
		}
		if err := writeEntry(w, f.Entry); err != nil {
			return err
		}
		if f.Dir {
			continue
		}
		if err := d.file(ctx, f, w, ahead); err != nil {
			return err
		}
	}
	return nil
}

// file writes one file.
func (d *downloading) file(ctx context.Context, f *found, w io.Writer, ahead *ahead) error {
	out := newFileWriter(w)
	var err error
	sink := &hostfs.Refusing{W: out}
	if f.Size <= hostfs.SmallFile {
		var data []byte
		if data, err = ahead.next(ctx); err == nil {
			_, err = sink.Write(data)
			d.rep.moved(int64(len(data)))
		}
	} else {
		err = d.r.Read(ctx, f.path, hostfs.Whole(f.Size), progressWriter{sink, d.rep})
	}
	switch {
	case sink.Err != nil:
		return sink.Err // nobody takes it any more
	case ctx.Err() != nil:
		return ctxerr.Of(ctx)
	case errors.Is(err, session.ErrClosed):
		return err
	}
	if eerr := out.end(err); eerr != nil {
		return eerr
	}
	if err != nil {
		d.fail(f, err)
		return nil
	}
	d.last = fmt.Sprintf("%x", out.h.Sum(nil))
	d.bytes += out.n
	fmt.Fprintf(&d.lines, "%s  %s\n", d.last, f.Name)
	d.rep.tell(Report{Done: Copied, Path: f.path, Name: f.Name, Size: out.n, Mode: fmt.Sprintf("%04o", f.Mode), SHA256: d.last})
	return nil
}

// progressWriter counts what is written through it.
type progressWriter struct {
	w   io.Writer
	rep *reporter
}

func (t progressWriter) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.rep.moved(int64(n))
	return n, err
}

func (d *downloading) fail(f *found, err error) {
	d.bad++
	code, why := because(err)
	d.rep.tell(Report{Done: Failed, Path: f.path, Name: f.Name, Why: why, Code: code})
}

// leave reports something that is not copied.
func (d *downloading) leave(l lost, name string) {
	d.files++
	d.fail(&found{Entry: Entry{Name: name}, path: l.name}, l.err)
}

// digest is as that of an upload.
func (d *downloading) digest() (sum string, n int64) {
	if d.files == 1 && d.last != "" {
		return d.last, d.bytes
	}
	return hexSum(d.lines.Bytes()), d.bytes
}
