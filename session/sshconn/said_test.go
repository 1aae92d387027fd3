package sshconn_test

import (
	"bufio"
	"crypto/ed25519"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// plainPacket is a packet before keys are agreed on.
func plainPacket(payload []byte) []byte {
	pad := 8 - (5+len(payload))%8 + 8
	b := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+pad))
	return slices.Concat(b, []byte{byte(pad)}, payload, make([]byte, pad))
}

// Whatever a server says before it is known, an error is short, and nothing in it is obeyed by a terminal.
func TestWhatAServerSaysInAnErrorIsShortAndPrintable(t *testing.T) {
	text := strings.Repeat("no\x1b]0;title\x07\u202e\u009b2J root may ", 8000)
	names := strings.Repeat("x\x1b[2J,", 4000) + "y"
	list := ssh.Marshal(struct{ A, B, C, D, E, F, G, H, I, J string }{names, names, names, names, names, names, names, names, "", ""})
	for name, said := range map[string][]byte{
		"a disconnect": plainPacket(append([]byte{1}, ssh.Marshal(struct {
			Reason uint32
			Text   string
			Lang   string
		}{2, text, text[:100]})...)),
		"algorithms":      plainPacket(slices.Concat([]byte{20}, make([]byte, 16), list, []byte{0, 0, 0, 0, 0})),
		"lines before it": []byte(text),
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			over := make(chan struct{})
			go func() {
				defer close(over)
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				if name != "lines before it" {
					_, _ = c.Write([]byte("SSH-2.0-x\r\n"))
				}
				_, _ = bufio.NewReader(c).ReadString('\n')
				_, _ = c.Write(said)
			}()
			_, key, err := ed25519.GenerateKey(nil)
			require.NoError(t, err)
			signer, err := ssh.NewSignerFromKey(key)
			require.NoError(t, err)
			d, err := sshconn.Static([]ssh.Signer{signer}, sessiontest.HostKeys(t, l.Addr().String(), signer.PublicKey()))
			require.NoError(t, err)
			_, err = d.Dial(t.Context(), sessiontest.Host(t, "web1", l.Addr().String()))
			require.Error(t, err)
			assert.Less(t, len(err.Error()), 4000)
			for _, c := range err.Error() {
				assert.True(t, unicode.IsPrint(c), "%q in %.300q", c, err)
			}
			<-over
		})
	}
}
