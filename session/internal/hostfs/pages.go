package hostfs

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// Of version 3 of the protocol, what a listing needs. The library reads a directory to its end before it returns anything, and
// a server decides where that is.
const (
	sftpInit    = 1
	sftpVersion = 2
	sftpOpendir = 11
	sftpReaddir = 12
	sftpStatus  = 101
	sftpHandle  = 102
	sftpName    = 104

	fullPause = 50 * time.Millisecond
	fullTries = 20

	statusEOF        = 1
	statusNoFile     = 2
	statusPermission = 3

	maxPacket = 256 << 10 // as the library's
	maxHandle = 256       // as the protocol's
	maxName   = 4096      // bytes of one name
	maxDots   = 16        // of "." and "..", which are left out
)

var errSFTP = errors.New("the host's sftp server breaks the protocol")

// Pages reads a directory over sftp page by page, on a channel of its own: it holds one page at a time, and closing that channel is what
// stops a server at any time. A connection may have room for one channel only, and a server that has just closed one may count it a
// moment longer: where there is no room it tries again for a second.
func Pages(ctx context.Context, conn Subsystems, dir string, take func(Meta) error) error {
	if ctx.Err() != nil {
		return ctxerr.Of(ctx)
	}
	rw, err := channelSoon(ctx, conn)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { rw.Close() })
	defer rw.Close()
	var taken error
	err = (&pager{r: bufio.NewReaderSize(rw, 32<<10), w: rw}).list(dir, func(m Meta) error {
		taken = take(m)
		return taken
	})
	switch {
	case !stop() && err != nil && taken == nil:
		return ctxerr.Of(ctx)
	case err != nil && taken == nil && lost(err):
		return fmt.Errorf("the connection was lost: %w", session.ErrClosed)
	}
	return err
}

func channelSoon(ctx context.Context, conn Subsystems) (io.ReadWriteCloser, error) {
	again := time.NewTicker(fullPause)
	defer again.Stop()
	for try := 1; ; try++ {
		rw, err := conn.Subsystem(ctx, "sftp")
		if err == nil || !errors.Is(err, session.ErrFull) || try == fullTries {
			return rw, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, ctxerr.Of(ctx)
		}
	}
}

// pager speaks as much of the protocol as it takes to list one directory. It asks for a page when it has used the one before.
type pager struct {
	r    *bufio.Reader
	w    io.Writer
	last uint32 // the last request
	dots int    // how often "." and ".." came
}

func (p *pager) list(dir string, take func(Meta) error) error {
	if err := p.send(sftpInit, false, binary.BigEndian.AppendUint32(nil, 3)); err != nil {
		return err
	}
	kind, _, err := p.packet()
	if err != nil {
		return err
	}
	if kind != sftpVersion {
		return errSFTP
	}
	handle, err := p.open(dir)
	if err != nil {
		return err
	}
	for {
		body, err := p.ask(sftpReaddir, handle, sftpName)
		if errors.Is(err, errEnd) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.page(body, take); err != nil {
			return err
		}
	}
}

func (p *pager) open(dir string) (handle string, err error) {
	body, err := p.ask(sftpOpendir, dir, sftpHandle)
	if err != nil {
		return "", err
	}
	handle, ok := body.text(maxHandle)
	if !ok {
		return "", errSFTP
	}
	return handle, nil
}

// page reads the names of one answer.
func (p *pager) page(body *fields, take func(Meta) error) error {
	count, ok := body.u32()
	if !ok || count == 0 {
		return errSFTP // a page without names would have the listing never end
	}
	for range count {
		n, ok := body.name()
		if !ok {
			return errSFTP
		}
		if n.Name == "." || n.Name == ".." {
			if p.dots++; p.dots > maxDots {
				return errSFTP // it would never end, and never reach a limit
			}
			continue
		}
		if err := take(n); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a request about a path or a handle, and returns what is in an answer of the wanted kind.
func (p *pager) ask(kind byte, about string, want byte) (*fields, error) {
	p.last++
	if err := p.send(kind, true, append(binary.BigEndian.AppendUint32(nil, uint32(len(about))), about...)); err != nil {
		return nil, err
	}
	got, body, err := p.packet()
	if err != nil {
		return nil, err
	}
	if id, ok := body.u32(); !ok || id != p.last {
		return nil, errSFTP
	}
	switch got {
	case want:
		return body, nil
	case sftpStatus:
		return nil, body.status()
	}
	return nil, errSFTP
}

func (p *pager) send(kind byte, numbered bool, body []byte) error {
	b := make([]byte, 4, 9+len(body))
	b = append(b, kind)
	if numbered {
		b = binary.BigEndian.AppendUint32(b, p.last)
	}
	b = append(b, body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	_, err := p.w.Write(b)
	return err
}

func (p *pager) packet() (kind byte, body *fields, err error) {
	var head [5]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 1 || n > maxPacket {
		return 0, nil, errSFTP
	}
	b := make([]byte, n-1)
	if _, err := io.ReadFull(p.r, b); err != nil {
		return 0, nil, err
	}
	return head[4], &fields{b}, nil
}

// fields is the rest of a packet. It comes from another machine.
type fields struct{ b []byte }

func (f *fields) take(n uint32) ([]byte, bool) {
	if uint64(n) > uint64(len(f.b)) {
		return nil, false
	}
	b := f.b[:n]
	f.b = f.b[n:]
	return b, true
}

func (f *fields) u32() (uint32, bool) {
	b, ok := f.take(4)
	if !ok {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

func (f *fields) bytes() ([]byte, bool) {
	n, ok := f.u32()
	if !ok {
		return nil, false
	}
	return f.take(n)
}

func (f *fields) text(most int) (string, bool) {
	b, ok := f.bytes()
	if !ok || len(b) > most {
		return "", false
	}
	return string(b), true
}

// name reads a name, its line for people, which is not used, and its attributes.
func (f *fields) name() (Meta, bool) {
	name, ok1 := f.text(maxName)
	_, ok2 := f.bytes()
	n, ok3 := f.attributes()
	n.Name = path.Base(name)
	return n, ok1 && ok2 && ok3 && name != "" && n.Name != "/" && !strings.ContainsRune(name, 0)
}

func (f *fields) attributes() (n Meta, ok bool) {
	flags, ok := f.u32()
	n.Mode = fs.ModeIrregular
	if flags&1 != 0 && ok {
		var b []byte
		if b, ok = f.take(8); ok {
			n.Size = max(0, int64(binary.BigEndian.Uint64(b)))
		}
	}
	if flags&2 != 0 && ok {
		_, ok = f.take(8) // the owner
	}
	if flags&4 != 0 && ok {
		var mode uint32
		mode, ok = f.u32()
		n.Mode = unixMode(mode)
	}
	if flags&8 != 0 && ok {
		var b []byte
		if b, ok = f.take(8); ok {
			n.Changed = time.Unix(int64(binary.BigEndian.Uint32(b[4:])), 0)
		}
	}
	if flags&(1<<31) != 0 && ok {
		var count uint32
		count, ok = f.u32()
		for ; count > 0 && ok; count-- {
			if _, ok = f.bytes(); ok {
				_, ok = f.bytes()
			}
		}
	}
	return n, ok
}

// errEnd is a directory's end.
var errEnd = errors.New("the directory has no more names")

// status is the error that an answer is.
func (f *fields) status() error {
	code, ok := f.u32()
	said, _ := f.bytes()
	switch {
	case !ok || code == 0:
		return errSFTP
	case code == statusEOF:
		return errEnd
	case code == statusNoFile:
		return fs.ErrNotExist
	case code == statusPermission:
		return fs.ErrPermission
	}
	return fmt.Errorf("the host's sftp server says %q (status %d)", heardOf(string(said)), code)
}
