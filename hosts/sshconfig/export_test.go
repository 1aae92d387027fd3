package sshconfig

import "github.com/fairlead-ssh/fairlead/hosts"

// Doors for tests of the parts that every value passes through.
var (
	CutWord   = cutWord
	SplitArgs = splitArgs
	MatchList = matchList
	IsPlain   = isPlain
	Nameless  = nameless
)

// ParseLine parses one line without the library.
func ParseLine(s string) (key, raw string, args []string, ok bool) {
	l, ok, err := parseLine(s, hostsPos)
	return l.key, l.raw, l.args, ok && err == nil
}

// ParseWithLibrary parses one line the way files are parsed.
func ParseWithLibrary(s string) (key, raw string, args []string, ok bool) {
	var p problems
	lines := parse("f", []byte(s), &p)
	if len(lines) != 1 || p.list != nil {
		return "", "", nil, false
	}
	return lines[0].key, lines[0].raw, lines[0].args, true
}

var hostsPos = hosts.Pos{File: "f", Line: 1}
