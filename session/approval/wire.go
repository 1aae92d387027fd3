package approval

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Limits of the socket.
const (
	maxRequest  = 48 << 10         // bytes of a request: a reason and a signature
	maxResponse = 4 << 20          // bytes of a response: a list of maxPending, or a document
	maxField    = 256              // bytes of a text in a list
	maxMessage  = 2 << 10          // bytes of an error's text
	maxRequests = 64               // on one connection
	maxPeers    = 16               // connections at a time
	patience    = 10 * time.Second // for one request and its response
)

// request is one line to a server.
type request struct {
	Op       string `json:"op"` // "list", "show", "answer", "sessions" or "revoke"
	ID       string `json:"id,omitempty"`
	Digest   Digest `json:"digest,omitempty"`
	By       string `json:"by,omitempty"` // what the caller calls itself; see Server
	Approved bool   `json:"approved,omitempty"`
	Reason   string `json:"reason,omitempty"`

	WithInput bool   `json:"with_input,omitempty"`
	Scope     *scope `json:"for_session,omitempty"`
	Signature string `json:"signature,omitempty"` // armored
	Proof     Proof  `json:"proof,omitempty"`     // the most that the caller says about it
}

// scope is a Scope on its way.
type scope struct {
	Prefix []string `json:"prefix,omitempty"`
	ForS   int64    `json:"for_s,omitempty"`
}

func scopeTo(s *Scope) *scope {
	if s == nil {
		return nil
	}
	return &scope{s.Prefix, int64(s.For / time.Second)}
}

func (s *scope) from() *Scope {
	switch {
	case s == nil:
		return nil
	case s.ForS < 0 || s.ForS > int64(MaxFor/time.Second):
		return &Scope{s.Prefix, -1} // which is refused
	}
	return &Scope{s.Prefix, time.Duration(s.ForS) * time.Second}
}

// response is one line from a server.
type response struct {
	List []Summary `json:"list,omitempty"`

	Sessions []ForSession `json:"sessions,omitempty"` // approvals that hold for a session

	Document []byte `json:"document,omitempty"`
	Error    *fault `json:"error,omitempty"`
}

type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Summary is what a list tells of one question. Its texts are cut after 256 bytes, and are not what an answer is bound to.
type Summary struct {
	ID        string    `json:"id"`
	Principal string    `json:"principal"`
	Host      string    `json:"host"`
	Tier      string    `json:"tier,omitempty"`
	Class     string    `json:"class,omitempty"`
	FirstLine string    `json:"first_line"`
	Lines     int       `json:"lines"`           // of the command
	Bytes     int       `json:"bytes"`           // of the command
	Typed     bool      `json:"typed,omitempty"` // it is about what is to be typed at the command, which runs already
	Proof     Proof     `json:"least_proof,omitempty"`
	Asked     time.Time `json:"asked,omitzero"`
	Expires   time.Time `json:"expires,omitzero"` // zero: never
}

// Summary returns what a list tells.
func (p Pending) Summary() Summary {
	q := p.Question
	first, _, _ := strings.Cut(q.Command, "\n")
	return Summary{
		ID: p.ID, Principal: clip(q.Principal), Host: clip(q.Host.Name), Tier: clip(q.Host.Tier), Class: clip(string(q.Decision.Class)),
		FirstLine: clip(first), Lines: strings.Count(strings.TrimSuffix(q.Command, "\n"), "\n") + 1, Bytes: len(q.Command),
		Typed: q.Typed != "", Proof: q.Decision.LeastProof, Asked: q.Asked, Expires: q.Expires,
	}
}

// clip cuts s to maxField bytes of valid UTF-8.
func clip(s string) string { return cut(s, maxField) }

func cut(s string, most int) string { return strings.ToValidUTF8(printable.Fit(s, most), "\uFFFD") }

// failed is the response to a request that failed.
func failed(err error) response {
	text := err.Error()
	if e := codes[codeOf(err)]; e != nil {
		text = strings.TrimPrefix(strings.TrimPrefix(text, e.Error()), ": ")
	}
	return response{Error: &fault{codeOf(err), text}}
}

// err is the error that a response tells of.
func (r response) err() error {
	if r.Error == nil {
		return nil
	}
	known, text := codes[r.Error.Code], cut(r.Error.Message, maxMessage)
	switch {
	case known == nil:
		return errors.New("approval: " + cmp.Or(text, "it failed, and does not say why"))
	case text == "":
		return known
	}
	return fmt.Errorf("%w: %s", known, text)
}

// parseRequest reads a line.
func parseRequest(line []byte) (request, error) {
	var r request
	d := json.NewDecoder(strings.NewReader(string(line)))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return request{}, fmt.Errorf("%w: it is not the JSON of one", ErrInvalid)
	}
	if _, err := d.Token(); err != io.EOF {
		return request{}, fmt.Errorf("%w: more follows on its line", ErrInvalid)
	}
	return r, nil
}

// readLine reads a line of up to the size of r's buffer, without its newline. io.EOF is the end between lines.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("%w: its line is longer than %d bytes", ErrInvalid, r.Size())
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, fmt.Errorf("%w: its line was truncated", ErrInvalid)
	}
	return nil, err
}
