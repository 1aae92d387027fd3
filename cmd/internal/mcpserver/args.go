package mcpserver

import (
	"fmt"
	"math"
	"time"

	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// Times.
const (
	defaultWait    = 25 * time.Second
	maxWait        = 50 * time.Second // clients give up after a minute
	defaultTimeout = rules.AgentTimeout
	maxTimeout     = 30 * 24 * time.Hour
)

// Bytes of output in one answer.
const (
	defaultBytes = 8 << 10  // of each stream
	callBytes    = 32 << 10 // of all streams and hosts together
	leastBytes   = 200      // of a stream, however many hosts there are
)

// outputArgs is the argument output.
type outputArgs struct {
	Head     int    `json:"head,omitempty" jsonschema:"first lines"`
	Tail     int    `json:"tail,omitempty" jsonschema:"last lines"`
	Grep     string `json:"grep,omitempty" jsonschema:"RE2; filters stdout, never stderr"`
	MaxBytes int    `json:"max_bytes,omitempty" jsonschema:"per stream (default 8192)"`
}

// budget checks what is wanted of a stream. limit, if not zero, is what the principal may have.
func (o *outputArgs) budget(limit int64, red redactor) (output.Budget, error) {
	b := output.Budget{MaxBytes: defaultBytes, Shown: red.line}
	if o != nil {
		b.Head, b.Tail, b.Grep = o.Head, o.Tail, o.Grep
		if o.MaxBytes != 0 {
			b.MaxBytes = min(o.MaxBytes, callBytes)
		}
	}
	if b.MaxBytes < 0 {
		return b, invalid("output.max_bytes must not be negative")
	}
	if limit > 0 {
		b.MaxBytes = int(min(int64(b.MaxBytes), limit))
	}
	if err := b.Validate(); err != nil {
		return b, invalid("%w", err)
	}
	return b, nil
}

// budgets shares a call's bytes between the two streams of a command, standard output last, so that it gets what standard
// error leaves.
func budgets(b output.Budget) registry.Budgets {
	err := b
	err.Grep = "" // what failed is never hidden
	err.MaxBytes = min(b.MaxBytes, callBytes/2)
	return registry.Budgets{Stdout: b, Stderr: err}
}

// seconds reads a time in seconds; nil means def.
func seconds(name string, s *float64, def, most time.Duration) (time.Duration, error) {
	switch {
	case s == nil:
		return def, nil
	case math.IsNaN(*s) || *s < 0:
		return 0, invalid("%s must not be negative", name)
	case *s > most.Seconds():
		return most, nil
	}
	return time.Duration(*s * float64(time.Second)), nil
}

func waitTime(s *float64) (time.Duration, error) { return seconds("wait_s", s, defaultWait, maxWait) }

func (s *Server) timeout(t *float64) (time.Duration, error) {
	d, err := seconds("timeout_s", t, defaultTimeout, maxTimeout)
	if err == nil && d == 0 {
		err = invalid("timeout_s must be more than zero")
	}
	return s.cfg.Limits().Timeout(d), err
}

// callError is an error of ours, with its code.
type callError struct {
	code      string
	retriable bool
	next      string // what to call next
	err       error
}

func (e *callError) Error() string { return e.err.Error() }
func (e *callError) Unwrap() error { return e.err }

func invalid(format string, args ...any) error {
	return &callError{code: registry.CodeInvalid, err: fmt.Errorf(format, args...)}
}

func denied(format string, args ...any) error {
	return &callError{code: "denied", err: fmt.Errorf(format, args...)}
}
