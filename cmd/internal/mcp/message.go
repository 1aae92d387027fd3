package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxTracked is how many bytes a message may have that relay reads. A longer one passes in parts: the keeper refuses it.
const maxTracked = 128 << 20

// message is what relay reads of a message of JSON-RPC 2.0, one per line. line is never changed, only replaced.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	line   []byte
}

// readMessages returns the messages of a line: several where an older client sends a batch.
func readMessages(line []byte) (all []message) {
	var batch []json.RawMessage
	if first := bytes.TrimSpace(line); len(first) > 0 && first[0] == '[' && json.Unmarshal(line, &batch) == nil && len(batch) > 0 {
		for _, one := range batch {
			all = append(all, readMessage(append(one, '\n')))
		}
		return all
	}
	return []message{readMessage(line)}
}

// readMessage returns the zero ID and Method of a line that is no message: the keeper says what is wrong with it.
func readMessage(line []byte) (m message) {
	if json.Unmarshal(line, &m) != nil {
		m = message{}
	}
	m.line = line
	return m
}

// isRequest holds for all that has an ID and is no answer: the other side answers also what is no request of the protocol.
func (m message) isRequest() bool { return m.hasID() && !m.isAnswer() }
func (m message) isAnswer() bool {
	return m.hasID() && m.Method == "" && (m.Result != nil || m.Error != nil)
}
func (m message) isNotification() bool { return m.Method != "" && !m.hasID() }
func (m message) hasID() bool          { return len(m.ID) > 0 && string(m.ID) != "null" }

// key is an ID in one form, however it was written: a number, or a quote and a text.
func (m message) key() string {
	var text string
	if json.Unmarshal(m.ID, &text) == nil {
		return `"` + text
	}
	return string(m.ID)
}

func (m *message) setID(id json.RawMessage) {
	m.ID = id
	m.set("id", id)
}

// set replaces a member of the message. One that is no object stays as it is.
func (m *message) set(name string, value json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(m.line, &members) != nil {
		return
	}
	members[name] = value
	if line, err := json.Marshal(members); err == nil {
		m.line = append(line, '\n')
	}
}

// cancels reports whether the message cancels the request id, and names it key then.
func (m *message) cancels(id json.RawMessage, key string) bool {
	var in struct {
		Params map[string]json.RawMessage `json:"params"`
	}
	if json.Unmarshal(m.line, &in) != nil || len(id) == 0 || !bytes.Equal(in.Params["requestId"], id) {
		return false
	}
	in.Params["requestId"] = quoted(key)
	params, err := json.Marshal(in.Params)
	if err != nil {
		return false
	}
	m.set("params", params)
	return true
}

// protocolVersion is what an answer to an initialization says; "" if it is a refusal.
func (m message) protocolVersion() string {
	var in struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	_ = json.Unmarshal(m.line, &in)
	return in.Result.ProtocolVersion
}

func quoted(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil {
		panic("mcp: internal error: " + err.Error()) // a string can always be written
	}
	return raw
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) }

// readLine reads a line with its end, or the first part of one that is longer than maxTracked.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for len(line) <= maxTracked {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
	return line, nil
}
