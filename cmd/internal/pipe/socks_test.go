package pipe

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSOCKSClientsSayWhereTheyWantToGo(t *testing.T) {
	for name, c := range map[string]struct {
		said, answered string
		host           string
		port           uint16
		fails          string
	}{
		"an address":      {said: "\x05\x01\x00\x05\x01\x00\x01\x0a\x00\x00\x07\x00\x50", answered: "\x05\x00\x05\x00", host: "10.0.0.7", port: 80},
		"a name":          {said: "\x05\x02\x02\x00\x05\x01\x00\x03\x03db1\x14\xeb", answered: "\x05\x00\x05\x00", host: "db1", port: 5355},
		"IPv6":            {said: "\x05\x01\x00\x05\x01\x00\x04\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x16", answered: "\x05\x00\x05\x00", host: "2001:db8::1", port: 22},
		"version 4":       {said: "\x04\x01\x00\x50\x0a\x00\x00\x07\x00", answered: "\x00\x5a\x00\x00", host: "10.0.0.7", port: 80},
		"a user":          {said: "\x04\x01\x14\xeb\x7f\x00\x00\x01me\x00", answered: "\x00\x5a\x00\x00", host: "127.0.0.1", port: 5355},
		"version 4a":      {said: "\x04\x01\x00\x50\x00\x00\x00\x01\x00db1\x00", answered: "\x00\x5a\x00\x00", host: "db1", port: 80},
		"4a of no name":   {said: "\x04\x01\x00\x50\x00\x00\x00\x01\x00\x00", fails: "does not speak"},
		"4 without port":  {said: "\x04\x01\x00\x00\x0a\x00\x00\x07\x00", fails: "does not speak"},
		"bind of 4":       {said: "\x04\x02\x00\x50\x0a\x00\x00\x07\x00", fails: "something else"},
		"an end of 4":     {said: "\x04\x01\x00\x50\x0a\x00\x00\x07me", fails: "does not speak"},
		"an endless user": {said: "\x04\x01\x00\x50\x0a\x00\x00\x07" + strings.Repeat("x", 300), fails: "does not speak"},
		"HTTP":            {said: "GET / HTTP/1.1\r\n\r\n", fails: "does not speak SOCKS 4 or 5"},
		"a password":      {said: "\x05\x01\x02", fails: "insists on a password"},
		"bind":            {said: "\x05\x01\x00\x05\x02\x00\x01\x0a\x00\x00\x07\x00\x50", fails: "something else"},
		"another address": {said: "\x05\x01\x00\x05\x01\x00\x09", fails: "does not speak"},
		"no port":         {said: "\x05\x01\x00\x05\x01\x00\x01\x0a\x00\x00\x07\x00\x00", fails: "does not speak"},
		"an empty name":   {said: "\x05\x01\x00\x05\x01\x00\x03\x00\x00\x50", fails: "does not speak"},
		"an end":          {said: "\x05\x01\x00\x05\x01", fails: "does not speak"},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			defer near.Close()
			heard := make(chan string)
			go func() { // what is answered must be read
				all, _ := io.ReadAll(near)
				heard <- string(all)
			}()
			go func() {
				_, _ = near.Write([]byte(c.said))
				if c.fails != "" {
					near.Close()
				}
			}()
			host, port, err := Socks(far)
			far.Close()
			answered := <-heard
			if c.fails != "" {
				assert.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.host, host)
			assert.Equal(t, c.port, port)
			assert.Equal(t, c.answered, answered[:len(c.answered)])
		})
	}
}

// A client of a forward on a host has no deadline of its own, and one that says nothing is not waited for.
func TestASOCKSClientThatSaysNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		began := time.Now()
		_, _, err := Socks(struct{ io.ReadWriteCloser }{far})
		assert.Error(t, err)
		assert.Equal(t, socksTime, time.Since(began))
		_, err = near.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF, "the connection is closed")
	})
}
