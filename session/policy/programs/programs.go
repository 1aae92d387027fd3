// Package programs says what one call of a program means: whether it only looks, writes, or worse.
//
// What it knows stands in tables, one file per family of programs, with exact option lists: an option that no table
// lists makes a call [policy.Unknown], never a read. Programs that run other programs report them as [Nested], for
// the caller to judge in turn. The package runs nothing, reads nothing and keeps no state.
package programs

import "github.com/fairlead-ssh/fairlead/session/policy"

// Arg is one word of a call, after the parser expanded it.
type Arg struct {
	Text    string // after quote removal; for a word that isn't literal, the literal prefix that is certain ("" if none)
	Literal bool   // Text is the whole word, exactly
	Glob    bool   // holds an unquoted pattern: may become several words, or stay itself
	Split   bool   // not literal and unquoted: may become no word, several words, and options
	Source  string // as written
}

// Call is one simple command whose program is literal.
type Call struct {
	Name        string // bare name, "ls": the path is already checked and removed
	Args        []Arg
	Shell       string // "bash", "zsh", "mksh", "ksh", "dash", "ash", "sh" or "" (any)
	Stdin       string // "none" (/dev/null), "pipe", "file", "heredoc", or "" (the session's): what the program reads
	Interactive bool   // somebody will type into it while it runs
}

// Nested is something that a program would run: either Argv or Script is set.
type Nested struct {
	Argv   []Arg  // a command: its first word is a command word
	Script []Arg  // shell source, its words joined by spaces
	Shell  string // the shell that reads Script; "" is any
	Remote bool   // runs elsewhere: over ssh, in a container
}

// Path is an operand or option value that names a file.
type Path struct {
	Arg    Arg
	Write  bool // created or changed
	Delete bool // removed, or moved away
	Stat   bool // only name, attributes, size or kind are shown, not what the file holds
}

// Finding is what a call means. The zero Finding is of class "", which counts as [policy.Unknown].
type Finding struct {
	Class  policy.Class
	Rule   string   // "programs/find": which table decided
	Reason string   // one sentence; never holds more of the command than program and option names
	Nested []Nested // to be judged in turn: the strictest counts
	Paths  []Path   // files that the call names; whether they hold secrets is the caller's question
	Env    []string // variables that change what the program does; a trailing * makes it a prefix
	Known  bool     // false: no table knows the program
}
