package framing

// Dialect is the family of shell that a frame is written for.
type Dialect uint8

// The dialects. The zero Dialect is written so that any POSIX shell reads it.
const (
	POSIX Dialect = iota // dash, busybox ash, any other sh
	Bash                 // GNU bash
	Zsh                  // zsh
	Mksh                 // the MirBSD Korn shell: printf is not a builtin there
	Ksh93                // AT&T's Korn shell
)

// String returns the dialect's name as product documents and inventories use it.
func (d Dialect) String() string {
	switch d {
	case Bash:
		return "bash"
	case Zsh:
		return "zsh"
	case Mksh, Ksh93:
		return "ksh"
	default:
		return "sh"
	}
}

// controlEscape reports whether the dialect reads $'\003'. The others get a command substitution, which costs a
// process: only commands that hold control bytes pay for it.
func (d Dialect) controlEscape() bool { return d != POSIX }

// builtin returns the word that keeps functions of the command's from standing in for builtins.
func (d Dialect) builtin() string {
	if d == Bash || d == Zsh {
		return "builtin"
	}
	return "command"
}
