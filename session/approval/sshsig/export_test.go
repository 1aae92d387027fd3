package sshsig

// Namespace is what the signature is for: it counts for nothing else.
func (s *Signature) Namespace() string { return s.namespace }

// Hash is how the message was hashed: SHA256 or SHA512.
func (s *Signature) Hash() string { return s.hash }
