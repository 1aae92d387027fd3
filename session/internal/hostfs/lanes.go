package hostfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/pkg/sftp"

	"github.com/fairlead-ssh/fairlead/session"
)

// A channel of SSH has a window, which is 2 MiB for OpenSSH and for x/crypto/ssh: over a round trip of 50 ms it moves 40 MB/s,
// however many requests are under way. So a large file of a host that is far away goes through several channels of its connection at
// the same time, each with a handle of its own.
const (
	Lanes   = 3  // with a pool's eight places of a connection they are the ten that sshd has (sshd_config(5), MaxSessions)
	PerLane = 12 // blocks, which are more than a window
)

// Variables for the tests.
var (
	FarAway  = 4 * time.Millisecond // a round trip in which a window is less than what networks move
	LaneFile = int64(32 << 20)      // bytes that make up for opening channels
	LaneWait = 3 * time.Second      // for a channel more; a server that took as long for the first is not asked for it
)

// pace is the shortest round trip of requests that cost a server next to nothing; zero is not known.
type pace time.Duration

// took learns from a request that began then.
func (p *pace) took(began time.Time) {
	if d := pace(time.Since(began)); *p == 0 || d < *p {
		*p = d
	}
}

// far reports whether so many bytes are worth more channels.
func (p pace) far(size int64) bool { return time.Duration(p) >= FarAway && size >= LaneFile }

// readFar writes a file of a host that is far away to w, and reports false where it is something else.
func (s *SFTP) readFar(ctx context.Context, f *sftp.File, p pace, w io.Writer) (bool, error) {
	if !p.far(LaneFile) {
		return false, nil
	}
	began := time.Now()
	st, err := f.Stat()
	if p.took(began); err != nil || !st.Mode().IsRegular() || st.Size() == 0 { // as of files that the kernel makes up
		return false, nil
	}
	all, done := []*sftp.File{f}, func() {}
	if p.far(st.Size()) {
		all, done = s.again(ctx, f, st, os.O_RDONLY)
	}
	defer done()
	return true, s.laneEnded(gather(all, w, s.first.block, st.Size()))
}

// writers returns f, which was made just now, and further handles of the same file where that pays. done closes those.
func (s *SFTP) writers(ctx context.Context, f *sftp.File, p pace, in Content) (all []*sftp.File, done func()) {
	if p.far(in.Size - in.Offset) {
		if st, err := f.Stat(); err == nil && s.alone(f.Name(), sftpMeta(st).UID) {
			return s.again(ctx, f, st, os.O_WRONLY)
		}
	}
	return []*sftp.File{f}, func() {}
}

// again opens f once more through each of the other channels. What has been put in its place since is something else.
func (s *SFTP) again(ctx context.Context, f *sftp.File, st fs.FileInfo, flags int) (all []*sftp.File, done func()) {
	more := s.more(ctx)
	opened := make([]*sftp.File, len(more))
	Each(len(more), len(more), func(i int) {
		other, err := more[i].c.OpenFile(f.Name(), flags)
		if err != nil {
			return
		}
		if now, err := other.Stat(); err != nil || !sameFile(st, now) {
			other.Close()
			return
		}
		opened[i] = other
	})
	all = []*sftp.File{f}
	for _, other := range opened {
		if other != nil {
			all = append(all, other)
		}
	}
	return all, func() {
		Each(Lanes, len(all)-1, func(i int) { all[i+1].Close() }) // all that was written is answered
	}
}

func sameFile(a, b fs.FileInfo) bool {
	return sftpMeta(a) == sftpMeta(b) && a.ModTime().Equal(b.ModTime())
}

// more returns the channels besides the first, as far as the server opens them. The first call has them opened and waits; those that
// take longer are for later files, and none is closed before the rest: a server that starts one slowly confirms its end slowly too,
// and a connection whose channels do not end is given up.
func (s *SFTP) more(ctx context.Context) []*channel {
	s.mu.Lock()
	first := !s.asked
	if first {
		s.asked = true
		ctx, s.endOpening = context.WithCancel(ctx)
		for range Lanes - 1 {
			s.opening.Go(func() {
				if ch, err := openChannel(ctx, s.conn, s.requests); err == nil { // where it is refused, there are fewer
					s.mu.Lock()
					defer s.mu.Unlock()
					s.others = append(s.others, ch)
				}
			})
		}
	}
	s.mu.Unlock()
	if first {
		opened := make(chan struct{})
		go func() { s.opening.Wait(); close(opened) }() // ends with close, at the latest
		wait := time.NewTimer(LaneWait)
		defer wait.Stop()
		select {
		case <-opened:
		case <-wait.C:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.others)
}

// alone reports whether nobody but the account and root can put something else in the place of a file: a handle is opened by its
// name, and where that is a link of somebody else's by then, what it leads to would be written. uid is the account.
func (s *SFTP) alone(name string, uid int) bool {
	var dirs []string
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	shared := make([]bool, len(dirs))
	Each(len(dirs), len(dirs), func(i int) {
		st, err := s.c.Lstat(dirs[i])
		if err != nil {
			shared[i] = true
			return
		}
		m := sftpMeta(st)
		shared[i] = !m.Mode.IsDir() || m.UID != 0 && m.UID != uid || m.Mode&0o022 != 0 && m.Mode&fs.ModeSticky == 0
	})
	return uid >= 0 && !slices.Contains(shared, true)
}

// laneEnded is err, unless only another channel than the first has ended: the host is still there then.
func (s *SFTP) laneEnded(err error) error {
	if err == nil || !errors.Is(refused(err), session.ErrClosed) {
		return err
	}
	if _, alive := s.c.RealPath("."); alive != nil {
		return err
	}
	return errors.New("one of the sftp servers for it ended on the host: copy it again")
}

// spread writes what r has to the files, which are one, from offset on, and returns how much that is. No block is sent before the
// one that many before it is there, so that what was interrupted has holes in its last maxHole bytes only.
func spread(all []*sftp.File, r io.Reader, offset int64, block int) (n int64, err error) {
	ahead := len(all) * PerLane
	blocks, done := make([][]byte, ahead), make([]chan error, ahead)
	for k := range done {
		done[k] = make(chan error, 1)
		done[k] <- nil
	}
	for i := 0; err == nil; i++ {
		k := i % ahead
		if err = <-done[k]; err != nil {
			done[k] <- nil
			break
		}
		if blocks[k] == nil {
			blocks[k] = make([]byte, block)
		}
		var got int
		got, err = io.ReadFull(r, blocks[k])
		if got == 0 {
			done[k] <- nil
			break
		}
		to, at := all[i%len(all)], offset+n
		n += int64(got)
		go func() {
			_, err := to.WriteAt(blocks[k][:got], at)
			done[k] <- err
		}()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	for k := range done {
		if werr := <-done[k]; err == nil {
			err = werr
		}
	}
	return n, err
}

// gather writes what the files have, which are one of about that size, to w.
func gather(all []*sftp.File, w io.Writer, block int, size int64) (err error) {
	type part struct {
		n   int
		err error
	}
	ahead := int(min(int64(len(all)*PerLane), size/int64(block)+2)) // the last one finds the end
	blocks, got := make([][]byte, ahead), make([]chan part, ahead)
	ask := func(i int) {
		k, from := i%ahead, all[i%len(all)]
		go func() {
			n, err := from.ReadAt(blocks[k], int64(i)*int64(block))
			got[k] <- part{n, err}
		}()
	}
	for k := range got {
		blocks[k], got[k] = make([]byte, block), make(chan part, 1)
		ask(k)
	}
	i := 0
	for ; ; i++ {
		p := <-got[i%ahead]
		if p.n > 0 {
			if _, werr := w.Write(blocks[i%ahead][:p.n]); werr != nil {
				err = werr
				break
			}
		}
		if err = p.err; err != nil {
			break
		}
		ask(i + ahead)
	}
	for k := range got {
		if k != i%ahead {
			<-got[k]
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
