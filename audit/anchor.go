package audit

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Anchor is the head of a chain, for a place that whoever can edit the chain cannot edit: it proves every record up to
// its own, however the chain was rewritten since.
type Anchor struct {
	Chain string    // which chain: 32 hexadecimal digits derived from its key, which they do not tell
	Count uint64    // records in the chain
	Hash  string    // of the last of them, in hexadecimal
	Time  time.Time // when it was taken, UTC
	MAC   string    // HMAC-SHA256 with a key of the chain over the line before it
}

// anchorStart begins every anchor's line; what stands before it in a line (the date of a log) is not the anchor's.
const anchorStart = `{"v":1,"chain":"`

// Line is the anchor as one line of JSON without a newline, which [ParseAnchor] reads:
//
//	{"v":1,"chain":"…","count":N,"hash":"…","time":"…","mac":"…"}
func (a Anchor) Line() []byte {
	b := append(a.appendBody(nil), macMark...)
	b = append(b, a.MAC...)
	return append(b, '"', '}')
}

func (a Anchor) appendBody(b []byte) []byte {
	b = append(b, anchorStart...)
	b = append(b, a.Chain...)
	b = append(b, `","count":`...)
	b = strconv.AppendUint(b, a.Count, 10)
	b = append(b, `,"hash":"`...)
	b = append(b, a.Hash...)
	b = append(b, `","time":"`...)
	b = a.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

// errNoAnchor is what is wrong with a line.
var errNoAnchor = errors.New("audit: not an anchor")

// ParseAnchor reads the anchor in a line, which may have other text before and white space behind it. It is strict: what
// it accepts is written by Line in the same bytes. Only [VerifyAnchored] can tell whether the MAC is right.
func ParseAnchor(line []byte) (Anchor, error) {
	at := bytes.Index(line, []byte(anchorStart))
	if at < 0 {
		return Anchor{}, errNoAnchor
	}
	text := bytes.TrimRight(line[at:], " \t\r\n")
	var raw struct {
		V     int       `json:"v"`
		Chain string    `json:"chain"`
		Count uint64    `json:"count"`
		Hash  string    `json:"hash"`
		Time  time.Time `json:"time"`
		MAC   string    `json:"mac"`
	}
	if json.Unmarshal(text, &raw) != nil {
		return Anchor{}, errNoAnchor
	}
	a := Anchor{Chain: raw.Chain, Count: raw.Count, Hash: raw.Hash, Time: raw.Time.UTC(), MAC: raw.MAC}
	if !digits(a.Chain, chainLen) || !digits(a.Hash, hexLen) || !digits(a.MAC, hexLen) || !bytes.Equal(a.Line(), text) {
		return Anchor{}, errNoAnchor
	}
	return a, nil
}

// digits reports whether s is n lower-case hexadecimal digits.
func digits(s string, n int) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == n
}

// maxAnchorLine bounds a line of a file of anchors.
const maxAnchorLine = 64 << 10

// ReadAnchors reads the anchors in a text, one a line, as a sink or a log keeps them. Lines without one are passed over;
// others says how many of them hold anything.
func ReadAnchors(r io.Reader) (anchors []Anchor, others int, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxAnchorLine)
	for in.Scan() {
		a, err := ParseAnchor(in.Bytes())
		switch {
		case err == nil:
			anchors = append(anchors, a)
		case len(bytes.TrimSpace(in.Bytes())) > 0:
			others++
		}
	}
	if err := in.Err(); err != nil {
		return anchors, others, fmt.Errorf("audit: reading anchors: %w", err)
	}
	return anchors, others, nil
}

const chainLen = 32

// chainID names the chain of these keys.
func chainID(secret []byte) string {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte("fairlead audit chain 1"))
	return hex.EncodeToString(m.Sum(nil))[:chainLen]
}

// signAnchor fills in chain and MAC.
func (k *keys) signAnchor(a Anchor) Anchor {
	a.Chain = k.chain
	a.MAC = string(k.appendMAC(nil, k.anchor, a.appendBody(nil)))
	return a
}

// Head returns the head of the chain. Everything that it counts is on disk; results that waited for company were written
// first. It may count records of other writers.
func (f *File) Head() (Anchor, error) {
	if err := f.deliver(); err != nil {
		return Anchor{}, err
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return Anchor{}, unavailable("read", f.path, ErrClosed, "")
	}
	ticket := f.ticket.Load()
	a := f.keys.signAnchor(Anchor{Count: f.end.count, Hash: hex.EncodeToString(f.end.hash[:]), Time: f.cfg.Now().UTC()})
	f.mu.Unlock()
	return a, f.sync(ticket)
}

// count is how many records the chain had when this File last wrote to it.
func (f *File) count() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end.count
}
