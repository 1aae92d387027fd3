package wire

import (
	"time"

	"github.com/fairlead-ssh/fairlead/session"
)

// Headers that say what a file must be before it is written.
const (
	IfMatch     = "If-Match"
	IfNoneMatch = "If-None-Match"
)

// FileFacts is what is known of a file once its work is done.
type FileFacts struct {
	Path     string `json:"path" doc:"absolute"`
	LeadsTo  string `json:"leads_to,omitempty" doc:"where symbolic links in path lead, if there are any: the file that was read or written"`
	Size     *int64 `json:"size,omitempty" doc:"bytes of the file; its text may have another length where secrets are redacted"`
	SHA256   string `json:"sha256,omitempty" doc:"of all its bytes, in hexadecimal; for If-Match"`
	Mode     string `json:"mode,omitempty" doc:"permissions in octal"`
	Created  bool   `json:"created,omitempty"`
	Replaced bool   `json:"replaced,omitempty"`
}

// File is work on a file as it is now.
type File struct {
	Host    string `json:"host"`
	Session string `json:"session"`
	Exec    string `json:"exec" doc:"its id among commands: while it is pending or runs, /v1/execs/{id} waits for it and reports the outcome"`
	State   string `json:"state" doc:"awaiting_approval, running or done"`
	FileFacts

	Encoding string               `json:"encoding,omitempty" enum:"utf-8,base64"`
	Content  string               `json:"content,omitempty"`
	Offset   int64                `json:"offset,omitempty"`
	Next     int64                `json:"next_offset,omitempty" doc:"there is more from here on"`
	Names    []FileName           `json:"names,omitempty" doc:"of a directory, sorted"`
	Redacted map[string]int       `json:"redacted,omitempty" doc:"secrets redacted in the whole text, by kind"`
	Decision session.DecisionJSON `json:"decision"`
}

// FileName is a name in a directory, and what stands there.
type FileName struct {
	Name     string     `json:"name"`
	NameB64  string     `json:"name_b64,omitempty" doc:"the same, where it is not UTF-8"`
	Kind     string     `json:"kind" enum:"file,directory,link,special"`
	Size     int64      `json:"size"`
	Mode     string     `json:"mode"`
	Modified *time.Time `json:"modified,omitempty" doc:"omitted if the host does not report it"`
}

// FileEdit asks for one place in a file to be replaced.
type FileEdit struct {
	Old      string   `json:"old" doc:"text that is in the file exactly once"`
	New      string   `json:"new" doc:"what to put in its place"`
	IfSHA256 string   `json:"if_sha256,omitempty" doc:"edit only if the file's content has this hash"`
	Reason   string   `json:"reason,omitempty" maxLength:"4096" doc:"reason, shown to approvers and recorded in the audit log"`
	WaitS    *float64 `json:"wait_s,omitempty" minimum:"0" doc:"wait so many seconds for the end (default 30, at most 50)"`
}
