package sessiontest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pkg/sftp"
	"github.com/stretchr/testify/require"
)

// HostileSFTP is a server of files that breaks on purpose. The zero value serves the files of this machine, and behaves.
type HostileSFTP struct {
	Silent  string // the request that it does not answer, nor any later one: see SFTPRequests
	Endless bool   // a listing never ends; its names are those below. Nor does a file, whose parts are longer than asked for
	Dots    bool   // all names of an endless listing are "."
	NameLen int    // how long the names of an endless listing are; 0 means 40
	Fail    string // the request that fails, and with what text
	Text    string
	Big     int  // the text of failures is repeated as often
	Corrupt bool // what is written is as long as it should be, and not the same
}

// SFTPRequests are the requests at which a HostileSFTP may go silent, by their names in the protocol.
var SFTPRequests = map[string]byte{
	"init": 1, "open": 3, "close": 4, "read": 5, "write": 6, "lstat": 7, "fsetstat": 10, "opendir": 11, "readdir": 12,
	"remove": 13, "realpath": 16, "stat": 17, "readlink": 19, "setstat": 9, "extended": 200,
}

// overlong is how much an endless file gives for each request.
const overlong = 200_000

const hostileArg = "hostile-sftp"

// OpenSSHDWithHostileSFTP starts OpenSSH's server, which has h as its sftp server. The test binary is what it starts: its
// TestMain, or an init function, calls HostileSFTPMain.
func OpenSSHDWithHostileSFTP(t testing.TB, h HostileSFTP, more ...string) *SSHD {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	line := fmt.Sprintf("Subsystem sftp %s %s %s %t %t %d %s %s %d %t", exe, hostileArg, dash(h.Silent), h.Endless, h.Dots, h.NameLen, dash(h.Fail),
		dash(fmt.Sprintf("%x", h.Text)), h.Big, h.Corrupt)
	return OpenSSHD(t, append(more, line)...)
}

// dash stands for an empty word.
func dash(word string) string {
	if word == "" {
		return "-"
	}
	return word
}

// HostileSFTPMain serves, and does not return, where OpenSSHDWithHostileSFTP's server has started this program.
func HostileSFTPMain() {
	a := os.Args
	if len(a) != 10 || a[1] != hostileArg {
		return
	}
	for i := range a {
		if a[i] == "-" {
			a[i] = ""
		}
	}
	h := HostileSFTP{Silent: a[2], Endless: a[3] == "true", Dots: a[4] == "true", Fail: a[6], Corrupt: a[9] == "true"}
	h.NameLen, _ = strconv.Atoi(a[5])
	h.Big, _ = strconv.Atoi(a[8])
	_, _ = fmt.Sscanf(a[7], "%x", &h.Text)
	_ = h.Serve(struct {
		io.Reader
		io.WriteCloser
	}{os.Stdin, os.Stdout})
	os.Exit(0)
}

// Serve serves one channel; see sshserver.Config.Subsystems.
func (h HostileSFTP) Serve(rw io.ReadWriteCloser) error {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	good, err := sftp.NewServer(struct {
		io.Reader
		io.WriteCloser
	}{in, out})
	if err != nil {
		return err
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = good.Serve()
		out.Close()
	}()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(rw, fromServer)
	}()
	err = h.requests(rw, toServer)
	toServer.Close()
	in.Close()
	good.Close()
	fromServer.Close()
	<-served
	<-answered
	return err
}

// requests passes requests on, except for those that h answers, or does not.
func (h HostileSFTP) requests(rw io.ReadWriter, server io.Writer) error {
	silent := false
	for {
		p, err := sftpPacket(rw)
		if err != nil {
			return err
		}
		kind := p[4]
		switch {
		case silent || h.Silent != "" && kind == SFTPRequests[h.Silent]:
			silent = true // and reads on, so that it is not the connection that stops
		case h.Fail != "" && kind == SFTPRequests[h.Fail]:
			text := strings.Repeat(h.Text, max(1, h.Big))
			body := slices.Concat(p[5:9], u32(4), u32(len(text)), []byte(text), u32(0))
			if err := sendSFTP(rw, 101, body); err != nil {
				return err
			}
		case h.Endless && kind == SFTPRequests["readdir"]:
			if err := sendSFTP(rw, 104, slices.Concat(p[5:9], h.names())); err != nil {
				return err
			}
		case h.Endless && kind == SFTPRequests["read"]:
			if err := sendSFTP(rw, 103, slices.Concat(p[5:9], u32(overlong), make([]byte, overlong))); err != nil {
				return err
			}
		case h.Corrupt && kind == SFTPRequests["write"]:
			p[len(p)-1] ^= 1
			fallthrough
		default:
			if _, err := server.Write(p); err != nil {
				return err
			}
		}
	}
}

// names is a page of an endless listing.
func (h HostileSFTP) names() []byte {
	name := []byte(".")
	if !h.Dots {
		name = bytes.Repeat([]byte("n"), max(h.NameLen, 1))
		if h.NameLen == 0 {
			name = bytes.Repeat([]byte("n"), 40)
		}
	}
	one := slices.Concat(u32(len(name)), name, u32(0), u32(0))
	count := max(1, 200_000/len(one))
	return slices.Concat(u32(count), bytes.Repeat(one, count))
}

func sendSFTP(w io.Writer, kind byte, body []byte) error {
	_, err := w.Write(slices.Concat(u32(1+len(body)), []byte{kind}, body))
	return err
}

func u32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// sftpPacket reads one, with its length.
func sftpPacket(r io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head)
	if n < 5 || n > 1<<20 {
		return nil, fmt.Errorf("a packet of %d bytes", n)
	}
	p := append(head, make([]byte, n)...)
	_, err := io.ReadFull(r, p[4:])
	return p, err
}
