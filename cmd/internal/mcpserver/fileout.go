package mcpserver

import (
	"fmt"
	"maps"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/filework"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// fileFacts is what is known of a file once its work is done.
type fileFacts struct {
	Path     string `json:"path,omitempty"`     // absolute
	LeadsTo  string `json:"leads_to,omitempty"` // where symbolic links in path lead, if there are any
	Size     *int64 `json:"size,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Mode     string `json:"mode,omitempty"`
	Created  bool   `json:"created,omitempty"`
	Replaced bool   `json:"replaced,omitempty"`
}

// text is the facts in one line.
func (f *fileFacts) text() string {
	text := f.Path + prefixed(" -> ", f.LeadsTo)
	if f.Size != nil {
		text += fmt.Sprintf(", %d bytes", *f.Size)
	}
	return text + prefixed(", sha256 ", f.SHA256) + prefixed(", mode ", f.Mode) + when(f.Created, ", created") + when(f.Replaced, ", replaced")
}

func factsOf(w *filework.Work, red redactor) *fileFacts {
	i := w.Facts()
	f := &fileFacts{Size: i.Size, SHA256: i.SHA256, Mode: i.Mode, Created: i.Created, Replaced: i.Replaced}
	name := func(path string) string {
		path, _ = screen.Clean(path)
		path, _ = red(path)
		return path
	}
	f.Path, f.LeadsTo = name(i.Path), name(i.Target)
	return f
}

// fileOut is the result of a file tool.
type fileOut struct {
	from  string // the host, for the text
	op    filework.Op
	Host  string `json:"host,omitempty"` // while it is not done
	Exec  string `json:"exec,omitempty"` // for session_output
	State string `json:"state,omitempty"`

	Status string `json:"status,omitempty"` // once it is done
	fileFacts

	Text     string         `json:"content,omitempty"`
	Base64   string         `json:"base64,omitempty"` // the same bytes, where content had to be cleaned, or where a binary file was asked for
	Binary   bool           `json:"is_binary,omitempty"`
	Cleaned  map[string]int `json:"cleaned,omitempty"` // control and hidden characters that were taken out of content
	Offset   int64          `json:"offset,omitempty"`
	Next     int64          `json:"next_offset,omitempty"` // there is more from here on
	Line     int            `json:"line,omitempty"`        // the first one of content, where it is known and not 1
	NextLine int            `json:"next_line,omitempty"`   // likewise
	Redacted map[string]int `json:"redacted,omitempty"`    // in the whole file; file_edit leaves them as they are
	Decision *decisionOut   `json:"decision,omitempty"`
	After    string         `json:"next,omitempty"` // what to call next
	Error    *faultOut      `json:"error,omitempty"`
}

func (o *fileOut) fault() **faultOut { return &o.Error }
func (o *fileOut) failed() bool      { return o.Error != nil }

// fill puts in all but content.
func (o *fileOut) fill(s *Server, x *registry.Exec, w *filework.Work) error {
	v, err := x.View(registry.Budgets{})
	if err != nil {
		return err
	}
	red := s.redactor()
	o.op, o.from, o.Exec = w.Op(), v.Result.Host, v.Result.Exec
	o.fileFacts = *factsOf(w, red)
	if w.Op() == filework.Read && v.Redacted.Total() > 0 {
		o.Redacted = maps.Clone(v.Redacted.Kinds)
	}
	if d := v.Result.Decision; v.Result.State != session.Done || v.Result.Err != nil || d.Approval != "" {
		o.Decision = decided(d, red.text)
	}
	if v.Result.State != session.Done {
		o.Host, o.State = v.Result.Host, string(v.Result.State)
		o.After = fmt.Sprintf("session_output with exec_id %s waits for it", o.Exec)
		return nil
	}
	o.State, o.Status = string(session.Done), string(v.Result.Status)
	if o.Error = faultOf(errOf(v.Result.Err)); o.Error != nil {
		o.Error.Next = s.nextFor(o.Error, errOf(v.Result.Err))
	}
	return nil
}

// take puts in a page of content that begins with a line, if line is not 0, and ends that many lines.
func (o *fileOut) take(p *pageOut, line, lines int, exact bool) {
	o.Text, o.Offset = p.Text, p.Offset
	o.Binary = p.Text == "" && p.Base64 != ""
	if exact || !o.Binary {
		o.Base64 = p.Base64
	}
	if p.removed > 0 && o.Base64 == "" && !o.Binary {
		put(&o.Cleaned, "content", p.removed)
	}
	if !p.End {
		o.Next = p.Next
	}
	if line > 1 {
		o.Line = line
	}
	if line > 0 && o.Next > 0 && lines > 0 {
		o.NextLine = line + lines
	}
	for kind, n := range p.Redacted {
		if o.Redacted == nil {
			o.Redacted = map[string]int{}
		}
		o.Redacted[kind] += n
	}
}

// text implements result.
func (o *fileOut) text() string {
	r := &rendered{}
	did := map[filework.Op]string{filework.Read: "read", filework.Write: "written", filework.Edit: "edited"}[o.op]
	switch {
	case o.State == statusAwaits:
		r.say(o.Exec + " waiting for approval")
	case o.State != "" && !done(o.State):
		r.say(o.Exec + " " + o.State)
	case o.Error != nil:
		r.say(when(o.Status != o.Error.Code, o.Status), o.Error.text(), prefixed("exec ", o.Exec))
	default:
		r.say(did, prefixed("exec ", o.Exec))
	}
	if o.Path != "" {
		r.say(o.fileFacts.text())
	}
	r.say(when(o.Binary, "binary file: base64 true shows its bytes"), unlessZero("from byte %d on", o.Offset), unlessZero("from line %d on", int64(o.Line)),
		unlessZero("there is more: next_offset %d", o.Next), unlessZero("next_line %d", int64(o.NextLine)),
		prefixed("redacted: ", counts("%d %s", o.Redacted)), prefixed("removed: ", counts("%d control or hidden characters of %s", o.Cleaned)))
	if o.Decision != nil {
		r.say(o.Decision.text())
	}
	r.say(prefixed("next: ", o.After))
	r.show("data from "+o.from, o.Text)
	r.show("the exact bytes in base64", o.Base64)
	return r.String(prefixed("", o.from) + when(o.from != "", ": "))
}
