package session

// ShellLives reports whether the session's shell does, as far as the session knows.
func (s *Session) ShellLives() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sh != nil && s.sh.alive()
}
