package audit

import (
	"fmt"
	"time"
)

// ProblemKind classes what Verify found. Values are a stable format.
type ProblemKind string

// What can be wrong with a chain.
const (
	Edited      ProblemKind = "edited"       // bytes of a record are not the ones written
	Gap         ProblemKind = "gap"          // records are missing in the middle
	Reordered   ProblemKind = "reordered"    // records stand in another order, or twice
	Truncated   ProblemKind = "truncated"    // records are missing at the end
	BadHead     ProblemKind = "bad head"     // head is missing, changed, or of another chain
	MissingKey  ProblemKind = "missing key"  // nothing can be proved without it
	BadKey      ProblemKind = "bad key"      // it is not the key of this chain
	UnknownFile ProblemKind = "unknown file" // a record file that the chain does not know
	NotAnchored ProblemKind = "not anchored" // the chain is not the one that was anchored
	BadAnchor   ProblemKind = "bad anchor"   // an anchor was changed
)

// Problem is the first place where a chain is wrong.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	File string      `json:"file"`           // path
	Line int         `json:"line,omitempty"` // from 1; 0 where no line is meant
	Text string      `json:"text"`
}

// String is "file:line: kind: text".
func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at += fmt.Sprintf(":%d", p.Line)
	}
	return fmt.Sprintf("%s: %s: %s", at, p.Kind, p.Text)
}

// Stretch is a run of torn bytes that is not a record: what a writer that died left of its last write.
type Stretch struct {
	File  string `json:"file"` // path
	Line  int    `json:"line"`
	Bytes int64  `json:"bytes"`
}

// Pending is a request without a result: the controller died, or the command is still running.
type Pending struct {
	ID   string    `json:"id"`
	Kind Kind      `json:"kind"`
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Host string    `json:"host,omitempty"`
}

// Report is what Verify found. Up to Problem everything was checked and is right.
type Report struct {
	Records uint64    `json:"records"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Head    string    `json:"head"` // hash of the last record: kept elsewhere, with Records, it proves what stood before it

	Anchor string `json:"anchor,omitempty"` // a line to keep elsewhere, for VerifyAnchored; "" unless the chain is whole

	Problem *Problem  `json:"problem,omitempty"` // nil: the chain is whole
	Pending []Pending `json:"pending,omitempty"` // by place in the chain
	Behind  uint64    `json:"behind,omitempty"`  // whole records behind head: a writer died between its two writes
	Sealed  []Stretch `json:"sealed,omitempty"`  // torn by a crash, and sealed since
	Torn    *Stretch  `json:"torn,omitempty"`    // torn by a crash at the end; the next writer seals it
	Anchors *Anchored `json:"anchors,omitempty"` // nil: there were none to compare with
	Purged  *Missing  `json:"purged,omitempty"`  // the oldest files, removed on record; Records counts what stood there
}

// OK reports whether the chain is whole.
func (r Report) OK() bool { return r.Problem == nil }
