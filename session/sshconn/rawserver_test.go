package sshconn_test

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// rawConn is the server's side of SSH's transport (RFC 4253) with one algorithm of each kind, for what the SSH library's server does
// not send: it lets a test write any message.
type rawConn struct {
	net.Conn
	in                 *bufio.Reader
	readCTR, writeCTR  cipher.Stream // nil until keys are exchanged
	readMAC, writeMAC  hash.Hash
	readSeq, writeSeq  uint32
	theirKex, ourKex   []byte
	theirName, ourName string
}

// rawServer answers each connection, after the exchange of keys, with serve. It returns its address and key.
func rawServer(t *testing.T, serve func(*rawConn) error) (addr string, key ssh.PublicKey) {
	_, signer := freshKey(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				c := &rawConn{Conn: conn, in: bufio.NewReader(conn), ourName: "SSH-2.0-raw"}
				if c.exchange(signer) == nil {
					_ = serve(c)
				}
			}()
		}
	}()
	return l.Addr().String(), signer.PublicKey()
}

// expect reads the next message, which is to be of a type.
func (c *rawConn) expect(kind byte) ([]byte, error) {
	for {
		p, err := c.read()
		switch {
		case err != nil:
			return nil, err
		case p[0] == 2: // ignore
		case p[0] != kind:
			return nil, errors.New("another message was expected")
		default:
			return p, nil
		}
	}
}

// userAuth accepts the service, and answers requests to log in until answer has no answer.
func (c *rawConn) userAuth(answer func(method string) []byte) error {
	if _, err := c.expect(5); err != nil {
		return err
	}
	if err := c.write(ssh.Marshal(struct {
		Service string `sshtype:"6"`
	}{"ssh-userauth"})); err != nil {
		return err
	}
	for {
		p, err := c.expect(50)
		if err != nil {
			return err
		}
		var request struct {
			User, Service, Method string
			Rest                  []byte `ssh:"rest"`
		}
		if err := ssh.Unmarshal(p[1:], &request); err != nil {
			return err
		}
		reply := answer(request.Method)
		if reply == nil {
			return nil
		}
		if err := c.write(reply); err != nil {
			return err
		}
	}
}

func (c *rawConn) exchange(key ssh.Signer) error {
	if _, err := io.WriteString(c.Conn, c.ourName+"\r\n"); err != nil {
		return err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return err
	}
	c.theirName = strings.TrimRight(line, "\r\n")
	c.ourKex = ssh.Marshal(struct {
		Cookie                                      [16]byte `sshtype:"20"`
		Kex, Key, In, Out, InMAC, OutMAC, InC, OutC []string
		InLang, OutLang                             []string
		Follows                                     bool
		Reserved                                    uint32
	}{Kex: []string{"curve25519-sha256"}, Key: []string{"ssh-ed25519"}, In: []string{"aes128-ctr"}, Out: []string{"aes128-ctr"},
		InMAC: []string{"hmac-sha2-256"}, OutMAC: []string{"hmac-sha2-256"}, InC: []string{"none"}, OutC: []string{"none"}})
	if err := c.write(c.ourKex); err != nil {
		return err
	}
	if c.theirKex, err = c.expect(20); err != nil {
		return err
	}
	p, err := c.expect(30)
	if err != nil {
		return err
	}
	var init struct{ Public []byte }
	if err := ssh.Unmarshal(p[1:], &init); err != nil {
		return err
	}
	ours, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	theirs, err := ecdh.X25519().NewPublicKey(init.Public)
	if err != nil {
		return err
	}
	shared, err := ours.ECDH(theirs)
	if err != nil {
		return err
	}
	secret := ssh.Marshal(struct{ K *big.Int }{new(big.Int).SetBytes(shared)})
	h := sha256.Sum256(append(ssh.Marshal(struct {
		A, B       string
		C, D, K, Q []byte
		S          []byte
	}{c.theirName, c.ourName, c.theirKex, c.ourKex, key.PublicKey().Marshal(), init.Public, ours.PublicKey().Bytes()}), secret...))
	sig, err := key.Sign(rand.Reader, h[:])
	if err != nil {
		return err
	}
	if err := c.write(ssh.Marshal(struct {
		Key, Public, Signature []byte `sshtype:"31"`
	}{key.PublicKey().Marshal(), ours.PublicKey().Bytes(), ssh.Marshal(sig)})); err != nil {
		return err
	}
	if err := c.write([]byte{21}); err != nil {
		return err
	}
	if _, err := c.expect(21); err != nil {
		return err
	}
	derive := func(letter byte, n int) []byte {
		sum := sha256.Sum256(bytes.Join([][]byte{secret, h[:], {letter}, h[:]}, nil))
		return sum[:n]
	}
	stream := func(iv, key byte) cipher.Stream {
		block, _ := aes.NewCipher(derive(key, 16))
		return cipher.NewCTR(block, derive(iv, 16))
	}
	c.readCTR, c.writeCTR = stream('A', 'C'), stream('B', 'D')
	c.readMAC, c.writeMAC = hmac.New(sha256.New, derive('E', 32)), hmac.New(sha256.New, derive('F', 32))
	return nil
}

func (c *rawConn) write(payload []byte) error {
	pad := 16 - (5+len(payload))%16
	if pad < 4 {
		pad += 16
	}
	p := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+pad))
	p = append(append(append(p, byte(pad)), payload...), make([]byte, pad)...)
	if c.writeCTR != nil {
		c.writeMAC.Reset()
		c.writeMAC.Write(binary.BigEndian.AppendUint32(nil, c.writeSeq))
		c.writeMAC.Write(p)
		c.writeCTR.XORKeyStream(p, p)
		p = c.writeMAC.Sum(p)
	}
	c.writeSeq++
	_, err := c.Conn.Write(p)
	return err
}

func (c *rawConn) read() ([]byte, error) {
	take := func(n int) ([]byte, error) {
		p := make([]byte, n)
		_, err := io.ReadFull(c.in, p)
		if err == nil && c.readCTR != nil {
			c.readCTR.XORKeyStream(p, p)
		}
		return p, err
	}
	head, err := take(16)
	if err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(head))
	if size < 12 || size > 1<<16 {
		return nil, errors.New("the size of a packet is wrong")
	}
	rest, err := take(size + 4 - len(head))
	if err != nil {
		return nil, err
	}
	if c.readCTR != nil { // the client's packets are taken as they come
		if _, err := io.CopyN(io.Discard, c.in, int64(c.readMAC.Size())); err != nil {
			return nil, err
		}
	}
	c.readSeq++
	p := append(head, rest...)
	return p[5 : len(p)-int(p[4])], nil
}

// refused says that a server wants one of methods instead.
func refused(methods string) []byte {
	return ssh.Marshal(struct {
		Methods string `sshtype:"51"`
		Partial bool
	}{Methods: methods})
}
