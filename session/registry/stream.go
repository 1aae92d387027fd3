package registry

import (
	"io"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// stream takes what a command prints on one of its outputs: secrets out, the rest into the spool and onto the screen.
type stream struct {
	x     *Exec
	spool *output.Spool
	red   *redact.Writer
}

func newStream(x *Exec, live io.Writer) *stream {
	cfg := &x.e.r.cfg
	s := &stream{x: x, spool: output.NewSpool(cfg.Spool)}
	var w io.Writer = s.spool
	if x.screen != nil {
		w = io.MultiWriter(s.spool, x.screen)
	}
	if live != nil {
		w = io.MultiWriter(w, deaf{live, x.known})
	}
	s.red = cfg.Secrets.Writer(w, cfg.Audience)
	return s
}

// deaf is a writer whose errors are its own business. It is written to once the command is known to whoever asks: it may
// print before Start has returned.
type deaf struct {
	w     io.Writer
	known <-chan struct{}
}

func (d deaf) Write(p []byte) (int, error) {
	<-d.known
	d.w.Write(p)
	return len(p), nil
}

// Write never fails: a command must not be told that nobody keeps its output.
func (s *stream) Write(p []byte) (int, error) {
	s.red.Write(p)
	s.x.wrote()
	return len(p), nil
}

// finish passes on what is held back: nothing more will come.
func (s *stream) finish() {
	s.red.Close()
	s.spool.Finish()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
