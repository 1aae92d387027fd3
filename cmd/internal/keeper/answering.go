package keeper

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
)

// Bounds of answers.
const (
	readTime = 2 * time.Minute                                   // for a caller to read an answer, from its first byte
	waitTime = route.BeforeSending + route.MaxWait + time.Minute // for what the server writes itself, after the longest request
)

// answer gives its caller time to read it from when it begins, however long the request took before. A handler that bounds
// its writes itself, as streams do, sets the deadline here and keeps it.
type answer struct {
	http.ResponseWriter
	rc     *http.ResponseController
	within time.Duration
	begun  atomic.Bool // or the handler has set a deadline
}

func newAnswer(w http.ResponseWriter, within time.Duration) *answer {
	return &answer{ResponseWriter: w, rc: http.NewResponseController(w), within: within}
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// SetWriteDeadline is found by http.ResponseController.
func (a *answer) SetWriteDeadline(t time.Time) error {
	a.begun.Store(true)
	return a.rc.SetWriteDeadline(t)
}

func (a *answer) begin() {
	if !a.begun.Swap(true) {
		_ = a.rc.SetWriteDeadline(time.Now().Add(a.within))
	}
}

func (a *answer) WriteHeader(status int) {
	a.begin()
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(p)
}
