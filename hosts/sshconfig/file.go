package sshconfig

import (
	"bytes"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// line is one directive.
type line struct {
	key  string   // lower case
	name string   // the keyword as written
	raw  string   // everything after the keyword, as written
	args []string // raw split into words, without a comment
	pos  hosts.Pos
	incl []*file // for Include: what it named, in order
}

// file is one configuration file, parsed but not evaluated.
type file struct {
	path   string
	system bool // relative includes are looked up beside the system file
	lines  []line
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse splits data into directives. It reports every broken line.
func parse(path string, data []byte, p *problems) []line {
	data = bytes.TrimPrefix(data, byteOrderMark)
	var (
		out  []line
		body []bodyLine // plain lines since the last Host, Match or Include
	)
	flush := func() {
		decodePlain(body, out, p)
		body = body[:0]
	}
	for n := 1; len(data) > 0; n++ {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		pos := hosts.Pos{File: path, Line: n}
		s := strings.TrimRight(string(text), space+"\f")
		if strings.IndexByte(s, 0) >= 0 {
			p.add(errorAt(pos, "the line holds a NUL byte; this is not a text file"))
			continue
		}
		if isPlain(s) && !opensBlock(s) { // the library's
			out = append(out, line{pos: pos})
			body = append(body, bodyLine{text: s, index: len(out) - 1})
			continue
		}
		l, ok, err := parseLine(s, pos)
		if err != nil {
			p.add(err)
		}
		if err != nil || !ok {
			continue
		}
		out = append(out, l)
		if opensBlock(s) {
			flush()
		}
	}
	flush()
	return out
}

// opensBlock reports whether the keyword of a line is one that the library and OpenSSH read differently.
func opensBlock(s string) bool {
	key, rest, closed := cutWord(s)
	if closed && key == "" {
		key, _, _ = cutWord(rest)
	}
	switch lower(key) {
	case "host", "match", "include":
		return true
	}
	return false
}

// parseLine parses one line without its end. ok is false for an empty line or a comment.
func parseLine(s string, pos hosts.Pos) (l line, ok bool, err error) {
	key, rest, closed := cutWord(s)
	if closed && key == "" {
		key, rest, closed = cutWord(rest) // leading blanks
	}
	if !closed {
		return l, false, errorAt(pos, "a double quote is not closed")
	}
	if key == "" || key[0] == '#' {
		return l, false, nil
	}
	l = line{key: lower(key), name: key, raw: strings.TrimLeft(rest, space), pos: pos}
	if l.raw == "" {
		return l, false, errorAt(pos, "%s has no value", key)
	}
	if l.args, closed = splitArgs(l.raw); !closed {
		return l, false, errorAt(pos, "a quote in the value of %s is not closed", key)
	}
	return l, true, nil
}
