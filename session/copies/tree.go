package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// Tree takes the stream of a download and makes files of it below a directory of this machine. A host is not trusted: no
// name leads out of the directory, and no symbolic link in it is followed.
type Tree struct {
	Dir string // is made if it is missing
	// Name is what the only thing that is downloaded is called; "" keeps the names of the host.
	Name string
	// Merge puts what is in the only thing that is downloaded, a directory, into Dir, without a directory of its name.
	Merge bool
	// Below is where in Dir it goes, slash-separated; it is made.
	Below string
	Mode  string // of files, in octal; "" is as on the host, without set-uid and set-gid
	// Times keeps when files and directories were changed last, as the host says it: see Plan.Times.
	Times bool
	// Private makes all of it this account's alone, whatever the modes on the host are: those are in the reports.
	Private bool
	// Accept, if not nil, is asked before anything of a file or directory is kept. Its error ends the copy.
	Accept func(Entry) error
	Take   func(Report) // hears of each file and directory; may be nil
}

// Receive reads a stream to its end. Files that could not be read on the host are left out. The error says why the rest did
// not come; what has a name by then is whole.
func (t *Tree) Receive(ctx context.Context, in io.Reader) error {
	if err := os.MkdirAll(t.Dir, 0o777); errors.Is(err, fs.ErrExist) { // with a slash behind it
		return fmt.Errorf("%s: not a directory", t.Dir)
	} else if err != nil {
		return plain(err)
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return plain(err)
	}
	defer root.Close()
	if t.Below != "" {
		if err := root.MkdirAll(filepath.FromSlash(t.Below), 0o777); err != nil {
			return plain(err)
		}
	}
	r := &receiving{t: t, root: root, p: Plan{Mode: t.Mode}, in: newFrames(in)}
	defer r.leave()
	if r.mode, r.hasMode, err = r.p.mode(); err != nil {
		return err
	}
	err = r.run(ctx)
	if serr := r.settle(err); err == nil {
		err = serr
	}
	if err == nil && r.bad > 0 {
		err = errors.New(notCopied(r.bad, r.files))
	}
	return err
}

// receiving is one stream that is being received.
type receiving struct {
	t       *Tree
	root    *os.Root
	p       Plan
	in      *frames
	mode    fs.FileMode
	hasMode bool

	at  *os.Root // the directory of the last file; nil before the first
	dir string   // its name

	waiting []arrived
	dirs    []arrived
	stamps  []stamp
	n       int
	files   int
	bad     int // files that were not taken
	top     string
}

// Why nothing is made of a download of several things.
var (
	errSeveralMerged = errors.New("several things match: name one directory, or leave out the slash behind it")
	errSeveralNamed  = errors.New("several things match, and they cannot have one name: name a directory that exists")
)

// bare is an error of a file without the name, which is that of the temporary file.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// hereError is an error at a path of this machine.
type hereError struct {
	text string
	err  error
}

func (e hereError) Error() string { return e.text }
func (e hereError) Unwrap() error { return e.err }

// stamp is a directory that waits for its time.
type stamp struct {
	to   string
	when time.Time
}

// arrived is a file that waits for the disk, or a directory that waits for its mode.
type arrived struct {
	temp   string // its name in the directory of to
	to     string
	mode   fs.FileMode
	report Report
}

const fewFiles = 16 // are put on disk one by one

func (r *receiving) run(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return ctxerr.Of(ctx)
		}
		e, err := r.in.entry()
		if err != nil || e == nil {
			return err
		}
		if err := r.take(ctx, e); err != nil {
			return err
		}
	}
}

// take takes one entry.
func (r *receiving) take(ctx context.Context, e *Entry) error {
	if path.Clean(e.Name) != e.Name || strings.HasPrefix(e.Name, "/") || e.Name == "." || e.Name == ".." || strings.HasPrefix(e.Name, "../") || strings.ContainsRune(e.Name, 0) {
		return fmt.Errorf("the host sends %q as a name", e.Name)
	}
	if r.n++; r.n > 2*MaxEntries {
		return errStream
	}
	name := e.Name
	first, rest, _ := strings.Cut(name, "/")
	if r.t.Name != "" || r.t.Merge {
		if r.top == "" {
			r.top = first
		}
		if r.top != first && r.t.Merge {
			return errSeveralMerged
		}
		if r.top != first {
			return errSeveralNamed
		}
		name = path.Join(r.t.Name, rest)
	}
	if name == "" {
		if !e.Dir {
			return fmt.Errorf("%s is not a directory on the host: name it without a slash behind it", e.Name)
		}
		if r.t.Times && !e.Modified.IsZero() {
			r.stamps = append(r.stamps, stamp{filepath.FromSlash(path.Join(".", r.t.Below)), e.Modified})
		}
		return nil // t.Dir is there
	}
	if r.t.Accept != nil {
		if err := r.t.Accept(*e); err != nil {
			return err
		}
	}
	to := filepath.FromSlash(path.Join(r.t.Below, name))
	if r.t.Times && e.Modified.IsZero() {
		return fmt.Errorf("the host does not say when %s was changed", e.Name)
	}
	if e.Dir {
		if r.t.Times {
			r.stamps = append(r.stamps, stamp{to, e.Modified})
		}
		return r.directory(e, to)
	}
	r.files++
	file := r.in.file()
	report, err := r.file(ctx, e, to, file)
	var broken *sourceFault
	switch derr := file.drain(); {
	case derr != nil:
		return derr
	case errors.As(err, &broken):
		return nil // the host reports it
	case err != nil:
		report.Done = Failed
		report.Code, report.Why = because(bare(err))
		r.tell(report)
		if report.Code == files.CodeConflict { // the other files have their own places
			r.bad++
			return nil
		}
		return hereError{report.Path + ": " + report.Why, err}
	}
	return nil
}

func (r *receiving) tell(one Report) {
	if r.t.Take != nil {
		r.t.Take(one)
	}
}

func (r *receiving) directory(e *Entry, to string) error {
	err := r.root.Mkdir(to, 0o700)
	if errors.Is(err, fs.ErrNotExist) && r.parents(to) == nil {
		err = r.root.Mkdir(to, 0o700)
	}
	if err == nil {
		r.dirs = append(r.dirs, arrived{to: to, mode: fileplan.Mode(e.Mode & 0o1777), report: Report{Done: Created, Path: filepath.Join(r.t.Dir, to), Name: e.Name, Mode: fmt.Sprintf("%04o", e.Mode&0o1777)}})
		return nil
	}
	if st, serr := r.root.Lstat(to); serr == nil && st.IsDir() {
		return nil
	} else if serr == nil && st.Mode().IsRegular() {
		return fmt.Errorf("%s is a file, and a directory cannot take its place", filepath.Join(r.t.Dir, to))
	} else if serr == nil {
		return fmt.Errorf("%s is a symbolic link or a special file, and a directory cannot take its place", filepath.Join(r.t.Dir, to))
	}
	return fmt.Errorf("%s: %w", filepath.Join(r.t.Dir, to), plain(err))
}

// parents makes the directories of what a pattern has found deep down.
func (r *receiving) parents(to string) error { return r.root.MkdirAll(filepath.Dir(to), 0o777) }

// within opens the directory of a path, which stays open for the files that follow in it: to walk to it for each costs more
// than to write a small one. The name is that in the directory.
func (r *receiving) within(to string) (at *os.Root, name string, err error) {
	dir, name := filepath.Dir(to), filepath.Base(to)
	if r.at != nil && r.dir == dir {
		return r.at, name, nil
	}
	r.leave()
	at, err = r.root.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) && r.parents(to) == nil {
		at, err = r.root.OpenRoot(dir)
	}
	if err != nil {
		return nil, "", err
	}
	r.at, r.dir = at, dir
	return at, name, nil
}

func (r *receiving) leave() {
	if r.at != nil {
		r.at.Close()
		r.at = nil
	}
}

func (r *receiving) file(ctx context.Context, e *Entry, to string, in *fileReader) (Report, error) {
	report := Report{Path: filepath.Join(r.t.Dir, to), Name: e.Name}
	at, name, err := r.within(to)
	if err != nil {
		return report, err
	}
	if st, err := at.Lstat(name); err == nil && !st.Mode().IsRegular() {
		return report, fault(files.CodeConflict, "a directory, a symbolic link or a special file is there")
	}
	temp := tempPrefix + id.Secret()[:16]
	f, err := at.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return report, err
	}
	mode := fileplan.Mode(e.Mode)
	if !r.t.Private {
		mode &= fs.ModePerm
	}
	if r.hasMode {
		mode = r.mode
	}
	err = hostfs.CopyWhile(ctx, f, in)
	if err == nil && len(r.waiting) < fewFiles && r.n < fewFiles {
		err = f.Sync()
	}
	if err == nil && !r.t.Private {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && r.t.Times {
		err = at.Chtimes(temp, time.Time{}, e.Modified)
	}
	if err == nil {
		report.Done, report.Size, report.Mode, report.SHA256 = Copied, in.n, fmt.Sprintf("%04o", Octal(mode)), fmt.Sprintf("%x", in.sum())
		r.waiting = append(r.waiting, arrived{temp: temp, to: to, report: report})
		if !r.mayBeOneOfSeveral() && (r.n < fewFiles || len(r.waiting) >= maxBatch) {
			err = r.place()
		}
	} else {
		_ = at.Remove(temp)
	}
	return report, err
}

// mayBeOneOfSeveral reports whether the file that came gets its name only once no other thing has come that would have the same.
func (r *receiving) mayBeOneOfSeveral() bool { return r.t.Name != "" && r.n == 1 }

// place gives files their names that are on disk, or are put there now.
func (r *receiving) place() error {
	if r.n >= fewFiles && len(r.waiting) > 0 {
		hostfs.SyncAll(r.t.Dir)
	}
	for len(r.waiting) > 0 {
		f := r.waiting[0]
		at, name, err := r.within(f.to)
		if err == nil {
			err = at.Rename(f.temp, name)
		}
		if err != nil {
			return err
		}
		r.waiting = r.waiting[1:]
		r.tell(f.report)
	}
	return nil
}

// settle ends what came: it gets its names, whatever came after it, unless that shows that it should not have been asked for.
func (r *receiving) settle(why error) (err error) {
	if errors.Is(why, errSeveralNamed) || errors.Is(why, errSeveralMerged) {
		for i := len(r.dirs) - 1; i >= 0; i-- { // nothing is in them yet
			_ = r.root.Remove(r.dirs[i].to)
		}
		r.dirs = nil
	} else {
		err = r.place()
	}
	for _, f := range r.waiting {
		_ = r.root.Remove(filepath.Join(filepath.Dir(f.to), f.temp))
	}
	for i := len(r.dirs) - 1; i >= 0; i-- {
		d := r.dirs[i]
		if !r.t.Private {
			if cerr := r.root.Chmod(d.to, d.mode); err == nil && cerr != nil {
				err = plain(cerr)
			}
		}
		r.tell(d.report)
	}
	for _, d := range r.stamps {
		if terr := r.root.Chtimes(d.to, time.Time{}, d.when); err == nil && terr != nil && !errors.Is(terr, fs.ErrNotExist) {
			err = fmt.Errorf("the time of a directory could not be set: %w", plain(terr))
		}
	}
	return err
}
