package framing

// NewDecoder returns a decoder as Startup does, for a shell with known tokens. errorMarks says that its reader of
// standard error is a process of its own (hexdump, lines).
func NewDecoder(shell, nonce Token, errorMarks bool) *Decoder {
	return newDecoder(Hello{token: shell, errorMarks: errorMarks}, nonce)
}

// ShellToken returns the token that the supervisor made.
func ShellToken(h Hello) Token { return h.token }

// MarkLen is how much of a stream a decoder may hold back.
const MarkLen = markLen

// Driver returns the program of the shell.
func Driver(nonce Token) string { return withMarks(driverText(), nonce) }
