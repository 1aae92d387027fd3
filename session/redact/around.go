package redact

import "bytes"

// What stands around a name, looked at byte by byte: it tells where an expression need not be tried, at places of which a
// text may be full.

func blank(c byte) bool { return c == ' ' || c == '\t' }

func quote(c byte) bool { return c == '"' || c == '\'' }

// skip returns the first position from i on whose byte is not in set.
func skip(b []byte, i int, set string) int {
next:
	for ; i < len(b); i++ {
		for k := range len(set) {
			if b[i] == set[k] {
				continue next
			}
		}
		break
	}
	return i
}

// quoteAt returns the position after a quote at b[i], with a backslash before it or without, or i.
func quoteAt(b []byte, i int) int {
	n := i
	if n < len(b) && b[n] == '\\' {
		n++
	}
	if n < len(b) && quote(b[n]) {
		return n + 1
	}
	return i
}

// wordStart returns where the word begins that ends b.
func wordStart(b []byte) int {
	i := len(b)
	for i > 0 && tokenBytes[b[i-1]] {
		i--
	}
	return i
}

// colon returns what comes after the colon, or equals sign, that follows a name and a quote.
func colon(win []byte, name int) (rest []byte, ok bool) {
	if name < len(win) && quote(win[name]) {
		name++
	}
	name = skip(win, name, " \t")
	if name < len(win) && (win[name] == ':' || win[name] == '=') {
		return win[name+1:], true
	}
	return nil, false
}

// blockOpens reports whether a line ends a little after the name, with what begins a block of YAML.
func blockOpens(_, win []byte, name int) bool {
	if len(win)-name > 40 {
		return false
	}
	rest, ok := colon(win, name)
	return ok && bytes.ContainsAny(rest, "|>")
}

// colonEnds reports whether a line ends with a colon, or an equals sign, a little after the name.
func colonEnds(_, win []byte, name int) bool {
	if len(win)-name > 40 {
		return false
	}
	rest, ok := colon(win, name)
	if i := skip(rest, 0, " \t"); ok && i > 0 && i < len(rest) && (rest[i] == '&' || rest[i] == '!') {
		return true // a property of YAML, maybe
	}
	return ok && skip(rest, 0, " \t\r\\") == len(rest)
}

// loginEnds reports whether one word follows a keyword and a blank, and ends the line.
func loginEnds(_, win []byte, name int) bool {
	i := skip(win, name, " \t")
	for i < len(win) && !blank(win[i]) {
		i++
	}
	return skip(win, i, " \t\r") == len(win)
}

// inTag reports whether before ends within a tag.
func inTag(before []byte) bool {
	i := bytes.LastIndexByte(before, '<')
	if i < 0 {
		return false
	}
	rest := before[i+1:]
	return (len(rest) == 0 || rest[0] != '/') && bytes.IndexByte(rest, '>') < 0 && bytes.IndexByte(rest, '\n') < 0
}

// tagged reports whether before ends with a word in an element that is for names.
func tagged(before []byte) bool {
	before = before[:wordStart(before)]
	return bytes.HasSuffix(before, []byte("<key>")) || bytes.HasSuffix(before, []byte("<name>"))
}

// tagEnd returns what comes after the tag that a name at the start of win is in.
func tagEnd(win []byte, name int) (rest []byte, ok bool) {
	if name < len(win) && quote(win[name]) {
		name++
	}
	if name == len(win) || win[name] != '>' && !blank(win[name]) {
		return nil, false
	}
	i := bytes.IndexAny(win[name:], "<>")
	if i < 0 || win[name+i] == '<' {
		return nil, false
	}
	return win[name+i+1:], true
}

func tagEnds(before, win []byte, name int) bool {
	if !inTag(before) {
		return false
	}
	_, ok := tagEnd(win, name)
	return ok
}

// lastTag reports whether the tag that a name is in, or the one that closes its element, ends the line.
func lastTag(before, win []byte, name int) bool {
	if !inTag(before) && !tagged(before) {
		return false
	}
	rest, ok := tagEnd(win, name)
	if bytes.HasPrefix(win[name:], []byte("<")) {
		_, rest, ok = bytes.Cut(win[name:], []byte(">"))
	}
	return ok && skip(rest, 0, " \t\r") == len(rest)
}

func tagCloses(before, win []byte, name int) bool {
	return bytes.HasPrefix(win[name:], []byte("</")) && (inTag(before) || tagged(before))
}

// inAttribute reports whether a name ends an attribute of a tag.
func inAttribute(before, win []byte, name int) bool {
	return name+1 < len(win) && quote(win[name]) && blank(win[name+1]) && (inTag(before) || tagged(before))
}

// isName reports whether before says that a name follows, as name: does.
func isName(before []byte) bool {
	b := before[:wordStart(before)]
	cut := func() {
		if n := len(b); n > 0 && quote(b[n-1]) {
			b = b[:n-1]
			if n > 1 && b[n-2] == '\\' {
				b = b[:n-2]
			}
		}
	}
	cut()
	b = bytes.TrimRight(b, " \t")
	if n := len(b); n == 0 || b[n-1] != ':' && b[n-1] != '=' {
		return false
	}
	b = bytes.TrimRight(b[:len(b)-1], " \t")
	if n := len(b); n > 0 && quote(b[n-1]) {
		b = b[:n-1]
	}
	b = bytes.TrimSuffix(b, []byte("\\"))
	for _, word := range []string{"name", "parameterkey", "key", "variable"} {
		if n := len(b) - len(word); n >= 0 && foldedPrefix(b[n:], []byte(word)) && (n == 0 || !letter(b[n-1])) {
			return true
		}
	}
	return false
}

func letter(c byte) bool { return lower(c) >= 'a' && lower(c) <= 'z' }

// braceEnds reports whether a quote and a brace end the line after a name.
func braceEnds(_, win []byte, name int) bool {
	if name == len(win) || win[name] != '"' {
		return false
	}
	i := skip(win, name+1, " \t")
	return i < len(win) && win[i] == '{' && skip(win, i+1, " \t\r") == len(win)
}

// pairName reports whether a name is the first string of a pair of a name and a value.
func pairName(before, win []byte, name int) bool {
	i := quoteAt(win, name)
	if i == name {
		return false
	}
	i = skip(win, i, " \t")
	return i < len(win) && win[i] == ',' && isName(before)
}

// lastName reports whether a line ends with a name of something whose value follows.
func lastName(before, win []byte, name int) bool {
	if name < len(win) && quote(win[name]) {
		name++
	}
	if name < len(win) && win[name] == ',' {
		name++
	}
	return skip(win, name, " \t\r") == len(win) && isName(before)
}

// quoted returns what comes after the string that follows a name after blanks, and after more blanks.
func quoted(win []byte, name int) (rest []byte, ok bool) {
	i := skip(win, name, " \t")
	if i == name || i == len(win) || !quote(win[i]) {
		return nil, false
	}
	text, rest, ok := bytes.Cut(win[i+1:], win[i:i+1])
	return rest[skip(rest, 0, " \t"):], ok && len(text) >= 3
}

// quotedAlone reports whether a string follows a name, and nothing more on their line.
func quotedAlone(before, win []byte, name int) bool {
	rest, ok := quoted(win, name)
	rest = bytes.TrimPrefix(rest, []byte(";"))
	rest = rest[skip(rest, 0, " \t\r"):]
	return ok && (len(rest) == 0 || rest[0] == '#' || rest[0] == '}') && (inBraces(before) || ownLine(linePrefix(before)))
}

// quotedInBraces reports whether a string and a semicolon follow a name.
func quotedInBraces(before, win []byte, name int) bool {
	rest, ok := quoted(win, name)
	return ok && bytes.HasPrefix(rest, []byte(";")) && inBraces(before)
}

// inBraces reports whether the word that ends before begins a statement.
func inBraces(before []byte) bool {
	b := bytes.TrimRight(before[:wordStart(before)], " \t")
	return len(b) > 0 && (b[len(b)-1] == ';' || b[len(b)-1] == '{')
}

// ownLine reports whether a line begins with the word that ends it, or with little before that.
func ownLine(line []byte) bool {
	head := bytes.TrimLeft(line[:wordStart(line)], " \t")
	if len(head) == 0 {
		return true
	}
	word := bytes.TrimRight(head, " \t")
	switch blanks := head[len(word):]; string(word) {
	case "-", ":":
		return len(blanks) > 0 && blanks[0] == ' '
	case "enable", "set":
		return true
	}
	return false
}

// lastWords reports whether so few words follow on the line that they may be all of a password and what goes with it.
func lastWords(_, win []byte, _ int) bool {
	i, words := 0, 0
	for ; i < len(win); words++ {
		if words == 4 {
			return false
		}
		for i < len(win) && !blank(win[i]) {
			i++
		}
		i = skip(win, i, " \t\r")
	}
	return true
}

// mappingAfter reports whether nothing follows the first bytes of a line, or little that goes before the pairs of a mapping.
func mappingAfter(n int) func(_, win []byte, _ int) bool {
	return func(_, win []byte, _ int) bool {
		if n > len(win) {
			return false
		}
		i := skip(win, n, " \t\r")
		return i == len(win) || win[i] == '&' || win[i] == '{' && skip(win, i+1, " \t\r") == len(win)
	}
}

// inObject reports whether a word of JSON that before begins is data or stringData.
func inObject(before, _ []byte, _ int) bool {
	if n := len(before) - len("string"); n >= 0 && string(before[n:]) == "string" {
		before = before[:n]
	}
	n := len(before)
	if n == 0 || before[n-1] != '"' {
		return false
	}
	if n--; n > 0 && before[n-1] == '\\' {
		n--
	}
	return n == 0 || bytes.IndexByte([]byte(" \t\n\f\r{,"), before[n-1]) >= 0
}

// pendingWord returns how much of the end of data, and of what precedes it, may be a password that a keyword follows, as
// in name:password@tcp(host).
func (x *pattern) pendingWord(data []byte) int {
	after := 0 // the first colon of the word
	for n := range lookback {
		var c byte
		switch {
		case n < len(data):
			c = data[len(data)-1-n]
		case n-len(data) < len(x.look):
			c = x.look[len(x.look)-1-(n-len(data))]
		default:
			return after
		}
		if !wordOfDSN[c] {
			return after
		}
		if c == ':' {
			after = n
		}
	}
	return after
}

// before returns up to lookback bytes that precede data[i].
func (x *pattern) before(data []byte, i int) []byte {
	if i >= lookback || len(x.look) == 0 {
		return data[max(0, i-lookback):i]
	}
	n := min(len(x.look), lookback-i)
	x.ahead.past = append(append(x.ahead.past[:0], x.look[len(x.look)-n:]...), data[:i]...)
	return x.ahead.past
}
