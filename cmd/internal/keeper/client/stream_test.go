package client

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEventsAreReadHoweverTheyArrive(t *testing.T) {
	const text = ": \n\nevent: output\nid: 3-0\ndata: {\"a\":1}\n\nid: x\n\nevent: result\r\ndata:one\r\ndata: two\r\n\r\ndata: cut off\n"
	for name, deliver := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "half": iotest.HalfReader, "eof": iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			r := newEventReader(deliver(strings.NewReader(text)))
			e, err := r.next()
			require.NoError(t, err)
			assert.Equal(t, event{kind: "output", id: "3-0", data: []byte(`{"a":1}`)}, e)
			e, err = r.next()
			require.NoError(t, err)
			assert.Equal(t, event{kind: "result", data: []byte("one\ntwo")}, e)
			_, err = r.next()
			assert.ErrorIs(t, err, io.EOF, "what is cut off is none")
		})
	}
}

// Bytes from a socket never panic, and one event is never more than its bound.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: output\nid: 1-2\ndata: {}\n\n"))
	f.Add([]byte("data\n\n\n:\n"))
	f.Add([]byte("data: \xff\x00\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := newEventReader(bytes.NewReader(in))
		for range len(in) + 1 {
			e, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) && len(in) < 64<<10 {
					t.Fatal(err)
				}
				return
			}
			if e.data == nil || len(e.data) > maxEvent {
				t.Fatalf("an event of %d bytes", len(e.data))
			}
		}
		t.Fatal("more events than bytes")
	})
}
