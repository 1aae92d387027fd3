package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

const (
	maxPath    = 4096
	filePage   = callBytes / 2 // bytes of a file in one answer
	lookWithin = 30 * time.Second
)

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
	return s.file(ctx, c, in.filePlace, &fileWork{op: opRead}, func(x *registry.Exec, out *fileOut) error {
		p, err := x.Page(registry.Stdout, at(in.Offset), int(s.cfg.Limits().Output(int64(most))))
		if err == nil {
			out.take(page(registry.Stdout, p))
		}
		return err
	})
}

func (s *Server) fileWrite(ctx context.Context, c *call, in writeArgs) (*fileOut, string, error) {
	w := &fileWork{op: opWrite, content: []byte(in.Content), ifSHA256: in.IfSHA256}
	if in.Mode != "" {
		n, err := strconv.ParseUint(in.Mode, 8, 12)
		if err != nil {
			return &fileOut{}, "", invalid("mode is up to four octal digits, as 0644")
		}
		m := fileMode(uint32(n))
		w.mode = &m
	}
	return s.file(ctx, c, in.filePlace, w, nil)
}

func (s *Server) fileEdit(ctx context.Context, c *call, in editArgs) (*fileOut, string, error) {
	w := &fileWork{op: opEdit, old: []byte(in.Old), new: []byte(in.New), ifSHA256: in.IfSHA256}
	if in.Old == "" {
		return &fileOut{}, "", invalid("old must not be empty: it says which place is meant")
	}
	if in.Old == in.New {
		return &fileOut{}, "", invalid("old and new are the same")
	}
	return s.file(ctx, c, in.filePlace, w, nil)
}

// file looks where the path leads, has w judged for that, and does it. done, if not nil, fills in what only this tool gives.
func (s *Server) file(ctx context.Context, c *call, in filePlace, w *fileWork, done func(*registry.Exec, *fileOut) error) (*fileOut, string, error) {
	out := &fileOut{}
	wait, err := waitTime(in.WaitS)
	if err == nil {
		err = checkFile(in, w)
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
	if w.seen, err = s.lookAt(ctx, e, in); err != nil {
		return out, "", err
	}
	w.path = w.seen.Path
	if err := w.check(); err != nil {
		return out, "", err
	}
	script, err := w.script()
	if err != nil {
		return out, "", err
	}
	timeout, err := s.timeout(nil)
	if err != nil {
		return out, "", err
	}
	sctx, stop := s.starting(ctx)
	x, err := e.Start(sctx, registry.Command{Script: script, Action: w, Reason: in.Reason, Timeout: timeout})
	stop()
	if err != nil {
		return out, "", err
	}
	s.await(ctx, c, x, wait, registry.Wait{}, true)
	err = out.fill(x, w)
	if err == nil && done != nil && out.State == string(session.Done) && out.Error == nil {
		err = done(x, out)
	}
	if err != nil {
		return out, "", err
	}
	return out, out.line(w.op), nil
}

// checkFile refuses what makes no sense before anything is sent.
func checkFile(in filePlace, w *fileWork) error {
	switch {
	case (in.Host == "") == (in.SessionID == ""):
		return invalid("give host or session_id, and not both")
	case in.Path == "" || len(in.Path) > maxPath:
		return invalid("path has 1 to %d bytes", maxPath)
	case !utf8.ValidString(in.Path) || strings.ContainsFunc(in.Path, func(r rune) bool { return !unicode.IsPrint(r) }):
		return invalid("path holds characters that nobody can see: such files can be reached with commands alone")
	case w.ifSHA256 != "" && (len(w.ifSHA256) != 64 || strings.Trim(w.ifSHA256, "0123456789abcdef") != ""):
		return invalid("if_sha256 is 64 hexadecimal digits, in small letters")
	case len(w.content)+len(w.old)+len(w.new) > maxFile:
		return invalid("more than %d bytes cannot be written at once", maxFile)
	}
	for _, p := range [][]byte{[]byte(in.Path), w.content, w.old, w.new} {
		if redact.ContainsMark(p) {
			return invalid("it holds the mark of something redacted, and the file would get the mark instead of the secret. " +
				"Use file_edit on what stands around the secret: what you cannot see stays as it is")
		}
	}
	return nil
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

// lookAt finds out where a path leads. It passes the gate by itself, as what only reads.
func (s *Server) lookAt(ctx context.Context, e *registry.Entry, in filePlace) (files.Info, error) {
	w := &fileWork{op: opLook, path: in.Path}
	if in.SessionID != "" {
		w.dir = e.Dir()
	}
	script, err := w.script()
	if err != nil {
		return files.Info{}, err
	}
	sctx, stop := s.starting(ctx)
	defer stop()
	x, err := e.Start(sctx, registry.Command{Script: script, Action: w, Reason: in.Reason, Timeout: lookWithin})
	if err != nil {
		return files.Info{}, err
	}
	v, err := x.View(registry.Budgets{})
	if err != nil {
		return files.Info{}, err
	}
	if v.Result.Decision.Verdict == policy.Ask && v.Result.State != session.Done { // it waits, or is about to
		x.Stop()
		return files.Info{}, denied("the policy lets nobody look unasked where a path leads on %s, and so nothing can be done with files there", e.Host().Name)
	}
	if x.Wait(sctx) != nil {
		x.Stop()
	}
	if v, err = x.View(registry.Budgets{}); err == nil {
		err = errOf(v.Result.Err)
	}
	return w.result(), err
}

// check refuses what would fail, before anybody is asked about it.
func (w *fileWork) check() error {
	code, why := "", ""
	switch k := w.seen.Kind; {
	case k == files.Directory:
		code, why = files.CodeDirectory, "it is a directory"
	case k == files.Special:
		code, why = files.CodeSpecial, "it is a device, a FIFO or a socket"
	case k == files.None && w.op != opWrite:
		code, why = files.CodeNotFound, "there is no such file"
	case k == files.None && w.ifSHA256 != "":
		code, why = files.CodeConflict, "there is no such file, and if_sha256 says what should be in it"
	case w.op != opWrite && w.seen.Size > maxFile:
		code, why = files.CodeTooLarge, fmt.Sprintf("it has %d bytes, and %d are the limit: use a command (head, tail, grep, sed)", w.seen.Size, maxFile)
	default:
		return nil
	}
	return &callError{code: code, err: fmt.Errorf("%s: %s", w.seen.Target, why)}
}
