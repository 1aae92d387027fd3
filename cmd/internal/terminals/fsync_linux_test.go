package terminals

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
)

// The audit log names a recording by its hash: it is on the disk before that.
func TestARecordingIsOnTheDiskWhenItIsClosed(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		r, err := StartRecording(dir+"/recordings", "x.cast", MaxRecording, session.Size{Rows: 5, Cols: 40}, screen.CastHeader{}, nil)
		if err != nil {
			panic(err)
		}
		r.Output([]byte("hello"))
		if rec := r.Close(); rec.Err != nil {
			panic(rec.Err)
		}
		straced.Mark("closed")
	})
	tr.Between(t, "", "closed").Synced(t, dir+"/recordings/x.cast")
}
