package session

import (
	"context"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/internal/capture"
)

// tell fills in who and how, as far as the connection knows it.
func (p *Peer) tell(e *audit.Event) {
	e.Address, e.SSHUser, e.Key, e.HostKey = p.Addr, p.User, p.Key, p.HostKey
	e.CertID, e.CertSerial = p.CertID, p.CertSerial
}

// sumUp makes c add up its bytes, where a record will say what they were.
func (s *Session) sumUp(c *capture.Capture) {
	if _, nowhere := s.cfg.Audit.(audit.Discard); !nowhere {
		c.Sum()
	}
}

// outputs fills in what came of the streams, and keeps their beginnings and ends where Config.Outputs says so: text
// that was redacted, under the hash of that. What cannot be kept is told in the record; it never spoils a Result.
func (s *Session) outputs(e *audit.Event, x *Exec, r *Result) {
	e.StdoutBytes, e.StderrBytes = r.StdoutBytes, r.StderrBytes
	x.mu.Lock()
	e.StdoutSHA256, e.StderrSHA256 = x.out.Digest(), x.err.Digest()
	x.mu.Unlock()
	e.Omitted = audit.Omitted{Stdout: r.OmittedStdout, Stderr: r.OmittedStderr}
	stdout, stderr := r.Stdout, r.Stderr
	if x.aside {
		x.mu.Lock()
		stdout, _, e.Omitted.Stdout = x.out.Bytes()
		stderr, _, e.Omitted.Stderr = x.err.Bytes()
		x.mu.Unlock()
	}
	if s.cfg.Outputs == nil {
		return
	}
	for _, o := range []struct {
		data []byte
		kept *string
	}{{stdout, &e.StdoutKept}, {stderr, &e.StderrKept}} {
		if len(o.data) == 0 {
			continue
		}
		sum, err := s.cfg.Outputs.Put(context.Background(), []byte(s.cfg.Redact(string(o.data))))
		if err != nil {
			e.Error = audit.Fault{Code: "outputs", Message: err.Error()} // replaced by an error of the command itself
			return
		}
		*o.kept = sum
	}
}
