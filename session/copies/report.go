package copies

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// Report is one line of what a copy prints on its standard output.
type Report struct {
	// Done is a file or directory that was copied, or would be (DryRun), or was left as it is; "" is none.
	Done   string `json:"done,omitempty"`
	Path   string `json:"path,omitempty"` // on the host
	Size   int64  `json:"size,omitempty"`
	Mode   string `json:"mode,omitempty"` // in octal
	SHA256 string `json:"sha256,omitempty"`
	Was    string `json:"was,omitempty"`  // the hash of the old content, of a dry run
	Old    []byte `json:"old,omitempty"`  // the old content where it is small, of a dry run
	Name   string `json:"name,omitempty"` // of the source

	// Of a dry run, where the mode or the owner becomes another one: the old ones, and the new owner, UID:GID.
	WasMode  string `json:"was_mode,omitempty"`
	Owner    string `json:"owner,omitempty"`
	WasOwner string `json:"was_owner,omitempty"`

	// Of a dry run with Plan.Times, where the time of the last change becomes another one: the old one and the new one.
	WasModified time.Time `json:"was_modified,omitzero"`
	Modified    time.Time `json:"modified,omitzero"`

	// Why says why a file was skipped or failed; Code is one of package files.
	Why  string `json:"why,omitempty"`
	Code string `json:"code,omitempty"`

	// Progress is how many bytes have been copied so far, and Total of how many, if that is known.
	Progress int64 `json:"progress,omitempty"`
	Total    int64 `json:"total,omitempty"`

	// NameB64 and PathB64 are of the JSON alone: the bytes of a name or path that is not UTF-8, which has U+FFFD in their place there. In
	// Go these are Name and Path, whatever their bytes.
	NameB64 string `json:"name_b64,omitempty"`
	PathB64 string `json:"path_b64,omitempty"`
}

// What Done says.
const (
	Copied    = "copied"
	Created   = "created"   // a directory
	Unchanged = "unchanged" // of a dry run
	Changed   = "would change"
	New       = "would create"
	Deleted   = "deleted"
	Doomed    = "would delete"
	Skipped   = "skipped" // see Why
	Sparse    = "sparse"  // of a source, which is copied all the same
	Noted     = "noted"   // of the copy as a whole: see Why
	Failed    = "failed"  // see Why
)

// Reports takes the standard output of a copy and passes on each Report. Lines that are none are left out.
type Reports struct {
	Take func(Report)

	part []byte
}

const maxReport = 1 << 20

func (r *Reports) Write(p []byte) (int, error) {
	r.part = append(r.part, p...)
	for {
		line, rest, whole := bytes.Cut(r.part, []byte("\n"))
		if !whole {
			break
		}
		var one Report
		if json.Unmarshal(line, &one) == nil {
			r.Take(one)
		}
		r.part = rest
	}
	if len(r.part) > maxReport {
		r.part = nil
	}
	if len(r.part) == 0 {
		r.part = nil
	}
	return len(p), nil
}

const progressEvery = 200 * time.Millisecond

// reporter writes reports. It may be used concurrently.
type reporter struct {
	quiet bool // see Copy

	mu    sync.Mutex // guards what follows
	out   interface{ Write([]byte) (int, error) }
	bytes int64
	total int64
	last  time.Time
	buf   bytes.Buffer
}

func (r *reporter) tell(one Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(one)
	if r.buf.Len() > 32<<10 {
		r.send()
	}
}

func (r *reporter) put(one Report) {
	text, err := json.Marshal(one)
	if err != nil {
		return
	}
	r.buf.Write(text)
	r.buf.WriteByte('\n')
}

func (r *reporter) send() {
	_, _ = r.out.Write(r.buf.Bytes())
	r.buf.Reset()
}

// moved counts bytes, and says so from time to time.
func (r *reporter) moved(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += n
	if now := time.Now(); !r.quiet && now.Sub(r.last) >= progressEvery {
		r.last = now
		r.put(Report{Progress: r.bytes, Total: r.total})
		r.send()
	}
}

// flush ends the reports.
func (r *reporter) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes > 0 && !r.quiet {
		r.put(Report{Progress: r.bytes, Total: r.total})
	}
	r.send()
}

// counting counts what is read through it.
type counting struct {
	ctx context.Context
	r   *fileReader
	rep *reporter
}

func (c counting) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, ctxerr.Of(c.ctx)
	}
	n, err := c.r.Read(p)
	c.rep.moved(int64(n))
	return n, err
}

// Sum implements hostfs.Summed.
func (c counting) Sum() []byte { return c.r.sum() }
