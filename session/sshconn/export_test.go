package sshconn

// Waiting returns how many dials hold or wait for a jump host.
func Waiting(d *Dialer) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, j := range d.jumps {
		n += j.refs
	}
	return n
}
