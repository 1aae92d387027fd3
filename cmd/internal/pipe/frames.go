package pipe

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// A connection between a client and the keeper carries frames: a letter, the length of what follows in four bytes, big end
// first, and that. The client begins with a Request; the keeper answers with a problem or that it has begun; then streams
// pass both ways, and the keeper ends with how the program ended. The client sends at most window bytes of standard input
// beyond what the keeper says was taken, so that the keeper always hears when the client goes.
const (
	frameRequest = 'A' // a Request
	frameInput   = 'I' // standard input
	frameEOF     = 'E' // its end
	frameResize  = 'R' // a session.Size
	frameEnough  = 'N' // standard output is not read any more

	frameProblem = 'P' // a wire.Problem, and nothing more
	frameBegun   = 'B' // a begun, or nothing
	frameOutput  = 'O' // standard output
	frameErrors  = 'S' // standard error
	frameTaken   = 'T' // how many bytes of standard input were taken in all, in eight bytes
	frameEnd     = 'X' // an End, and nothing more
)

const (
	maxFrame = 4 << 20
	window   = 1 << 20
	chunk    = 64 << 10
)

// Request is the first frame.
type Request struct {
	Target     string `json:"target"`        // a host's name, or user@host:port
	Sum        string `json:"sum,omitempty"` // of the host as the caller knows it
	Ask        Ask    `json:"ask"`
	Reason     string `json:"reason,omitempty"`
	Confirm    bool   `json:"confirm,omitempty"`
	BreakGlass string `json:"break_glass,omitempty"`
	Answered   string `json:"answered,omitempty"`

	Forward *hosts.Forward `json:"forward,omitempty"` // instead of Ask: a port to forward for as long as the connection lasts
	Connect bool           `json:"connect,omitempty"` // instead of Ask: log in, and run nothing
}

// sent is an Ask in a frame. JSON would change bytes that are not UTF-8, which names of files may have.
type sent struct {
	bare
	RawLine []byte   `json:"raw_line,omitempty"`
	RawEnv  [][]byte `json:"raw_env,omitempty"`
}

type bare Ask // without the methods

func invalid(s string) bool { return !utf8.ValidString(s) }

// MarshalJSON implements json.Marshaler.
func (a Ask) MarshalJSON() ([]byte, error) {
	s := sent{bare: bare(a)}
	if invalid(s.Line) {
		s.RawLine, s.Line = []byte(s.Line), ""
	}
	if slices.ContainsFunc(s.Env, invalid) {
		for _, v := range s.Env {
			s.RawEnv = append(s.RawEnv, []byte(v))
		}
		s.Env = nil
	}
	return json.Marshal(s)
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Ask) UnmarshalJSON(text []byte) error {
	var s sent
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if s.RawLine != nil {
		s.Line = string(s.RawLine)
	}
	for _, v := range s.RawEnv {
		s.Env = append(s.Env, string(v))
	}
	*a = Ask(s.bare)
	return nil
}

// begun is what the caller should know of a program that has begun. An older keeper says none of it.
type begun struct {
	NoAgent bool `json:"no_agent,omitempty"`
}

// End is how a program ended.
type End struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	Why    string `json:"why,omitempty"` // it is not known how
}

// frames speaks frames. Reading is for one goroutine at a time.
type frames struct {
	in *bufio.Reader

	mu  sync.Mutex // held while writing
	out io.Writer
	buf []byte
}

func newFrames(in io.Reader, out io.Writer) *frames {
	return &frames{in: bufio.NewReaderSize(in, chunk+16), out: out}
}

func (f *frames) write(kind byte, p []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.buf = append(f.buf[:0], kind)
	f.buf = binary.BigEndian.AppendUint32(f.buf, uint32(len(p)))
	f.buf = append(f.buf, p...)
	_, err := f.out.Write(f.buf)
	return err
}

func (f *frames) writeJSON(kind byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(kind, text)
}

// read reads one frame into buf, which it may replace.
func (f *frames) read(buf []byte) (kind byte, p []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return 0, buf, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, buf, fmt.Errorf("a frame of %d bytes is too large", n)
	}
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	p = buf[:n]
	_, err = io.ReadFull(f.in, p)
	return head[0], p, err
}

// stream is a writer of one kind of frames.
type stream struct {
	f    *frames
	kind byte
}

func (s stream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		piece := rest[:min(len(rest), chunk)]
		rest = rest[len(piece):]
		if err := s.f.write(s.kind, piece); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// inbox holds standard input that has come and not been taken.
type inbox struct {
	f *frames

	mu     sync.Mutex // guards what follows
	come   sync.Cond
	chunks [][]byte
	size   int
	taken  uint64
	told   uint64
	eof    bool
	over   bool
}

// reading is a writer of standard output that fails as a pipe does once the client reads no more.
type reading struct {
	stream
	enough *atomic.Bool
}

func (r reading) Write(p []byte) (int, error) {
	if r.enough.Load() {
		return 0, syscall.EPIPE
	}
	return r.stream.Write(p)
}

func newInbox(f *frames) *inbox {
	b := &inbox{f: f}
	b.come.L = &b.mu
	return b
}

var errTooMuch = errors.New("more standard input was sent than there is room for")

func (b *inbox) put(p []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size += len(p); b.size > window+maxFrame {
		return errTooMuch
	}
	b.chunks = append(b.chunks, append([]byte(nil), p...))
	b.come.Broadcast()
	return nil
}

// end ends it: with all that has come, or at once.
func (b *inbox) end(atOnce bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eof, b.over = true, b.over || atOnce
	b.come.Broadcast()
}

// Read implements io.Reader. What it returned before counts as taken.
func (b *inbox) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.taken-b.told >= window/4 {
		b.told = b.taken
		told := binary.BigEndian.AppendUint64(nil, b.taken)
		b.mu.Unlock()
		if err := b.f.write(frameTaken, told); err != nil {
			return 0, err
		}
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	for len(b.chunks) == 0 && !b.eof {
		b.come.Wait()
	}
	if b.over || len(b.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.chunks[0])
	if b.chunks[0] = b.chunks[0][n:]; len(b.chunks[0]) == 0 {
		b.chunks = b.chunks[1:]
	}
	b.size -= n
	b.taken += uint64(n)
	return n, nil
}

// Server is the keeper's side of one connection.
type Server struct{ f *frames }

// Accept reads the request of a client.
func Accept(in io.Reader, out io.Writer) (*Server, *Request, error) {
	s := &Server{newFrames(in, out)}
	kind, p, err := s.f.read(nil)
	if err != nil {
		return nil, nil, err
	}
	r := &Request{}
	if err := json.Unmarshal(p, r); err != nil || kind != frameRequest {
		return s, nil, errors.New("the first frame is not a request")
	}
	return s, r, nil
}

// Watch calls gone once the client goes, until stop is called, which must be before anything more is read: Refuse, Serve or Hold.
// conn is what the client is connected by.
func (s *Server) Watch(conn net.Conn, gone func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n = s.f.in.Buffered() + 1 {
			_, err := s.f.in.Peek(n)
			switch {
			case err == nil:
				continue
			case !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, bufio.ErrBufferFull):
				gone()
			}
			return
		}
	}()
	return func() {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = conn.SetReadDeadline(time.Time{})
	}
}

// Connected tells that the host is connected.
func (s *Server) Connected() error { return s.f.write(frameBegun, nil) }

// Refuse tells why nothing was begun.
func (s *Server) Refuse(p *wire.Problem) error { return s.f.writeJSON(frameProblem, p) }

// Serve connects a program with the client until both are done, records its end, and gives its connection back. The client
// going away hangs up.
func (s *Server) Serve(r *Running) {
	in := newInbox(s.f)
	if s.f.writeJSON(frameBegun, begun{NoAgent: r.AgentRefused()}) != nil {
		in.end(true)
		_ = r.End(session.Exit{}, errors.New("the client has gone"), 0, 0)
		return
	}
	var enough atomic.Bool
	go s.hear(r, in, &enough) // ends with the connection, which the caller closes
	exit, sent, got, err := r.Copy(in, reading{stream{s.f, frameOutput}, &enough}, stream{s.f, frameErrors})
	in.end(true)
	end := End{Code: exit.Code, Signal: exit.Signal}
	if err != nil {
		end.Why = err.Error()
	}
	if rerr := r.End(exit, err, sent, got); rerr != nil && end.Why == "" {
		end.Why = "its end is not in the audit log: " + rerr.Error()
	}
	_ = s.f.writeJSON(frameEnd, end)
}

// hear takes what the client sends.
func (s *Server) hear(r *Running, in *inbox, enough *atomic.Bool) {
	var buf []byte
	for {
		kind, p, err := s.f.read(buf)
		buf = p[:0]
		switch {
		case err != nil:
		case kind == frameInput:
			err = in.put(p)
		case kind == frameEOF:
			in.end(false)
		case kind == frameEnough:
			enough.Store(true)
		case kind == frameResize:
			var size session.Size
			if err = json.Unmarshal(p, &size); err == nil {
				_ = r.Resize(size)
			}
		default:
			err = errors.New("an unknown frame")
		}
		if err != nil {
			in.end(true)
			r.Pipe.Close()
			return
		}
	}
}
