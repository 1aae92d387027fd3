// Package programs says what one call of a program means: whether it only looks, writes, or worse.
//
// What it knows stands in tables/*.txt, one file per family of programs. An option that no table lists makes a call
// [policy.Unknown], never a read. Programs that run other programs report them as [Nested], for the caller to judge in
// turn, and files as [Path]: which files are worth more than others is the caller's to know. The package runs nothing, reads
// nothing and keeps no state.
//
// # Tables
//
// A block begins at the margin with "program NAME…", where several programs share one only if their manuals agree.
// Everything that is known stands below it, indented by tabs; # begins a comment:
//
//	program head
//		from head(1), GNU coreutils 9.1
//		-# -c,--bytes=text -n,--lines=text -q,--quiet,--silent -v,--verbose
//		operands read...
//
// There are three more kinds of blocks: "set NAME" for use, "builtin NAME…" with the forms of a shell's builtin, for [Builtin],
// and "are KIND" with names of one kind, for [Is]; in that one, comments begin at the margin.
//
// Lines that begin with a dash list options, separated by spaces: NAMES[VALUE][!CLASS][^|>].
//
//	-a,--all             no value
//	-n,--lines=text      needs a value: glued, after "=", or the next word
//	--color?text         may have one: glued or after "="
//	-#                   digits: head -20
//	--set=text!write     CLASS, where it is more than a read
//	-e,--regexp=text^    takes the place of the first operand
//	-H,--host=text!unknown>
//	                     leads to another host, machine, root or service ([Finding].Leads)
//
// Kinds of values and operands: text (harmless whatever it says), pattern (the same, and surely no file: a regular expression or a
// script), read (a file read), stat (a file of which only attributes are shown), write (a file written), prefix (what the names of
// files written begin with), del (a file removed), host (a host that it connects to), url (of the web, likewise), shell (source that
// is run), cmd (the name of a program that is run), rest (a command from here on), away (the same, in a container), pair and pairread
// (two words, the second text or a file read).
//
// Classes: read secret net write unknown danger priv forbid; install is forbidden and has the rule [RulePackageInstall];
// endless is unknown, but for what timeout runs; recode is a read that writes what it reads in another spelling ([Finding].Recodes); for options, ask is unknown where it is written out, but changes
// nothing, so that a glob that grows into it does no harm.
//
// The other lines begin with a word:
//
//	from MANUAL          where it is known from: manual, program, version
//	class CLASS WHY      what the program is without any option; read where there is no such line
//	operands KIND…       each with an optional !CLASS; a trailing "..." repeats the last one; none without this line
//	form WORD…           the whole call is a read if it has this form. a|b are alternatives; * in a word stands for
//	                     anything and ? for any character; WORD is a literal operand, NAME one without blanks and
//	                     signs, PLAIN such a one without a slash, NUMBER digits, ARG any operand, FILE a file read, ANY any
//	                     word, -{abc} a cluster of these letters. [x] may be missing, x... be repeated.
//	ownform WORD…        the same, only where the session's own shell runs the program by its bare name, as a function of
//	                     [policy.AgentPrelude]
//	form!CLASS WORD…     the same, of that class. The first form that fits decides.
//	if CONDITION…: CLASS WHY
//	                     raises the class where all hold: -l|-x (one of these is given), !-l|-x (none is), -o=a|b* (a
//	                     value is one of these), -o!=a|b (is none), -o~a|b (an item of a list is), -o@RE (the whole
//	                     value fits a regular expression without blanks), -o!@RE (does not); the same for 1 (the first
//	                     operand), 2 to 9, any (an operand) and word (a word); operands, operands>1, none (no operands),
//	                     typed (somebody types into it), own (as for ownform, !own if not). CLASS=WHAT says what is written then: operands, last, or an option.
//	style WORD…          first: options end at the first operand; exact: long options may not be abbreviated; dashlong:
//	                     -name is a long option, there are no clusters; assign: NAME=VALUE is an option, listed as
//	                     -NAME; bundle: the first word is a cluster, with or without its dash; inherit: the options hold
//	                     for subcommands too, before and after them; pages: starts a pager where somebody watches;
//	                     bools: options without a value take =true and =false, in subcommands too;
//	                     dotless: no option holds a dot, so that a pattern for an extension, *.json, makes none;
//	                     words: options are not told from operands; open: a word that is not literal may be any option
//	                     or operand, which makes the program no worse than its class; connects: opens connections wherever it is no
//	                     read
//	env NAME…            variables that change what it does
//	sub NAME…            a subcommand; what is known of it stands below, indented once more
//	use SET              what stands below "set SET"
//	check NAME           a function of this package judges what a table cannot say
package programs

import "github.com/fairlead-ssh/fairlead/session/policy"

// Arg is one word of a call, after the parser expanded it.
type Arg struct {
	Text    string // after quote removal; for a word that isn't literal, the literal prefix that is certain ("" if none)
	Literal bool   // Text is the whole word, exactly; never with Glob or Split
	Glob    bool   // holds an unquoted pattern: may become several words, or stay itself
	Split   bool   // not literal and unquoted: may become no word, several words, and options
	Operand bool   // not literal, but one word that does not begin with a dash
	Source  string // as written
}

// Call is one simple command whose program is literal.
type Call struct {
	Name        string // bare name, "ls": the path is already checked and removed
	Args        []Arg
	Shell       string // "bash", "zsh", "mksh", "ksh", "dash", "ash", "sh" or "" (any)
	Stdin       string // "none" (/dev/null), "pipe", "file", "heredoc", or "" (the session's): what the program reads
	Sum         bool   // what it reads is a calculation that surely ends
	Identifiers bool   // each line that it reads is one word of letters, digits, _, -, . and /, which begins with one of the first two
	Interactive bool   // somebody will type into it while it runs
	Bounded     bool   // something else ends it soon: timeout
	Direct      bool   // the session's own shell runs it by this bare name, so that a function of that name takes its place
}

// Nested is something that a program would run: either Argv or Script is set.
type Nested struct {
	Argv    []Arg  // a command: its first word is a command word
	Script  []Arg  // shell source, its words joined by spaces
	Shell   string // the shell that reads Script; "" is any
	Remote  bool   // runs elsewhere: over ssh, in a container
	Bounded bool   // is ended soon: timeout
	Listed  bool   // words come from a file, and not through the pipe that the command reads
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
	Class   policy.Class
	Rule    string   // "programs/find": which table decided
	Reason  string   // one sentence; never holds more of the command than program and option names
	Nested  []Nested // to be judged in turn: the strictest counts
	Paths   []Path   // files that the call names; whether they hold secrets is the caller's question
	Texts   []Arg    // words that name no file, whatever they look like
	Trees   []Arg    // directories of which all may be shown, named or not
	To      []string // hosts that it connects to: IP addresses, and names in lower case; "" is one that is not certain
	Env     []string // variables that change what the program does; a trailing * makes it a prefix
	Leads   []string // options that lead it to another host, machine, root or service, each by its names
	Recodes bool     // writes what it reads in another spelling, so that nobody finds secrets in it
	Reads   bool     // its words may name files whose content it shows
	Known   bool     // false: no table knows the program
}
