package approval_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

// answers is a server that gives each operation its line, others that of "", and hangs up where there is none.
func answers(t *testing.T, path string, says map[string]string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(c).ReadString('\n')
			var req struct{ Op string }
			_ = json.Unmarshal([]byte(line), &req)
			said, ok := says[req.Op]
			if !ok {
				said, ok = says[""]
			}
			if ok {
				_, _ = io.WriteString(c, said+"\n")
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
}

// A server that gives no answer is no refusal: the others are asked, and what one of them says counts.
func TestAServerThatHangsUpSpeaksForNobody(t *testing.T) {
	dir := place(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	p := approval.Pending{ID: "a_1", Question: question("agent/x")}
	document, err := json.Marshal(map[string]any{"document": p.Document()})
	require.NoError(t, err)
	answers(t, filepath.Join(dir, "1.sock"), nil)
	answers(t, filepath.Join(dir, "2.sock"), map[string]string{"list": "{}", "show": string(document)})
	got, err := dial(t, dir).Get(t.Context(), p.ID)
	require.NoError(t, err)
	assert.Equal(t, p.Digest(), got.Digest())
}

// Why something is not shown is said by who refuses it, also where another could not list what it has.
func TestARefusalIsNotHiddenByAListThatFails(t *testing.T) {
	dir := place(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	answers(t, filepath.Join(dir, "1.sock"), map[string]string{"show": `{"error":{"code":"forbidden","message":"go away"}}`})
	_, err := dial(t, dir).Get(t.Context(), "a_1")
	require.ErrorIs(t, err, approval.ErrForbidden)
	assert.NotContains(t, err.Error(), "has not answered")
}

// Whoever gives up hears that they did, not of a deadline of the connection.
func TestWhoGivesUpHearsThat(t *testing.T) {
	dir := place(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	mute, err := net.Listen("unix", filepath.Join(dir, "1.sock"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := mute.Accept()
			if err != nil {
				return
			}
			if line, _ := bufio.NewReader(c).ReadString('\n'); line != "" {
				cancel()
			}
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	err = dial(t, dir).Answer(ctx, approval.Response{ID: "a_1", Approved: true})
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	mute.Close()
	<-done
}
