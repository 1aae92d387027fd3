package sshconn

import (
	"encoding/binary"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
)

// rawModes are the terminal modes of programs that are no person's (RFC 4254, section 8): bytes pass unchanged both ways, except for the
// keys that send signals. What a server does not know it ignores.
var rawModes = encodeModes([][2]uint32{
	{ssh.VINTR, 3}, {ssh.VQUIT, 28}, {ssh.VSUSP, 26},
	{ssh.IGNPAR, 0}, {ssh.PARMRK, 0}, {ssh.INPCK, 0}, {ssh.ISTRIP, 0}, {ssh.INLCR, 0}, {ssh.IGNCR, 0}, {ssh.ICRNL, 0},
	{ssh.IUCLC, 0}, {ssh.IXON, 0}, {ssh.IXANY, 0}, {ssh.IXOFF, 0}, {ssh.IMAXBEL, 0},
	{ssh.ISIG, 1}, {ssh.ICANON, 0}, {ssh.XCASE, 0}, {ssh.ECHO, 0}, {ssh.ECHOE, 0}, {ssh.ECHOK, 0}, {ssh.ECHONL, 0},
	{ssh.NOFLSH, 0}, {ssh.IEXTEN, 0}, {ssh.ECHOCTL, 0}, {ssh.ECHOKE, 0}, {ssh.PENDIN, 0},
	{ssh.OPOST, 0}, {ssh.OLCUC, 0}, {ssh.ONLCR, 0}, {ssh.OCRNL, 0}, {ssh.ONOCR, 0}, {ssh.ONLRET, 0},
	{ssh.CS8, 1}, {ssh.PARENB, 0}, {ssh.TTY_OP_ISPEED, 38400}, {ssh.TTY_OP_OSPEED, 38400},
})

func encodeModes(modes [][2]uint32) string {
	var b []byte
	for _, m := range modes {
		b = binary.BigEndian.AppendUint32(append(b, byte(m[0])), m[1])
	}
	return string(append(b, 0))
}

func ptyRequest(p session.Program) []byte {
	if p.Size == (session.Size{}) {
		p.Size = session.Size{Rows: 24, Cols: 80}
	}
	if p.Term == "" {
		p.Term = "dumb"
	}
	modes := rawModes
	if p.Cooked {
		modes = encodeModes(nil) // as the host's terminals are
	}
	return ssh.Marshal(struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}{Term: p.Term, Cols: uint32(p.Size.Cols), Rows: uint32(p.Size.Rows), Modes: modes})
}

func windowChange(s session.Size) []byte {
	return ssh.Marshal(struct{ Cols, Rows, Width, Height uint32 }{Cols: uint32(s.Cols), Rows: uint32(s.Rows)})
}
