package keyring_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// packet is one of RFC 4253 without encryption.
func packet(payload []byte) []byte {
	const padding = 5
	out := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+padding))
	return append(append(append(out, padding), payload...), make([]byte, padding)...)
}

func reply(kind byte, parts ...string) []byte {
	out := []byte{kind}
	for _, p := range parts {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(p))), p...)
	}
	return packet(out)
}

func TestTheKeyAndTheSignatureOfTheFirstExchangeAreKept(t *testing.T) {
	const greeting = "a line before\r\nSSH-2.0-x\r\n"
	init := packet([]byte{20, 1, 2, 3})
	for name, row := range map[string]struct {
		heard          []byte
		key, signature string
	}{
		"ECDH":            {append(append([]byte(greeting), init...), reply(31, "key", "point", "signature")...), "key", "signature"},
		"a group":         {append(append([]byte(greeting), reply(31, "p", "g")...), reply(33, "key", "f", "signature")...), "key", "signature"},
		"after the end":   {append(append([]byte(greeting), packet([]byte{21})...), reply(31, "key", "point", "signature")...), "", ""},
		"no SSH":          {[]byte("HTTP/1.1 400\r\n\r\n" + string(reply(31, "key", "point", "signature"))), "", ""},
		"a huge packet":   {append([]byte(greeting), 0xff, 0xff, 0xff, 0xff, 1, 31), "", ""},
		"an empty packet": {append([]byte(greeting), 0, 0, 0, 0, 0, 0, 0, 0), "", ""},
		"only padding":    {append([]byte(greeting), 0, 0, 0, 2, 9, 9, 0), "", ""},
		"cut off":         {append([]byte(greeting), reply(31, "key", "point", "signature")[:12]...), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{len(row.heard), 1, 7} {
				var e keyring.Exchange
				for b := row.heard; len(b) > 0; b = b[min(step, len(b)):] {
					e.Heard(b[:min(step, len(b))])
				}
				key, signature := e.Shown()
				assert.Equal(t, row.key, string(key))
				assert.Equal(t, row.signature, string(signature))
			}
		})
	}
}

func FuzzExchange(f *testing.F) {
	f.Add([]byte("SSH-2.0-x\r\n"), 3)
	f.Add(append([]byte("SSH-2.0-x\r\n"), reply(31, "key", "point", "signature")...), 1)
	f.Add(append([]byte("SSH-2.0-x\r\n"), packet(ssh.Marshal(struct{ A, B []byte }{}))...), 2)
	f.Fuzz(func(t *testing.T, heard []byte, step int) {
		var e keyring.Exchange
		for step = max(step, 1); len(heard) > 0; heard = heard[min(step, len(heard)):] {
			e.Heard(heard[:min(step, len(heard))])
		}
	})
}
