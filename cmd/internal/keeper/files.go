package keeper

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/limit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/runs"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/filework"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

const filesPath = "/v1/files"

type (
	// FileAt is where a file is. Its name is exported, for else nobody could fill it in where it is embedded.
	FileAt struct {
		Host    string  `query:"host" maxLength:"255" doc:"a host's name; or session_id"`
		Session string  `query:"session_id" maxLength:"80" doc:"id or name of a session, in whose directory relative paths begin"`
		Path    string  `query:"path" maxLength:"4096" required:"true" doc:"absolute, relative, or ~/…"`
		Become  string  `query:"become" maxLength:"64" doc:"the account that does it, instead of the one that the inventory says; none is the account that logs in. A session has one"`
		Reason  string  `query:"reason" maxLength:"4096" doc:"reason, shown to approvers and recorded in the audit log"`
		WaitS   float64 `query:"wait_s" minimum:"0" default:"30" doc:"wait so many seconds for the end (at most 50)"`
	}
	fileReadIn struct {
		FileAt
		Offset int64 `query:"offset" minimum:"0" doc:"of the text as it is shown: next_offset of the page before"`
		Limit  int   `query:"limit" minimum:"0" maximum:"4194304" doc:"bytes (default 262144)"`
	}
	fileListIn struct {
		FileAt
		Offset    int64 `query:"offset" minimum:"0" doc:"of the text as it is shown: next_offset of the page before"`
		Limit     int   `query:"limit" minimum:"0" maximum:"4194304" doc:"bytes (default 262144, and never fewer than 16384)"`
		Connected bool  `query:"connected" doc:"only over a connection that the keeper has: it does not log in, and answers unreachable"`
	}
	fileWriteIn struct {
		FileAt
		Mode  string `query:"mode" maxLength:"5" doc:"permissions in octal, as 0644; else the old file's without set-uid and set-gid, or 0644"`
		Match string `header:"If-Match" maxLength:"80" doc:"write only if the old content has this SHA-256, in hexadecimal"`
		None  string `header:"If-None-Match" maxLength:"1" enum:"*" doc:"write only if there is no file"`
		Key   string `header:"Idempotency-Key" maxLength:"200" doc:"the same key with the same request is done once, for 24 hours"`

		content []byte // the body
	}
	fileEditIn struct {
		Host    string `query:"host" maxLength:"255" doc:"a host's name; or session_id"`
		Session string `query:"session_id" maxLength:"80" doc:"id or name of a session, in whose directory relative paths begin"`
		Path    string `query:"path" maxLength:"4096" required:"true" doc:"absolute, relative, or ~/…"`
		Become  string `query:"become" maxLength:"64" doc:"the account that does it, instead of the one that the inventory says; none is the account that logs in. A session has one"`
		Key     string `header:"Idempotency-Key" maxLength:"200" doc:"the same key with the same request is done once, for 24 hours"`
		Body    wire.FileEdit
	}
	fileOut struct {
		Status int
		ETag   string `header:"ETag"`
		Body   *wire.File
	}
)

// aboutChanges is what a change of a file is worth, and what it is not.
const aboutChanges = "A keeper makes one change of a file at a time, from reading it to the rename that puts the new content in place. " +
	"Other keepers, and people and programs on the host, take no turns: the keeper compares the content as late as it can and answers " +
	"409 or 412 where it has changed, but a change between that and the rename is lost. A conflict with retriable true may be asked for again " +
	"as it is; otherwise read the file again first. wait_s also bounds finding out where the path leads; then the answer is 504, and nothing has changed."

// aboutLists is where a list ends.
const aboutLists = "A list is read to its end or to a limit: 100000 names, 8 MiB of names, or two minutes. Larger directories are 413. " +
	"A list whose client has gone is stopped."

// Resolve implements huma.Resolver. It takes the body as it is in memory: read as a RawBody it would be there three times.
func (in *fileWriteIn) Resolve(ctx huma.Context) []error {
	body, err := rest(ctx.BodyReader())
	if err != nil {
		return []error{err}
	}
	in.content = body
	return nil
}

func (k *Keeper) addFiles(a *route.API) {
	const tag = "files"
	also := []int{http.StatusAccepted}
	route.Add(a, route.Route{Method: "GET", Path: filesPath, ID: "read-file", Summary: "Read a file, page by page", Tag: tag, Need: access.NeedRun, Also: also}, k.readFile)
	route.Add(a, route.Route{Method: "PUT", Path: filesPath, ID: "write-file", Summary: "Give a file new content, atomically, or make it", About: aboutChanges, Tag: tag, Need: access.NeedRun, Also: also, Body: filework.MaxFile},
		func(ctx context.Context, c *access.Caller, in *fileWriteIn) (*fileOut, error) {
			mode, err := filework.ParseMode(in.Mode)
			if err != nil {
				return nil, err
			}
			match := unquote(in.Match)
			if in.Match != "" && !isSHA256(match) {
				return nil, problem.Invalid("If-Match takes one entity tag, as the ETag of the file that was read; lists, * and weak tags are not supported")
			}
			r := filework.Request{Op: filework.Write, Content: in.content, Mode: mode, IfSHA256: match, IfNew: in.None != ""}
			return k.file(ctx, c, in.FileAt, r, in.Key, nil)
		})
	a.OpenAPI().Paths[filesPath].Put.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{ // not required: a file may be empty
		"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
	}}
	route.Add(a, route.Route{Method: "POST", Path: filesPath + "/edit", ID: "edit-file", Summary: "Replace text that is in a file exactly once, atomically", About: aboutChanges, Tag: tag, Need: access.NeedRun, Also: also},
		func(ctx context.Context, c *access.Caller, in *fileEditIn) (*fileOut, error) {
			b := &in.Body
			at := FileAt{Host: in.Host, Session: in.Session, Path: in.Path, Become: in.Become, Reason: b.Reason, WaitS: route.DefaultWait.Seconds()}
			if b.WaitS != nil {
				at.WaitS = *b.WaitS
			}
			r := filework.Request{Op: filework.Edit, Old: []byte(b.Old), New: []byte(b.New), IfSHA256: b.IfSHA256}
			return k.file(ctx, c, at, r, in.Key, nil)
		})
	route.Add(a, route.Route{Method: "GET", Path: filesPath + "/list", ID: "list-files", Summary: "List a directory, page by page", About: aboutLists, Tag: tag, Need: access.NeedRun, Also: also}, k.listFiles)
}

// connected is an error for a host to which there is no connection.
func (k *Keeper) connected(c *access.Caller, host string) error {
	r, done, err := k.realms.Of(c)
	if err != nil {
		return err
	}
	defer done()
	h, err := r.Host(host)
	if err != nil {
		return err
	}
	if r.State(h.Name) != "connected" {
		return problem.Of(&session.Error{Op: "list", Host: h.Name, Code: string(session.StatusUnreachable), Err: connect.ErrNoDial})
	}
	return nil
}

// isSHA256 reports whether text is one in hexadecimal, as in an ETag.
func isSHA256(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// unquote takes the quotes from an entity tag.
func unquote(tag string) string {
	if len(tag) >= 2 && strings.HasPrefix(tag, `"`) && strings.HasSuffix(tag, `"`) {
		return tag[1 : len(tag)-1]
	}
	return tag
}

func (k *Keeper) readFile(ctx context.Context, c *access.Caller, in *fileReadIn) (*fileOut, error) {
	return k.file(ctx, c, in.FileAt, filework.Request{Op: filework.Read}, "", func(x *registry.Exec, out *wire.File) error {
		p, err := k.pageOf(c, x, in.Offset, in.Limit)
		if err != nil {
			return err
		}
		out.Encoding, out.Content = wire.Encode(p.Text, utf8.Valid(p.Text))
		if out.Offset = p.Offset; !p.End {
			out.Next = p.Next
		}
		return nil
	})
}

func (k *Keeper) listFiles(ctx context.Context, c *access.Caller, in *fileListIn) (*fileOut, error) {
	if in.Connected {
		if err := k.connected(c, in.Host); err != nil {
			return nil, err
		}
		ctx = connect.WithoutDial(ctx)
	}
	return k.file(ctx, c, in.FileAt, filework.Request{Op: filework.List}, "", func(x *registry.Exec, out *wire.File) error {
		p, err := k.namesOf(c, x, in)
		if err != nil {
			return err
		}
		all, n := filework.ParseNames(p.Text)
		out.Names = make([]wire.FileName, len(all))
		for i, name := range all {
			out.Names[i] = nameJSON(name)
		}
		if out.Offset = p.Offset; !p.End || n < len(p.Text) {
			out.Next = p.Offset + int64(n)
		}
		return nil
	})
}

// pageOf is a page of what work on a file has put out, as its caller may see it.
func (k *Keeper) pageOf(c *access.Caller, x *registry.Exec, offset int64, limit int) (output.Page, error) {
	limits, err := k.realms.Limits(c)
	if err != nil {
		return output.Page{}, err
	}
	if limit == 0 {
		limit = route.DefaultPage
	}
	return x.Page(registry.Stdout, offset, int(limits.Output(int64(limit))))
}

// namesOf is a page of a list, which begins with a name. The directory is read again for each page: where a name went meanwhile, the
// next offset lies within a line, and what is left of that would be a name that is not there, or be left out.
func (k *Keeper) namesOf(c *access.Caller, x *registry.Exec, in *fileListIn) (output.Page, error) {
	limit := max(cmp.Or(in.Limit, route.DefaultPage), leastList)
	if in.Offset == 0 {
		return k.pageOf(c, x, 0, limit)
	}
	p, err := k.pageOf(c, x, in.Offset-1, limit+1)
	if err != nil || len(p.Text) == 0 {
		return p, err
	}
	if p.Text[0] != '\n' {
		return p, problem.New(http.StatusConflict, registry.CodeConflict, "no name begins at offset %d: the directory has changed, or the offset is no next_offset; list it again without an offset", in.Offset)
	}
	p.Text, p.Offset = p.Text[1:], p.Offset+1
	return p, nil
}

// leastList is how many bytes of a list a page has at least: more than any one line.
const leastList = 16 << 10

func nameJSON(n files.Name) wire.FileName {
	out := wire.FileName{Name: n.Name, Kind: string(n.Kind), Size: n.Size, Mode: filework.FormatMode(n.Mode), Modified: wire.Moment(n.Changed)}
	if !utf8.ValidString(n.Name) {
		out.Name, out.NameB64 = strings.ToValidUTF8(n.Name, "\ufffd"), base64.StdEncoding.EncodeToString([]byte(n.Name))
	}
	return out
}

// mostInKey is how much content a key stands for as it is. The hash of what is longer stands for that: as JSON it would take several
// times the memory.
const mostInKey = 64 << 10

// onceFile is what a key for work on a file stands for.
func onceFile(at FileAt, r filework.Request) []any {
	all := []any{at.Host, at.Session, &r}
	if at.Become != "" {
		all = append(all, at.Become)
	}
	for i, content := range []*[]byte{&r.Content, &r.Old, &r.New} {
		if len(*content) > mostInKey {
			all = append(all, i, sha256.Sum256(*content))
			*content = nil
		}
	}
	return all
}

// file has r done and waits for that. show fills in what only one route gives, once it is done.
func (k *Keeper) file(ctx context.Context, c *access.Caller, at FileAt, r filework.Request, key string, show func(*registry.Exec, *wire.File) error) (*fileOut, error) {
	engine, err := k.realms.Admit(c)
	if err != nil {
		return nil, err
	}
	wait, err := params.Seconds("wait_s", &at.WaitS, route.DefaultWait, route.MaxWait)
	if err != nil {
		return nil, err
	}
	if (at.Host == "") == (at.Session == "") {
		return nil, problem.Invalid("give host or session_id, and not both")
	}
	if at.Become != "" && at.Session != "" {
		return nil, problem.Invalid("the files of a session are reached as the session's account: omit become")
	}
	r.Path, r.Home = at.Path, at.Session == ""
	if err := r.Check(); err != nil {
		return nil, err
	}
	timeout, err := params.Timeout(c, engine.Limits(c.Principal), nil)
	if err != nil {
		return nil, err
	}
	e, finish, err := k.fileEntry(ctx, c, at)
	if err != nil {
		return nil, err
	}
	defer finish()
	free, busy := k.contents.Take(ctx, c.Principal, access.Own(c), int64(len(r.Content)+len(r.Old)+len(r.New))*limit.CopiesOfContent, k.cfg.bodyTime)
	if busy != nil {
		return nil, busy
	}
	var mine *filework.Work
	x, err := k.execOnce(ctx, c, key, onceFile(at, r), func() (*registry.Exec, error) {
		x, w, err := filework.Start(ctx, e, r, filework.Options{
			Reason: at.Reason, Timeout: timeout, Wait: wait,
			Starting: func(ctx context.Context) (context.Context, func()) {
				return context.WithTimeout(ctx, route.BeforeSending)
			},
		})
		mine = w
		return x, err
	})
	if mine != nil && x != nil {
		go func() {
			<-x.Done()
			free()
		}()
	} else {
		free()
	}
	if err != nil {
		return nil, atMatch(err, r)
	}
	if mine != nil {
		wait -= mine.Waited()
	}
	k.await(ctx, x, wait, registry.Wait{})
	withdrawn(ctx, x)
	if ctx.Err() != nil && (r.Op == filework.Read || r.Op == filework.List) {
		x.Stop() // nobody would see what it reads
	}
	r.Content, r.Old, r.New = nil, nil, nil
	return k.showFile(x, r, show)
}

// fileEntry is the session that is meant, or one for this request alone. finish lets go of it.
func (k *Keeper) fileEntry(ctx context.Context, c *access.Caller, at FileAt) (e *registry.Entry, finish func(), err error) {
	if at.Session != "" {
		e, err = k.realms.Entry(ctx, c, at.Session)
		return e, func() {}, err
	}
	r, done, err := k.realms.Of(c)
	if err != nil {
		return nil, nil, err
	}
	h, err := r.Host(at.Host)
	if err == nil {
		h, err = becoming(h, at.Become)
	}
	if err == nil {
		e, err = r.Reg.Once(registry.OpenRequest{Principal: c.Principal, Host: h})
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return e, func() { e.Finish(); done() }, nil
}

// showFile tells what is known of work on a file: 200 once it is done, 202 before; a problem where it failed.
func (k *Keeper) showFile(x *registry.Exec, r filework.Request, show func(*registry.Exec, *wire.File) error) (*fileOut, error) {
	v, err := x.View(registry.Budgets{})
	if err != nil {
		return nil, err
	}
	res := &v.Result
	if res.State == session.Done && res.Err != nil {
		p := *atMatch(res.Err, r)
		p.Exec = x.ID()
		return nil, &p
	}
	j := wire.ResultOf(res, v.Redacted.Kinds)
	out := &fileOut{Status: http.StatusAccepted, Body: &wire.File{
		Host: j.Host, Session: j.Session, Exec: j.Exec, State: j.State, FileFacts: *factsOf(x), Decision: j.Decision,
	}}
	if res.State != session.Done {
		return out, nil
	}
	out.Status = http.StatusOK
	if f := out.Body; f.SHA256 != "" {
		out.ETag = `"` + f.SHA256 + `"`
	}
	if r.Op == filework.Read || r.Op == filework.List {
		out.Body.Redacted = v.Redacted.Kinds
	}
	if show != nil {
		err = show(x, out.Body)
	}
	return out, err
}

// atMatch tells an error; where the file is not what If-Match or If-None-Match say, as HTTP does.
func atMatch(err error, r filework.Request) *wire.Problem {
	p := problem.Of(err)
	if p.Code == files.CodeConflict && r.Op == filework.Write && (r.IfSHA256 != "" || r.IfNew) {
		p.Status = http.StatusPreconditionFailed
		p = problem.Complete(p)
	}
	return p
}

// factsOf is what a command has done with a file; nil for other commands.
func factsOf(x *registry.Exec) *wire.FileFacts {
	w := filework.Of(x.Command().Action)
	if w == nil {
		return nil
	}
	f := w.Facts()
	return &wire.FileFacts{Path: f.Path, LeadsTo: f.Target, Size: f.Size, SHA256: f.SHA256, Mode: f.Mode, Created: f.Created, Replaced: f.Replaced}
}

// isFile reports whether the body of a request is the content of a file, as it is.
func isFile(r *http.Request) bool { return r.Method == http.MethodPut && r.URL.Path == filesPath }

// bodyLimit is how large the body of a request may be, and how long it may take to come.
func (k *Keeper) bodyLimit(c *access.Caller, r *http.Request) (int64, time.Duration) {
	if isFile(r) {
		return filework.MaxFile, 6 * k.cfg.bodyTime
	}
	if access.Own(c) && r.Method == http.MethodPost && r.URL.Path == runs.Path {
		return runs.MaxBody, 6 * k.cfg.bodyTime
	}
	return route.MaxBody, k.cfg.bodyTime
}
