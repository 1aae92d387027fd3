package pipe

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFramesComeAsTheyWereSent(t *testing.T) {
	var b bytes.Buffer
	f := newFrames(&b, &b)
	large := bytes.Repeat([]byte{0, 1, 2}, chunk)
	require.NoError(t, f.write(frameEOF, nil))
	_, err := stream{f, frameOutput}.Write(large)
	require.NoError(t, err)
	kind, p, err := f.read(nil)
	require.NoError(t, err)
	assert.Equal(t, byte(frameEOF), kind)
	assert.Empty(t, p)
	var got []byte
	for len(got) < len(large) {
		kind, p, err = f.read(p)
		require.NoError(t, err)
		assert.Equal(t, byte(frameOutput), kind)
		got = append(got, p...)
	}
	assert.Equal(t, large, got)
	_, _, err = f.read(nil)
	assert.ErrorIs(t, err, io.EOF)

	b.Write([]byte{frameOutput, 0xff, 0, 0, 0})
	_, _, err = f.read(nil)
	assert.ErrorContains(t, err, "too large")
	b.Reset()
	b.Write([]byte{frameOutput, 0, 0, 0, 9, 'x'})
	_, _, err = f.read(nil)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// A client sends no more than there is room for, and all of it comes.
func TestStandardInputWaitsForRoom(t *testing.T) {
	near, far := net.Pipe()
	data := strings.Repeat("0123456789", 5*window/10)
	c := &Client{f: newFrames(near, near), hangUp: near.Close}
	c.more.L = &c.mu
	s := &Server{newFrames(far, far)}
	in := newInbox(s.f)
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(in)
		got <- all
		_ = s.f.writeJSON(frameEnd, End{Code: 3})
	}()
	heard := make(chan int)
	go func() {
		most := 0
		for {
			kind, p, err := s.f.read(nil)
			if err != nil {
				heard <- most
				return
			}
			if kind == frameEOF {
				in.end(false)
				continue
			}
			if err := in.put(p); err != nil {
				in.end(true)
			}
			in.mu.Lock()
			most = max(most, in.size)
			in.mu.Unlock()
		}
	}()
	copied := make(chan session.Exit)
	go func() {
		exit, err := c.Copy(strings.NewReader(data), io.Discard, io.Discard)
		assert.NoError(t, err)
		copied <- exit
	}()
	assert.Equal(t, data, string(<-got))
	assert.Equal(t, 3, (<-copied).Code)
	near.Close()
	assert.LessOrEqual(t, <-heard, window+chunk+window/4)
	far.Close()
}

func TestAnInboxThatIsOverfilledSaysSo(t *testing.T) {
	in := newInbox(newFrames(strings.NewReader(""), io.Discard))
	require.NoError(t, in.put(make([]byte, window)))
	require.NoError(t, in.put(make([]byte, maxFrame)))
	assert.ErrorIs(t, in.put([]byte{1}), errTooMuch)
	in.end(true)
	n, err := in.Read(make([]byte, 10))
	assert.Zero(t, n)
	assert.ErrorIs(t, err, io.EOF, "at once")
}

func TestAClientHearsWhyNothingWasBegun(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		s, r, err := Accept(far, far)
		if assert.NoError(t, err) && assert.Equal(t, "web1", r.Target) {
			_ = s.Refuse(&wire.Problem{Status: 403, Code: "denied", Detail: "no"})
		}
	}()
	_, err := NewClient(near, near, Request{Target: "web1", Ask: Ask{Line: "x"}})
	var p *wire.Problem
	require.ErrorAs(t, err, &p)
	assert.Equal(t, "denied", p.Code)

	for _, answer := range []string{"", "X", "P\x00\x00\x00\x01{", "O\x00\x00\x00\x00"} {
		var sink nopCloser
		_, err := NewClient(strings.NewReader(answer), &sink, Request{})
		assert.ErrorIs(t, err, ErrCutOff, "%q", answer)
	}
}

func TestAKeeperThatGoesAwayLeavesTheEndUnknown(t *testing.T) {
	var b bytes.Buffer
	f := newFrames(&b, &b)
	require.NoError(t, f.write(frameBegun, nil))
	require.NoError(t, f.write(frameOutput, []byte("half")))
	require.NoError(t, f.write(frameTaken, binary.BigEndian.AppendUint64(nil, 5)))
	c, err := NewClient(&b, &nopCloser{}, Request{})
	require.NoError(t, err)
	var out strings.Builder
	_, err = c.Copy(nil, &out, io.Discard)
	assert.ErrorIs(t, err, ErrCutOff)
	assert.Equal(t, "half", out.String())
}

type nopCloser struct{ bytes.Buffer }

func (*nopCloser) Close() error { return nil }

func TestAsksAreOneThing(t *testing.T) {
	for _, a := range []Ask{
		{Line: "x", Subsystem: "sftp"}, {Line: "x", Host: "h", Port: 1}, {Host: "h"}, {Port: 1}, {Subsystem: "sftp", Terminal: true}, {Line: "a\x00b"},
		{Line: "x", Env: make([]string, maxEnv+1)},
	} {
		assert.Error(t, a.Check(), "%+v", a)
	}
	for want, a := range map[string]Ask{
		"uptime": {Line: "uptime"}, "sftp-server": {Subsystem: "sftp"}, "nc '10.0.0.1' 22": {Host: "10.0.0.1", Port: 22}, `exec "$SHELL" -l`: {},
		`'it'\''s'`: {Subsystem: "it's"},
	} {
		assert.NoError(t, a.Check())
		assert.Equal(t, want, a.Script())
	}
	assert.True(t, Ask{}.Interactive())
	assert.True(t, Ask{Line: "top", Terminal: true}.Interactive())
	assert.False(t, Ask{Line: "ls"}.Interactive())
	for _, bad := range []string{"x", "x:", ":1", "x:0", "x:99999", "x:y"} {
		_, _, err := ParsePort(bad)
		assert.Error(t, err, bad)
	}
}
