package keyring

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/crypto/ssh"
)

// Exchange keeps what a server says in the first exchange of keys, which travels in clear: its key, and its signature over the hash that
// is the id of the session from then on. An agent signs with a key that is constrained to destinations (ssh-add -h) only once it knows
// both, and the SSH library keeps them to itself.
type Exchange struct {
	buf                []byte
	greeted, over      bool
	hostKey, signature []byte
}

// maxExchange bounds what a server says before the exchange is over.
const maxExchange = 256 << 10

// Heard takes what has come from the server.
func (e *Exchange) Heard(b []byte) {
	if e.over {
		return
	}
	if e.buf = append(e.buf, b...); len(e.buf) > maxExchange {
		e.end()
		return
	}
	for !e.greeted {
		line, rest, ok := bytes.Cut(e.buf, []byte("\n"))
		if !ok {
			return
		}
		e.greeted, e.buf = bytes.HasPrefix(line, []byte("SSH-")), rest
	}
	for len(e.buf) > 4 && !e.over {
		size := binary.BigEndian.Uint32(e.buf)
		if size > maxExchange {
			e.end()
			return
		}
		if len(e.buf)-4 < int(size) {
			return
		}
		e.packet(e.buf[4 : 4+size])
		e.buf = e.buf[min(4+int(size), len(e.buf)):]
	}
}

// The messages of RFC 4253, 4419 and 5656 that matter.
const (
	newKeys       = 21
	exchangeReply = 31 // that of a group exchange is 33, and 31 is its group
)

func (e *Exchange) packet(p []byte) {
	if len(p) < 2 || int(p[0])+1 >= len(p) {
		e.end()
		return
	}
	payload := p[1 : len(p)-int(p[0])]
	switch payload[0] {
	case newKeys:
		e.end()
	case exchangeReply, exchangeReply + 2:
		var reply struct {
			HostKey   []byte `sshtype:"31|33"`
			Public    []byte
			Signature []byte
		}
		if ssh.Unmarshal(payload, &reply) == nil {
			e.hostKey, e.signature = bytes.Clone(reply.HostKey), bytes.Clone(reply.Signature)
		}
	}
}

func (e *Exchange) end() { e.over, e.buf = true, nil }

// Shown returns the server's key and its signature; nil where they were not seen.
func (e *Exchange) Shown() (hostKey, signature []byte) { return e.hostKey, e.signature }
