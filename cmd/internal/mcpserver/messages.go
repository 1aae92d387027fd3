package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/fairlead-ssh/fairlead/cmd/internal/jsontext"
	"github.com/fairlead-ssh/fairlead/session/filework"
)

// maxMessage bounds one message of a client's, in bytes: a file, each byte of which may be written as \u00xx.
const maxMessage = 6*filework.MaxFile + 1<<20

// messages is a reader of a client's messages, one a line, that holds back what would end the reading of them. Such a line
// is answered with an error, and the next one counts.
type messages struct {
	in   *bufio.Reader
	out  io.Writer // takes answers; each is one Write
	line []byte    // the buffer of the line that was read last
	rest []byte    // what of it was not given away
	err  error
}

func newMessages(in io.Reader, out io.Writer) *messages {
	return &messages{in: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		m.next()
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// Close does nothing: the stream is not ours.
func (m *messages) Close() error { return nil }

// next reads a line. What the stream's end cuts off is no message that anybody waits for.
func (m *messages) next() {
	if cap(m.line) > 1<<20 {
		m.line = nil
	}
	m.line = m.line[:0]
	long := false
	for {
		part, err := m.in.ReadSlice('\n')
		if long = long || len(m.line)+len(part) > maxMessage; !long {
			m.line = append(m.line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		m.err = err
		break
	}
	line := bytes.TrimSpace(m.line)
	switch {
	case long:
		m.refuse(&flaw{code: jsonrpc.CodeInvalidRequest, why: fmt.Sprintf("a message has at most %d bytes", maxMessage)})
	case len(line) == 0, m.err != nil && !json.Valid(line):
	case line[0] == '[':
		m.batch(line)
	default:
		if f := flawOf(line); f != nil {
			m.refuse(f)
			return
		}
		m.rest = append(line, '\n')
	}
}

// batch takes messages apart that came together, as older clients may send them.
func (m *messages) batch(line []byte) {
	all, f := apart(line)
	if f != nil {
		m.refuse(f)
		return
	}
	var good []byte
	for _, one := range all {
		if f := flawOf(one); f != nil {
			m.refuse(f)
			continue
		}
		good = append(append(good, one...), '\n')
	}
	m.rest = good
}

// apart are the messages of an array.
func apart(text []byte) (all []json.RawMessage, f *flaw) {
	if f := garbled(text); f != nil {
		return nil, f
	}
	if json.Unmarshal(text, &all) != nil || len(all) == 0 {
		return nil, &flaw{code: jsonrpc.CodeInvalidRequest, why: "there is no message in it"}
	}
	return all, nil
}

// refuse answers a line that is no message. Nobody is told where nobody reads.
func (m *messages) refuse(f *flaw) {
	answer := f.answer()
	_, _ = m.out.Write(append(answer, '\n'))
}

// flaw is what is wrong with a message.
type flaw struct {
	code int
	why  string
	id   json.RawMessage // of the request, if it can be told
}

func (f *flaw) answer() []byte {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	text, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   fault           `json:"error"`
	}{"2.0", f.id, fault{f.code, f.why}}) // no id is null
	if err != nil {
		panic("mcpserver: internal error: " + err.Error()) // an id was taken from JSON
	}
	return text
}

// flawOf says why nothing can be made of a message; nil if something can.
func flawOf(msg []byte) *flaw {
	if f := garbled(msg); f != nil {
		return f
	}
	if _, err := jsonrpc.DecodeMessage(msg); err != nil {
		return &flaw{code: jsonrpc.CodeInvalidRequest, why: "it is JSON, but no message of JSON-RPC 2.0, or one that is nested too deep", id: idOf(msg)}
	}
	return strangeID(msg)
}

// strangeID says of a request that its answer would have another id; nil where it has not.
func strangeID(msg []byte) *flaw {
	if id := idOf(msg); id != nil && !kept(id) {
		return &flaw{code: jsonrpc.CodeInvalidRequest, why: "the answer would have another id: use a text, or a whole number below 2^53", id: id}
	}
	return nil
}

// kept reports whether the SDK, which reads numbers as floating point, answers with the same id.
func kept(id json.RawMessage) bool {
	if id[0] == '"' {
		return jsontext.Check(id) == nil
	}
	n, err := strconv.ParseFloat(string(id), 64)
	return err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53
}

// garbled says why a text is no JSON; nil if it is. What in it is no text is exact's to find.
func garbled(text []byte) *flaw {
	if !json.Valid(text) {
		return &flaw{code: jsonrpc.CodeParseError, why: "it is not JSON, or nested too deep; a message is one line"}
	}
	return nil
}

// idOf is the id of a request. That of an answer is one of ours, and means another request to its sender.
func idOf(msg []byte) json.RawMessage {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	if json.Unmarshal(msg, &m) != nil || m.Method == nil || len(m.ID) == 0 || m.ID[0] != '"' && (m.ID[0] < '0' || m.ID[0] > '9') && m.ID[0] != '-' {
		return nil
	}
	return m.ID
}

// oneByOne is a writer for several, each of whose writes is a whole.
type oneByOne struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneByOne) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}
