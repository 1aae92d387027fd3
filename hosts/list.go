package hosts

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// list reads the name of a file that begins at offset at; start is where the part begins.
func (p *parser) list(start, at int) (expr, error) {
	name, err := p.quoted(at)
	switch {
	case err == nil:
		name = unquoteValue(name)
	case err == errNoQuote:
		name = p.plain(at)
	default:
		return nil, err
	}
	if name == "" {
		return nil, p.errorf(at, "the name of a file is missing")
	}
	return p.readHosts(start, name)
}

// readHosts turns a list into the names it holds.
func (p *parser) readHosts(start int, list string) (expr, error) {
	what := "standard input"
	if list != "-" {
		what = "file " + shorten(list)
	}
	if p.readList == nil {
		return nil, p.errorf(start, "%s: lists of hosts are read by the command line only; name the hosts instead", what)
	}
	data, err := p.readList(list)
	if err != nil {
		return nil, &ParseError{Column: 1 + utf8.RuneCountInString(p.text[:start]), Msg: "cannot read the list of hosts", Err: err}
	}
	names, err := parseList(list, data)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, p.errorf(start, "%s names no host", what)
	}
	if p.names += len(names); p.names > MaxExpand {
		return nil, p.errorf(start, "more than %d names", MaxExpand)
	}
	var pos []expr
	for _, word := range splitList(Fold(names)) {
		pat, _, err := parsePattern(word, nameRune)
		if err != nil {
			return nil, p.errorf(start, "%w", err)
		}
		pos = append(pos, newName(pat, pat.expand()))
	}
	if len(pos) == 1 {
		return pos[0], nil
	}
	return newUnion(pos, nil), nil
}

// parseList reads names and ranges, separated by spaces, commas or line ends. # begins a comment.
func parseList(file string, data []byte) ([]string, error) {
	var out []string
	line := 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line++
		text, _, _ = bytes.Cut(text, []byte("#"))
		for _, word := range splitList(string(text)) {
			for field := range strings.FieldsSeq(word) {
				names, _, err := expandWord(field, nameRune, MaxExpand-len(out))
				if err != nil {
					return nil, &ParseError{Pos: Pos{file, line}, Msg: err.Error()}
				}
				out = append(out, names...)
			}
		}
	}
	return out, nil
}
