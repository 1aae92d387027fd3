package mcpserver

import (
	"bytes"
	"context"

	"github.com/fairlead-ssh/fairlead/session/filework"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// filePage is how many bytes of a file are in one answer.
const filePage = callBytes / 2

// place is where a file is.
type filePlace struct {
	Host      string   `json:"host,omitempty" jsonschema:"give host or session_id"`
	SessionID string   `json:"session_id,omitempty"`
	Path      string   `json:"path" jsonschema:"absolute, relative, or ~/…"`
	Become    string   `json:"become,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	WaitS     *float64 `json:"wait_s,omitempty" jsonschema:"answer after (default 25, max 50)"`
}

type readArgs struct {
	filePlace
	Offset   *int64 `json:"offset,omitempty" jsonschema:"page from this byte: next_offset"`
	Line     int    `json:"line,omitempty" jsonschema:"page from this line, from 1"`
	MaxBytes int    `json:"max_bytes,omitempty" jsonschema:"default 16384"`
	Base64   bool   `json:"base64,omitempty" jsonschema:"show a binary file"`
}

type writeArgs struct {
	filePlace
	Content  string `json:"content"`
	Mode     string `json:"mode,omitempty" jsonschema:"octal, as 0644"`
	IfSHA256 string `json:"if_sha256,omitempty" jsonschema:"only if the file has this hash"`
}

type editArgs struct {
	filePlace
	Old      string `json:"old"`
	New      string `json:"new"`
	IfSHA256 string `json:"if_sha256,omitempty"`
}

func (s *Server) fileRead(ctx context.Context, c *call, in readArgs) (*fileOut, error) {
	most := filePage
	switch {
	case in.MaxBytes < 0 || in.Offset != nil && *in.Offset < 0:
		return &fileOut{}, invalid("offset and max_bytes must not be negative")
	case in.Line < 0 || in.Line > 0 && in.Offset != nil:
		return &fileOut{}, invalid("give offset, or a line of at least 1, and not both")
	case in.MaxBytes > 0:
		most = min(in.MaxBytes, callBytes)
	}
	return s.file(ctx, c, in.filePlace, filework.Request{Op: filework.Read}, func(x *registry.Exec, out *fileOut) error {
		from, line := at(in.Offset), in.Line
		if line > 0 {
			var err error
			if from, line, err = lineAt(x, line); err != nil {
				return err
			}
		} else if from == 0 {
			line = 1
		}
		p, err := x.Page(registry.Stdout, from, int(s.cfg.Limits().Output(int64(most))))
		if err == nil {
			wholeLines(&p)
			out.take(s.redactor().page(registry.Stdout, p), line, bytes.Count(p.Text, newline), in.Base64)
		}
		return err
	})
}

var newline = []byte{'\n'}

// wholeLines ends a page with a line, if it holds one and is not the last.
func wholeLines(p *output.Page) {
	if end := bytes.LastIndexByte(p.Text, '\n') + 1; !p.End && end > 0 {
		p.Next -= int64(len(p.Text) - end)
		p.Text = p.Text[:end]
	}
}

// lineAt finds where a line of standard output begins. Past the last one it is the end, with the number that a next line would
// have.
func lineAt(x *registry.Exec, want int) (offset int64, line int, err error) {
	line = 1
	for line < want {
		p, err := x.Page(registry.Stdout, offset, 64<<10)
		if err != nil {
			return 0, 0, err
		}
		for rest := p.Text; line < want; line++ {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				offset = p.Next
				break
			}
			rest = rest[i+1:]
			offset = p.Next - int64(len(rest))
		}
		if line < want && (p.End || len(p.Text) == 0) {
			return p.Next, line, nil
		}
	}
	return offset, line, nil
}

func (s *Server) fileWrite(ctx context.Context, c *call, in writeArgs) (*fileOut, error) {
	mode, err := filework.ParseMode(in.Mode)
	if err != nil {
		return &fileOut{}, err
	}
	r := filework.Request{Op: filework.Write, Content: []byte(in.Content), Mode: mode, IfSHA256: in.IfSHA256}
	return s.file(ctx, c, in.filePlace, r, nil)
}

func (s *Server) fileEdit(ctx context.Context, c *call, in editArgs) (*fileOut, error) {
	r := filework.Request{Op: filework.Edit, Old: []byte(in.Old), New: []byte(in.New), IfSHA256: in.IfSHA256}
	return s.file(ctx, c, in.filePlace, r, nil)
}

// file has r judged for the file that its path leads to, and does it. fill, if not nil, fills in what only this tool gives.
func (s *Server) file(ctx context.Context, c *call, in filePlace, r filework.Request, fill func(*registry.Exec, *fileOut) error) (*fileOut, error) {
	out := &fileOut{}
	wait, err := waitTime(in.WaitS)
	if err == nil && (in.Host == "") == (in.SessionID == "") {
		err = invalid("give host or session_id, and not both")
	}
	r.Path, r.Home = in.Path, in.SessionID == ""
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return out, err
	}
	e, finish, err := s.entryOf(in)
	if err != nil {
		return out, err
	}
	defer finish()
	out.from = e.Host().Name
	timeout, err := s.timeout(nil)
	if err != nil {
		return out, err
	}
	x, w, err := filework.Start(ctx, e, r, filework.Options{Reason: in.Reason, Timeout: timeout, Wait: wait, Starting: s.starting})
	if err != nil {
		return out, err
	}
	s.started(x)
	s.await(ctx, c, x, max(0, wait-w.Waited()), registry.Wait{}, true)
	err = out.fill(s, x, w)
	if err == nil && fill != nil && done(out.State) && out.Error == nil {
		err = fill(x, out)
	}
	return out, err
}

// entryOf is the session that is meant, or one for this call alone. finish lets go of it.
func (s *Server) entryOf(in filePlace) (e *registry.Entry, finish func(), err error) {
	if in.SessionID != "" && in.Become != "" {
		return nil, nil, invalid("the files of a session are reached as the session's account: leave become out")
	}
	if in.SessionID != "" {
		e, err = s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
		return e, func() {}, err
	}
	h, err := s.hostAs(in.Host, in.Become)
	if err != nil {
		return nil, nil, err
	}
	if e, err = s.cfg.Registry.Once(registry.OpenRequest{Principal: s.cfg.Principal, Host: h}); err != nil {
		return nil, nil, err
	}
	return e, e.Finish, nil
}
