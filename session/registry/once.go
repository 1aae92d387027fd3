package registry

// Once opens a session that is not listed, for a caller's few commands on a host. It starts nothing: the shell comes with the
// first command, in the account's home directory. Finish ends it. Errors are *session.Error.
func (r *Registry) Once(req OpenRequest) (*Entry, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	return r.add(req, true)
}

// Finish closes the session once the command that runs in it has ended, and does not wait for that.
func (e *Entry) Finish() {
	r := e.r
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return // Close closes it
	}
	r.wg.Add(1)
	r.mu.Unlock()
	x := e.Current()
	go func() {
		defer r.wg.Done()
		if x != nil {
			<-x.done
		}
		e.close("its work is done")
	}()
}
