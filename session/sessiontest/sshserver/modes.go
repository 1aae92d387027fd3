//go:build linux || darwin

package sshserver

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// setModes applies the terminal modes of a pty-req (RFC 4254, section 8) to a new terminal.
func (s *Session) setModes(t *unix.Termios) {
	for m := s.modes; len(m) >= 5; m = m[5:] {
		opcode, value := m[0], binary.BigEndian.Uint32(m[1:5])
		if opcode == 0 || opcode >= 160 {
			return // the end, or something whose length is unknown
		}
		setMode(t, opcode, value)
	}
}

func setMode(t *unix.Termios, opcode byte, value uint32) {
	if int(opcode) < len(characters) && characters[opcode] >= 0 {
		c := byte(value)
		if value == 255 {
			c = 0 // the protocol's way to say "none"; POSIX's is _POSIX_VDISABLE, which is 0 or 255
		}
		t.Cc[characters[opcode]] = c
		return
	}
	if f, ok := flags[opcode]; ok {
		if f.mask != f.bits && value == 0 {
			return // not this character size, but nobody says which
		}
		word := &t.Iflag
		switch {
		case opcode >= 90:
			word = &t.Cflag
		case opcode >= 70:
			word = &t.Oflag
		case opcode >= 50:
			word = &t.Lflag
		}
		*word &^= f.mask
		if value != 0 {
			*word |= f.bits
		}
	}
}

// characters maps opcodes to places in Termios.Cc; -1 means none.
var characters = [...]int{
	0: -1, 1: unix.VINTR, 2: unix.VQUIT, 3: unix.VERASE, 4: unix.VKILL, 5: unix.VEOF, 6: unix.VEOL, 7: unix.VEOL2,
	8: unix.VSTART, 9: unix.VSTOP, 10: unix.VSUSP, 11: -1, 12: unix.VREPRINT, 13: unix.VWERASE, 14: unix.VLNEXT,
}
