// Package hostcode turns files of shell, perl and python into the text that Fairlead sends to a host.
//
// The files are for people: long names, indentation, comments. What is sent has none of that, because every shell that
// starts pays for each byte. A file keeps to these rules, and [Shell] and [Perl] rely on them:
//
//   - A comment has a line of its own, in strings too. No other line begins with "#".
//   - No line needs the blanks that it begins with. Blank lines go.
//   - A line that ends in " \" and the next one are one line, joined by a single blank.
//   - A line "#= short long what it is" gives a name its short form: the word long is sent as short, wherever it stands.
//     No two long names of one text have the same short one.
//   - Values come in as @name@, which [Fill] replaces. A value is either safe as it stands, as the letters of a token or
//     the digits of a process id are, or a word that framing.Quote has made. Nothing else is put into such a text: no
//     fmt verb, no joined strings.
//   - A file that is a part of another one stands in it as @name@ on a line of its own; [Fill] puts it there before the
//     whole is stripped.
//   - In perl, "#" stands in no string, and "/" begins an expression with blanks or quotes in it only behind "=~".
//   - In python, lines begin with tabs, each statement has one line, and no string has three quotes, but for a
//     text of python that is filled in between them. [Python] keeps the tabs.
//
// Package hostcodetest has the tests that each such file passes.
package hostcode
