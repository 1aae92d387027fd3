package terminals

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

func TestWhoFollowsARecordingHearsOfAllThatIsShownAndOfItsEnd(t *testing.T) {
	isClosed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	r, _ := newRecording(t, MaxRecording)
	more := r.Changed()
	assert.False(t, isClosed(more))
	r.Input([]byte("x"))
	assert.False(t, isClosed(more), "what is typed shows nothing")
	r.Output([]byte("x"))
	assert.True(t, isClosed(more))
	more = r.Changed()
	r.Resize(session.Size{Rows: 6, Cols: 40})
	assert.True(t, isClosed(more))
	assert.False(t, isClosed(r.Done()))
	require.NoError(t, r.Close().Err)
	assert.True(t, isClosed(r.Done()))

	r, _ = newRecording(t, MaxRecording)
	r.Drop()
	assert.True(t, isClosed(r.Done()), "also where nothing came to it")
}
