package programs

import "strings"

// counts says that a for loop surely ends: it counts a variable up or down to a bound, and nothing in it changes either. text
// begins at the parenthesis of its head.
func (s *awkScan) counts(text string) bool {
	head, after, _ := within(text, '(', ')')
	parts := strings.Split(head, ";")
	if len(parts) != 3 {
		return false
	}
	name, start, ok := strings.Cut(strings.TrimSpace(parts[0]), "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" || strings.Trim(name, identifier) != "" || !steady(start) {
		return false
	}
	cond, more, _ := strings.Cut(parts[1], "&&")
	rest, ok := strings.CutPrefix(strings.TrimSpace(cond), name)
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" || rest[0] != '<' && rest[0] != '>' || strings.Contains(parts[1], "||") || strings.Contains(parts[1], "?") {
		return false
	}
	bound := strings.TrimPrefix(rest[1:], "=")
	step := strings.ReplaceAll(strings.TrimSpace(parts[2]), " ", "")
	if up := step == name+"++" || step == "++"+name; !steady(bound) || up != (rest[0] == '<') || !up && step != name+"--" && step != "--"+name {
		return false
	}
	body := more + "\n" + loopBody(after)
	for own := range strings.FieldsSeq(s.own) {
		if mentionsWord(body, own) {
			return false
		}
	}
	if changesWord(body, name) {
		return false
	}
	for _, w := range strings.FieldsFunc(bound, func(r rune) bool { return !strings.ContainsRune(identifier, r) }) {
		if changesWord(body, w) || w == "NF" && changesFields(body, name) {
			return false
		}
	}
	return !strings.Contains(bound, "$") || !changesFields(body, "")
}

// steady knows what a loop may begin and end with: a number that is reached soon, a variable, the length of something.
func steady(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, identifier+" ()+-/$") != "" || strings.Contains(s, "++") || strings.Contains(s, "--") {
		return false
	}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !strings.ContainsRune(identifier, r) }) {
		if w[0] >= '0' && w[0] <= '9' && (len(w) > 7 || strings.Trim(w, digits) != "") {
			return false
		}
	}
	return true
}

// loopBody is what a loop repeats, or more of the program where that is not plain.
func loopBody(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(text, "{") {
		if body, _, ok := within(text, '{', '}'); ok {
			return body
		}
		return text
	}
	for _, w := range [...]string{"for", "if", "while", "do"} {
		if strings.HasPrefix(text, w) {
			return text
		}
	}
	if end := strings.IndexAny(text, ";\n}"); end >= 0 && strings.Count(text[:end], `"`)%2 == 0 && strings.Count(text[:end], "/")%2 == 0 {
		return text[:end]
	}
	return text
}

// within splits a text that begins with a bracket into what is within it and what follows. Where quotes or patterns make it
// doubtful where it closes, there is neither.
func within(text string, open, end byte) (inner, after string, ok bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			line, _, _ := strings.Cut(text[i+1:], "\n")
			if pattern, _, ok := strings.Cut(line, "/"); ok && strings.ContainsAny(pattern, `{}()"\[`) {
				return "", "", false
			}
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return text[1:i], text[i+1:], true
			}
		}
	}
	return "", "", false
}

// wordAt calls fn with what stands before and after each place where a text has a word, until it returns true.
func wordAt(text, w string, fn func(before, after string) bool) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], w)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(w)
		before, after := text[:i], text[from:]
		if i > 0 && strings.IndexByte(identifier, before[i-1]) >= 0 || after != "" && strings.IndexByte(identifier, after[0]) >= 0 {
			continue
		}
		if fn(strings.TrimRight(before, " \t"), strings.TrimLeft(after, " \t")) {
			return true
		}
	}
}

func mentionsWord(text, w string) bool {
	return wordAt(text, w, func(string, string) bool { return true })
}

// changesWord says that a text may give a variable another value.
func changesWord(text, w string) bool {
	return wordAt(text, w, func(before, after string) bool {
		if strings.HasSuffix(before, "$") {
			return false // a field that it numbers
		}
		return assigns(after) || strings.HasSuffix(before, "++") || strings.HasSuffix(before, "--") ||
			strings.HasPrefix(after, "in ") || strings.HasPrefix(after, "[") && w != "NF" || strings.HasSuffix(before, "getline") ||
			writesArgument(text) && strings.HasSuffix(before, ",") && (strings.HasPrefix(after, ")") || strings.HasPrefix(after, ","))
	})
}

// writesArgument says that a function in the text may change what it is given.
func writesArgument(text string) bool {
	return strings.Contains(text, "sub") || strings.Contains(text, "split") || strings.Contains(text, "match")
}

// assigns says that what stands before the text is assigned to.
func assigns(after string) bool {
	if strings.HasPrefix(after, "==") {
		return false
	}
	for _, op := range [...]string{"=", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**="} {
		if strings.HasPrefix(after, op) {
			return true
		}
	}
	return false
}

// changesFields says that a text may give the record another number of fields: it assigns to one that is not $name, or to all.
func changesFields(text, name string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			continue
		}
		rest, before := text[i+1:], strings.TrimRight(text[:i], " \t")
		n := len(rest) - len(strings.TrimLeft(rest, identifier))
		switch {
		case strings.HasSuffix(before, "++"), strings.HasSuffix(before, "--"):
			return true
		case strings.HasPrefix(rest, "/"): // the end of a pattern, or the number of a field that one says
			if _, after, ok := strings.Cut(rest[1:], "/"); ok && assigns(strings.TrimLeft(after, " \t")) {
				return true
			}
		case n == 0: // $(…), $$…
			if strings.Contains(rest, "=") || strings.Contains(rest, "++") || strings.Contains(rest, "--") {
				return true
			}
		case assigns(strings.TrimLeft(rest[n:], " \t")) && (rest[:n] != name || name == ""):
			return true
		}
	}
	subs := strings.Count(text, "sub(") + strings.Count(text, "sub (")
	return subs > 0 && (name == "" || strings.Count(text, "$"+name+")") < subs)
}
