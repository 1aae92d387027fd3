package terminal

import (
	"time"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// veilSilence is how long a terminal is silent before what redaction holds back of it is shown as far as may be: whoever
// types waits for the echo.
const veilSilence = 20 * time.Millisecond

// veil shows a terminal without its secrets, to a reader that must not see them.
type veil struct {
	red   *redact.Writer
	quiet *time.Timer
}

func newVeil(set *redact.Set, send sender) *veil {
	v := &veil{red: set.Writer(send, redact.Guarded)}
	v.quiet = time.AfterFunc(veilSilence, func() { _ = v.red.Flush() }) // where that fails, so does the next write
	return v
}

// write takes what the terminal shows next.
func (v *veil) write(p []byte) error {
	_, err := v.red.Write(p)
	v.quiet.Reset(veilSilence)
	return err
}

// close sends what is left. Nothing is sent after.
func (v *veil) close() {
	v.quiet.Stop()
	_ = v.red.Close()
}

// sender sends bytes to a client.
type sender func(p []byte) error

func (s sender) Write(p []byte) (int, error) {
	if err := s(p); err != nil {
		return 0, err
	}
	return len(p), nil
}
