package keeper

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/right"
)

// rightful is the answer to a request whose right may end meanwhile: what the right does not live to see is not told.
type rightful struct {
	http.ResponseWriter
	k     *Keeper
	use   context.Context
	begun bool // the header is out
	no    bool // and it is a refusal
}

// Unwrap is for http.ResponseController.
func (a *rightful) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader begins the answer, or says why there is none.
func (a *rightful) WriteHeader(status int) {
	p := access.Over(a.use)
	if p == nil || a.begun {
		a.begun = true
		a.ResponseWriter.WriteHeader(status)
		return
	}
	a.begun, a.no = true, true
	a.Header().Del("Content-Length")
	a.k.refuse(a.ResponseWriter, "identity", p)
}

// Write fails once the right has ended.
func (a *rightful) Write(p []byte) (int, error) {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
	if why := right.Why(a.use); why != "" {
		return 0, why
	}
	return a.ResponseWriter.Write(p)
}

// farewell tells the reader of a stream that its right has ended, where that is why the stream does.
func farewell(hc huma.Context) {
	r, w := humago.Unwrap(hc)
	a, ok := w.(*rightful)
	if p := access.Over(r.Context()); ok && p != nil && !a.no {
		s := &sse{w: a.ResponseWriter, rc: http.NewResponseController(w)}
		if s.send("problem", "", p) == nil {
			_ = s.flush()
		}
	}
}
