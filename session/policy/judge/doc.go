// Package judge says what shell source would do before anything runs, by its syntax tree and never by its text.
//
// [Judge] parses the source in the language of the shell that will run it, walks every node and gives each command a
// class; the worst class of all parts is the class of the whole. What one call of a program means stands in the tables
// of package programs; this package knows the shell: words, expansions, redirects, assignments, builtins, pipelines and
// paths. A node, a builtin, an option or a byte that nobody thought of is Unknown, so a gap asks instead of allowing.
//
// Bytes that make a reader see another command than the shell are refused before parsing. CRLF counts as a newline:
// the caller must run the bytes that [Normalize] returns, because a shell takes a CR as part of a word and the judge
// does not.
//
// Judging runs nothing, opens nothing and looks nothing up on any host. It is bounded in size, depth and count; over a
// cap the class is at least Unknown, and what is forbidden in the part that was looked at stays forbidden.
package judge
