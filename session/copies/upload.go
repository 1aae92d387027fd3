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
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

const (
	tempPrefix = ".fairlead-"

	inMemory   = 8 << 20  // bytes of them, per host
	verifySize = 16 << 20 // files up to this size are read back

	slowSync  = 2 * time.Millisecond // where putting one file on disk takes longer, many are put there at once
	fewSyncs  = 8                    // files that are put on disk one by one, whatever that takes
	maxBatch  = 2000                 // files that wait for that
	cleanTime = 10 * time.Second
)

// tempName is what temporary files of this package and of package files are called.
var tempName = lazyregexp.New(`^\.fairlead-[a-z2-7]{16}$`)

// uploading is one upload to one host.
type uploading struct {
	p    *Plan
	r    hostfs.FS
	base string
	into bool
	rep  *reporter

	host    hosts.Host
	journal journal
	note    *note   // of this upload
	dead    []*note // of others to the same directory
	makes   bool    // base is not there, or an interrupted copy of the same source has made it

	uid, gid int
	mode     fs.FileMode
	hasMode  bool

	made map[string]bool // directories that were made, and so were empty

	slots  chan struct{}
	memory *weight
	packs  *packing // of the goroutine that reads; nil if files go one by one
	wg     sync.WaitGroup

	mu        sync.Mutex // guards what follows
	waiting   []waitingFile
	synced    int
	slow      bool
	failed    int   // files
	undressed int   // directories without their mode or owner
	lost      error // the first error that ends everything
	done      map[int]Report
	stop      context.CancelCauseFunc
}

// waitingFile is written and not on disk.
type waitingFile struct {
	n int
	hostfs.Move
}

// where finds out where an upload goes. Nothing is changed.
func (p *Plan) where(ctx context.Context, r hostfs.FS) (abs, base string, into bool, err error) {
	if abs, err = absolute(ctx, r, p.Path); err != nil {
		return "", "", false, err
	}
	var st hostfs.Meta
	var real string
	var unreal error
	hostfs.Each(min(2, r.Width()), 2, func(i int) {
		if i == 0 {
			st, err = r.Stat(ctx, abs)
		} else {
			real, unreal = r.Real(ctx, abs)
		}
	})
	switch {
	case err == nil && st.Mode.IsDir():
		return abs, real, !p.Merge, unreal
	case err == nil && (p.Merge || !p.single()):
		return abs, "", false, fault(files.CodeInvalid, "%s is not a directory", abs)
	case err == nil && p.Entries[0].Dir:
		return abs, "", false, fault(files.CodeInvalid, "%s is a file, and a directory cannot take its place", abs)
	case err == nil && !st.Mode.IsRegular():
		return abs, "", false, fault(files.CodeSpecial, "%s is a device, a FIFO or a socket", abs)
	case err == nil:
		return abs, real, false, unreal
	case !errors.Is(err, fs.ErrNotExist):
		return abs, "", false, err
	case p.Into || !p.Merge && !p.single():
		return abs, "", false, fault(files.CodeNotFound, "there is no directory %s on the host", abs)
	}
	dir, name := path.Split(abs)
	real, err = r.Real(ctx, "/"+strings.Trim(dir, "/"))
	if errors.Is(err, fs.ErrNotExist) {
		return abs, "", false, fault(files.CodeNotFound, "there is no directory %s on the host", path.Clean(dir))
	}
	if err != nil {
		return abs, "", false, err
	}
	if st, err := r.Stat(ctx, real); err != nil || !st.Mode.IsDir() { // servers resolve a last name that is not there
		return abs, "", false, fault(files.CodeNotFound, "there is no directory %s on the host", path.Clean(dir))
	}
	return abs, path.Join(real, name), false, nil
}

// run reads the stream to its end.
func (u *uploading) run(ctx context.Context, in io.Reader) (err error) {
	ctx, u.stop = context.WithCancelCause(ctx)
	defer u.stop(nil)
	if u.uid, u.gid, err = u.p.owner(); err != nil {
		return err
	}
	if u.mode, u.hasMode, err = u.p.mode(); err != nil {
		return err
	}
	u.slots, u.memory = make(chan struct{}, u.r.Width()), newWeight(inMemory)
	u.made, u.done = map[string]bool{}, map[int]Report{}
	u.rep.total = u.p.Bytes()
	u.note = u.noted()
	u.journal.begin(u.note)
	u.dead = u.journal.dead(u.note.Host, u.note.Dir)
	u.clean(ctx)
	defer func() {
		u.cleaned(ctx, err)
		u.note.end(err == nil)
	}()
	if err := u.directories(ctx); err != nil {
		return err
	}
	u.packs = u.packing()
	err = u.contents(ctx, newFrames(in))
	u.ship(ctx)
	u.wg.Wait()
	if err == nil {
		err = u.fatal()
	}
	if ferr := u.settle(ctx, err); err == nil {
		err = ferr
	}
	if err == nil {
		err = u.directoryModes(ctx)
	}
	if err == nil && u.p.Delete {
		err = u.deletions(ctx)
	}
	if err == nil {
		err = u.directoryTimes(ctx)
	}
	u.rep.flush()
	if err != nil {
		return err
	}
	switch {
	case u.failed > 0:
		return fault(files.CodeError, "%s", notCopied(u.failed, u.p.files()))
	case u.undressed > 0:
		return fault(files.CodeError, "all files were copied, and %d of the directories did not get their mode, owner or time", u.undressed)
	}
	return nil
}

func notCopied(n, of int) string {
	if of == 1 {
		return "the file was not copied"
	}
	return fmt.Sprintf("%d of %d files were not copied", n, of)
}

func (u *uploading) fatal() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lost
}

// target is where an entry goes.
func (u *uploading) target(n int) string { return under(u.base, u.p.Entries[n].Name, u.into) }

// directories makes those that are missing, level by level.
func (u *uploading) directories(ctx context.Context) error {
	levels := map[int][]int{}
	deepest := 0
	for n := range u.p.Entries {
		if u.p.Entries[n].Dir {
			d := strings.Count(u.p.Entries[n].Name, "/")
			levels[d] = append(levels[d], n)
			deepest = max(deepest, d)
		}
	}
	for d := 0; d <= deepest; d++ {
		var first error
		var mu sync.Mutex
		for _, n := range u.makeAll(ctx, levels[d]) {
			u.slots <- struct{}{}
			u.wg.Go(func() {
				defer func() { <-u.slots }()
				made, err := u.directory(ctx, u.target(n))
				mu.Lock()
				defer mu.Unlock()
				if err != nil && first == nil {
					first = placed(u.target(n), err)
				}
				u.made[u.target(n)] = made
			})
		}
		u.wg.Wait()
		if first != nil {
			return first
		}
		if ctx.Err() != nil {
			return ctxerr.Of(ctx)
		}
	}
	return nil
}

func (u *uploading) directory(ctx context.Context, name string) (made bool, err error) {
	err = u.r.Mkdir(ctx, name)
	if err == nil {
		return true, nil
	}
	st, serr := u.r.Lstat(ctx, name)
	switch {
	case serr != nil:
		return false, err
	case st.Mode.IsDir():
		return false, nil
	case st.Mode&fs.ModeSymlink != 0:
		return false, fault(files.CodeConflict, "it is a symbolic link on the host, which is not followed")
	}
	return false, fault(files.CodeConflict, "it is not a directory on the host")
}

// directoryModes gives new directories their modes, the deepest first: one that cannot be written must be full before.
func (u *uploading) directoryModes(ctx context.Context) error {
	var all []int
	for n := len(u.p.Entries) - 1; n >= 0; n-- {
		if u.p.Entries[n].Dir && u.made[u.target(n)] {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return u.depth(b) - u.depth(a) })
	for _, n := range u.dressDirectories(ctx, all) {
		u.slots <- struct{}{}
		u.wg.Go(func() {
			defer func() { <-u.slots }()
			c := u.directoryClothes(n)
			if err := u.r.Dress(ctx, u.target(n), c); err != nil {
				u.fail(n, err)
				return
			}
			u.created(n)
		})
	}
	u.wg.Wait()
	return u.fatal()
}

func (u *uploading) directoryClothes(n int) hostfs.Clothes {
	return hostfs.Clothes{Mode: fileplan.Mode(u.p.Entries[n].Mode & 0o1777), UID: u.uid, GID: u.gid}
}

// created reports a new directory that is complete.
func (u *uploading) created(n int) {
	e := &u.p.Entries[n]
	u.rep.tell(Report{Done: Created, Path: u.target(n), Name: e.Name, Mode: fmt.Sprintf("%04o", e.Mode&0o1777)})
}

// contents reads the files.
func (u *uploading) contents(ctx context.Context, in *frames) error {
	for n := range u.p.Entries {
		e := &u.p.Entries[n]
		if e.Dir {
			continue
		}
		if ctx.Err() != nil {
			if err := u.fatal(); err != nil {
				return err
			}
			return ctxerr.Of(ctx)
		}
		r := in.fileOf(e)
		if e.Size > hostfs.SmallFile {
			u.slots <- struct{}{}
			err := u.file(ctx, n, hostfs.Content{R: counting{ctx, r, u.rep}, Size: e.Size}, r)
			<-u.slots
			if derr := r.drain(); derr != nil {
				return derr
			}
			if err != nil {
				u.fail(n, err)
			}
			continue
		}
		if err := u.small(ctx, n, r); err != nil {
			return err
		}
	}
	return nil
}

// small reads a small file and leaves the rest to a goroutine.
func (u *uploading) small(ctx context.Context, n int, r *fileReader) error {
	e := &u.p.Entries[n]
	u.memory.take(e.Size)
	data, err := io.ReadAll(io.LimitReader(counting{ctx, r, u.rep}, e.Size+1))
	if derr := r.drain(); derr != nil {
		u.memory.give(e.Size)
		return derr
	}
	if err == nil && r.n > e.Size {
		err = hostfs.ErrChanged
	}
	if err != nil {
		u.memory.give(e.Size)
		u.fail(n, err)
		return nil
	}
	if u.packs.works() && r.err == io.EOF {
		u.add(ctx, packed{n: n, in: hostfs.Content{Data: data, Size: int64(len(data))}, r: r})
		return nil
	}
	u.slots <- struct{}{}
	u.wg.Go(func() {
		defer func() { <-u.slots; u.memory.give(e.Size) }()
		if err := u.file(ctx, n, hostfs.Content{Data: data, Size: int64(len(data))}, r); err != nil {
			u.fail(n, err)
		}
	})
	return nil
}

// fail notes that an entry was not copied, and why.
func (u *uploading) fail(n int, err error) {
	e, name := &u.p.Entries[n], u.target(n)
	u.mu.Lock()
	if e.Dir {
		u.undressed++
	} else {
		u.failed++
	}
	if (errors.Is(err, session.ErrClosed) || errors.Is(err, session.ErrUnknownOutcome)) && u.lost == nil {
		u.lost = err
		u.stop(err)
	}
	u.mu.Unlock()
	code, why := because(err)
	u.rep.tell(Report{Done: Failed, Path: name, Name: e.Name, Why: why, Code: code})
}

// digest is the hash of all that was copied: of one file its own, of more that of lines as sha256sum prints them, in the
// order of the plan. n is the number of bytes.
func (u *uploading) digest() (sum string, n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var lines bytes.Buffer
	for i := range u.p.Entries {
		if r, ok := u.done[i]; ok {
			n += r.Size
			if u.p.files() == 1 {
				return r.SHA256, n
			}
			fmt.Fprintf(&lines, "%s  %s\n", r.SHA256, r.Name)
		}
	}
	return hexSum(lines.Bytes()), n
}

// weight bounds bytes in memory.
type weight struct {
	mu   sync.Mutex
	free int64
	cond *sync.Cond
}

func newWeight(n int64) *weight {
	w := &weight{free: n}
	w.cond = sync.NewCond(&w.mu)
	return w
}

func (w *weight) take(n int64) {
	w.mu.Lock()
	for w.free < n {
		w.cond.Wait()
	}
	w.free -= n
	w.mu.Unlock()
}

func (w *weight) give(n int64) {
	w.mu.Lock()
	w.free += n
	w.mu.Unlock()
	w.cond.Broadcast()
}
