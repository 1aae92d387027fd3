package stream

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/right"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Rightful is the answer to a request whose right may end meanwhile: what the right does not live to see is not told.
type Rightful struct {
	http.ResponseWriter
	refuse func(w http.ResponseWriter, reason string, p *wire.Problem)
	use    context.Context
	begun  bool // the header is out
	no     bool // and it is a refusal
}

// WhileRightful returns the answer w to a request with a right that ends with use.
func WhileRightful(use context.Context, w http.ResponseWriter, refuse func(w http.ResponseWriter, reason string, p *wire.Problem)) http.ResponseWriter {
	return &Rightful{ResponseWriter: w, refuse: refuse, use: use}
}

// Unwrap is for http.ResponseController.
func (a *Rightful) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader begins the answer, or says why there is none.
func (a *Rightful) WriteHeader(status int) {
	p := access.Over(a.use)
	if p == nil || a.begun {
		a.begun = true
		a.ResponseWriter.WriteHeader(status)
		return
	}
	a.begun, a.no = true, true
	a.Header().Del("Content-Length")
	a.refuse(a.ResponseWriter, "identity", p)
}

// Write fails once the right has ended.
func (a *Rightful) Write(p []byte) (int, error) {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
	if why := right.Why(a.use); why != "" {
		return 0, why
	}
	return a.ResponseWriter.Write(p)
}

// Farewell tells the reader of a stream that its right has ended, where that is why the stream does.
func Farewell(hc huma.Context) {
	r, w := humago.Unwrap(hc)
	a, ok := w.(*Rightful)
	if p := access.Over(r.Context()); ok && p != nil && !a.no {
		s := &Events{w: a.ResponseWriter, rc: http.NewResponseController(w)}
		if s.Send("problem", "", p) == nil {
			_ = s.Flush()
		}
	}
}
