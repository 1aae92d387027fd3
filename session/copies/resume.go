package copies

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// partialName is the temporary name of a file whose upload can be continued: the same each time.
func partialName(to string, size int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", to, size))
	return path.Join(path.Dir(to), tempPrefix+strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:16])
}

// interrupted reports whether a file was not copied because the copy as a whole ended, and not because of the file.
func interrupted(ctx context.Context, source error) bool {
	var fault *sourceFault
	return ctx.Err() != nil || source != nil && !errors.Is(source, io.EOF) && !errors.As(source, &fault)
}

// partial returns the name of the temporary file, and how much of the content is in it already. That much is read from the
// content, and compared. What is something else is removed.
func (u *uploading) partial(ctx context.Context, to string, e *Entry, content io.Reader) (temp string, offset int64, err error) {
	temp = partialName(to, e.Size)
	st, err := u.r.Lstat(ctx, temp)
	if err != nil {
		return temp, 0, nil // whatever is wrong is told when it is made
	}
	size := st.Size
	if hostfs.LeavesHoles(u.r) {
		size -= hostfs.MaxHole
	}
	if !st.Mode.IsRegular() || !u.mine(ctx, st) || size <= 0 || size > e.Size {
		return temp, 0, u.r.Remove(ctx, temp, false)
	}
	there := &prefix{h: newHash(), left: size}
	if err := u.r.Read(ctx, temp, hostfs.Whole(0), there); err != nil && !errors.Is(err, errEnough) {
		return temp, 0, err
	}
	ours := newHash()
	if n, err := io.CopyN(ours, content, size); err != nil || n != size || there.left > 0 {
		return temp, 0, errors.Join(hostfs.ErrChanged, err)
	}
	if string(ours.Sum(nil)) != string(there.h.Sum(nil)) {
		err := errors.New("what an interrupted copy has left is not the beginning of the source, and was removed: copy it again")
		return temp, 0, u.undo(ctx, temp, err)
	}
	return temp, size, nil
}

// mine reports whether a file belongs to the account, as far as that is known: somebody else may have put it there.
func (u *uploading) mine(ctx context.Context, st hostfs.Meta) bool {
	home, err := u.r.Home(ctx)
	if err != nil {
		return false
	}
	own, err := u.r.Stat(ctx, home)
	return err == nil && own.UID >= 0 && own.UID == st.UID
}

var errEnough = errors.New("that is enough")

// prefix hashes the beginning of what is written to it.
type prefix struct {
	h    sumHash
	left int64
}

func (p *prefix) Write(b []byte) (int, error) {
	n := int(min(int64(len(b)), p.left))
	p.h.Write(b[:n])
	p.left -= int64(n)
	if p.left == 0 {
		return n, errEnough
	}
	return n, nil
}
