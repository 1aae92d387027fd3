package sshserver

import "golang.org/x/sys/unix"

type flag struct{ mask, bits uint32 }

// flags maps opcodes to bits of the word that setMode picks.
var flags = map[byte]flag{
	30: one(unix.IGNPAR), 31: one(unix.PARMRK), 32: one(unix.INPCK), 33: one(unix.ISTRIP), 34: one(unix.INLCR),
	35: one(unix.IGNCR), 36: one(unix.ICRNL), 38: one(unix.IXON), 39: one(unix.IXANY), 40: one(unix.IXOFF),
	41: one(unix.IMAXBEL), 42: one(unix.IUTF8),

	50: one(unix.ISIG), 51: one(unix.ICANON), 53: one(unix.ECHO), 54: one(unix.ECHOE), 55: one(unix.ECHOK),
	56: one(unix.ECHONL), 57: one(unix.NOFLSH), 58: one(unix.TOSTOP), 59: one(unix.IEXTEN), 60: one(unix.ECHOCTL),
	61: one(unix.ECHOKE), 62: one(unix.PENDIN),

	70: one(unix.OPOST), 72: one(unix.ONLCR), 73: one(unix.OCRNL), 74: one(unix.ONOCR), 75: one(unix.ONLRET),

	90: {unix.CSIZE, unix.CS7}, 91: {unix.CSIZE, unix.CS8}, 92: one(unix.PARENB), 93: one(unix.PARODD),
}

func one(bit uint32) flag { return flag{bit, bit} }
