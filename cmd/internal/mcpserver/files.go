package mcpserver

import (
	"context"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/filework"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// filePage is how many bytes of a file are in one answer.
const filePage = callBytes / 2

// place is where a file is.
type filePlace struct {
	Host      string   `json:"host,omitempty" jsonschema:"a host's name; or session_id"`
	SessionID string   `json:"session_id,omitempty" jsonschema:"id or name of a session, in whose directory relative paths begin"`
	Path      string   `json:"path" jsonschema:"absolute, relative, or ~/…"`
	Reason    string   `json:"reason,omitempty" jsonschema:"why, for the record and for who approves"`
	WaitS     *float64 `json:"wait_s,omitempty" jsonschema:"wait so many seconds for the end, or for a person's approval (default 25, at most 50)"`
}

type readArgs struct {
	filePlace
	Offset   *int64 `json:"offset,omitempty" jsonschema:"show the text from this byte on: next_offset of the page before"`
	MaxBytes int    `json:"max_bytes,omitempty" jsonschema:"at most so many bytes (default 16384, at most 32768)"`
}

type writeArgs struct {
	filePlace
	Content  string `json:"content" jsonschema:"all of the new content"`
	Mode     string `json:"mode,omitempty" jsonschema:"permissions in octal, as 0644; else the old file's, or 0644"`
	IfSHA256 string `json:"if_sha256,omitempty" jsonschema:"write only if the file's content has this hash, as file_read told it"`
}

type editArgs struct {
	filePlace
	Old      string `json:"old" jsonschema:"text that is in the file exactly once"`
	New      string `json:"new" jsonschema:"what to put in its place"`
	IfSHA256 string `json:"if_sha256,omitempty" jsonschema:"edit only if the file's content has this hash"`
}

func (s *Server) fileRead(ctx context.Context, c *call, in readArgs) (*fileOut, string, error) {
	most := filePage
	switch {
	case in.MaxBytes < 0 || in.Offset != nil && *in.Offset < 0:
		return &fileOut{}, "", invalid("offset and max_bytes must not be negative")
	case in.MaxBytes > 0:
		most = min(in.MaxBytes, callBytes)
	}
	return s.file(ctx, c, in.filePlace, filework.Request{Op: filework.Read}, func(x *registry.Exec, out *fileOut) error {
		p, err := x.Page(registry.Stdout, at(in.Offset), int(s.cfg.Limits().Output(int64(most))))
		if err == nil {
			out.take(s.redactor().page(registry.Stdout, p))
		}
		return err
	})
}

func (s *Server) fileWrite(ctx context.Context, c *call, in writeArgs) (*fileOut, string, error) {
	mode, err := filework.ParseMode(in.Mode)
	if err != nil {
		return &fileOut{}, "", err
	}
	r := filework.Request{Op: filework.Write, Content: []byte(in.Content), Mode: mode, IfSHA256: in.IfSHA256}
	return s.file(ctx, c, in.filePlace, r, nil)
}

func (s *Server) fileEdit(ctx context.Context, c *call, in editArgs) (*fileOut, string, error) {
	r := filework.Request{Op: filework.Edit, Old: []byte(in.Old), New: []byte(in.New), IfSHA256: in.IfSHA256}
	return s.file(ctx, c, in.filePlace, r, nil)
}

// file has r judged for the file that its path leads to, and does it. done, if not nil, fills in what only this tool gives.
func (s *Server) file(ctx context.Context, c *call, in filePlace, r filework.Request, done func(*registry.Exec, *fileOut) error) (*fileOut, string, error) {
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
		return out, "", err
	}
	e, finish, err := s.entryOf(in)
	if err != nil {
		return out, "", err
	}
	defer finish()
	out.Host = e.Host().Name
	timeout, err := s.timeout(nil)
	if err != nil {
		return out, "", err
	}
	x, w, err := filework.Start(ctx, e, r, filework.Options{Reason: in.Reason, Timeout: timeout, Starting: s.starting})
	if err != nil {
		return out, "", err
	}
	s.started(x)
	s.await(ctx, c, x, wait, registry.Wait{}, true)
	err = out.fill(x, w, s.redactor())
	if err == nil && done != nil && out.State == string(session.Done) && out.Error == nil {
		err = done(x, out)
	}
	if err != nil {
		return out, "", err
	}
	return out, out.line(r.Op), nil
}

// entryOf is the session that is meant, or one for this call alone. finish lets go of it.
func (s *Server) entryOf(in filePlace) (e *registry.Entry, finish func(), err error) {
	if in.SessionID != "" {
		e, err = s.cfg.Registry.Get(s.cfg.Principal, in.SessionID)
		return e, func() {}, err
	}
	h, err := s.host(in.Host)
	if err != nil {
		return nil, nil, err
	}
	if e, err = s.cfg.Registry.Once(registry.OpenRequest{Principal: s.cfg.Principal, Host: h}); err != nil {
		return nil, nil, err
	}
	return e, e.Finish, nil
}
