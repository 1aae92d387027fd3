package pipe

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

// socksTime bounds how long a client may take to say where it wants to go.
const socksTime = 30 * time.Second

// The answers of SOCKS that are used here (RFC 1928, section 6).
const (
	socksGranted     = 0
	socksNotCommand  = 7
	socksNotAddress  = 8
	socksNoMethod    = 0xff
	socksVersion     = 5
	socksConnect     = 1
	socksAddressIPv4 = 1
	socksAddressName = 3
	socksAddressIPv6 = 4
)

// SOCKS 4 has one answer that is used here, and names instead of addresses since 4a. maxSocksName bounds those, as a byte does in version 5.
const (
	socks4        = 4
	socks4Granted = 90
	maxSocksName  = 255
)

var (
	errSocks        = errors.New("the SOCKS client does not speak SOCKS 4 or 5")
	errSocksMethod  = errors.New("the SOCKS client insists on a password, and none is taken")
	errSocksCommand = errors.New("the SOCKS client asks for something else than a connection")
)

// Socks reads where a client wants to go, and grants it at once, as ssh does: where that cannot be reached the connection ends. A
// client that takes too long finds it closed.
func Socks(conn io.ReadWriteCloser) (host string, port uint16, err error) {
	defer time.AfterFunc(socksTime, func() { conn.Close() }).Stop()
	var head [4]byte
	read := func(n int) ([]byte, error) {
		b := make([]byte, n)
		if _, err := io.ReadFull(conn, b); err != nil {
			return nil, errSocks
		}
		return b, nil
	}
	_, err = io.ReadFull(conn, head[:2])
	switch {
	case err == nil && head[0] == socks4:
		return socksOf4(conn, head[1])
	case err != nil || head[0] != socksVersion:
		return "", 0, errSocks
	}
	methods, err := read(int(head[1]))
	if err != nil {
		return "", 0, err
	}
	method := byte(socksNoMethod)
	for _, m := range methods {
		if m == 0 {
			method = 0
		}
	}
	if _, err := conn.Write([]byte{socksVersion, method}); err != nil || method != 0 {
		return "", 0, errSocksMethod
	}
	if _, err := io.ReadFull(conn, head[:]); err != nil || head[0] != socksVersion {
		return "", 0, errSocks
	}
	length := 0
	switch head[3] {
	case socksAddressIPv4:
		length = net.IPv4len
	case socksAddressIPv6:
		length = net.IPv6len
	case socksAddressName:
		n, err := read(1)
		if err != nil {
			return "", 0, err
		}
		length = int(n[0])
	default:
		answer(conn, socksNotAddress)
		return "", 0, errSocks
	}
	to, err := read(length + 2)
	if err != nil {
		return "", 0, err
	}
	if head[1] != socksConnect {
		answer(conn, socksNotCommand)
		return "", 0, errSocksCommand
	}
	name := to[:length]
	if host = string(name); head[3] != socksAddressName {
		host = net.IP(name).String()
	}
	port = binary.BigEndian.Uint16(to[length:])
	if host == "" || port == 0 {
		answer(conn, socksNotAddress)
		return "", 0, errSocks
	}
	answer(conn, socksGranted)
	return host, port, nil
}

// socksOf4 is Socks for a client of version 4, whose command has been read. It says who it is, which is not looked at.
func socksOf4(conn io.ReadWriter, command byte) (host string, port uint16, err error) {
	var to [6]byte
	if _, err := io.ReadFull(conn, to[:]); err != nil {
		return "", 0, errSocks
	}
	if _, err := socksWord(conn); err != nil {
		return "", 0, err
	}
	host, port = net.IP(to[2:]).String(), binary.BigEndian.Uint16(to[:])
	if to[2] == 0 && to[3] == 0 && to[4] == 0 && to[5] != 0 { // 4a: a name follows
		if host, err = socksWord(conn); err != nil {
			return "", 0, err
		}
	}
	switch {
	case command != socksConnect:
		return "", 0, errSocksCommand
	case host == "" || port == 0:
		return "", 0, errSocks
	}
	_, _ = conn.Write([]byte{0, socks4Granted, 0, 0, 0, 0, 0, 0})
	return host, port, nil
}

// socksWord reads up to a NUL byte, and nothing behind it.
func socksWord(r io.Reader) (string, error) {
	var word []byte
	for b := [1]byte{}; ; word = append(word, b[0]) {
		if _, err := io.ReadFull(r, b[:]); err != nil || len(word) > maxSocksName {
			return "", errSocks
		}
		if b[0] == 0 {
			return string(word), nil
		}
	}
}

// answer tells a client what becomes of its request.
func answer(conn io.Writer, code byte) {
	_, _ = conn.Write([]byte{socksVersion, code, 0, socksAddressIPv4, 0, 0, 0, 0, 0, 0})
}
