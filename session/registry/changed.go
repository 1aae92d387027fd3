package registry

// Changed returns a channel that is closed with the next output or soon after the end. Whoever follows a command asks for
// it before looking at what is there, so that nothing comes in between. See also Done.
func (x *Exec) Changed() <-chan struct{} {
	more, _ := x.changed()
	return more
}
