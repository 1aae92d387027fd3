package hosts

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// longestHabit bounds the selectors for which another way to write them is looked for, in bytes.
const longestHabit = 256

var (
	// habitWord is a word that is an operator elsewhere.
	habitWord = lazyregexp.New(`(?i)(^|\s)(and not|and|or|not|&&|\|\||-)\s+`)
	// habitRange is a range as Ansible, shells and Perl have it: [1:3], [a:f], [1..3], {1..3} and web1..3.
	habitRange = lazyregexp.New(`[\[{](\w+)(?::|\.\.|-)(\w+)(?:(?::|\.\.|/)(\d+))?[\]}]|(\d+)\.\.(\d+)`)
	// habitList is a list as shells have it: {1,2}.
	habitList = lazyregexp.New(`\{(\d+(?:,\d+)*)\}`)
	// habitQuote is a term in quotes, and habitRegex a regular expression between slashes.
	habitQuote = lazyregexp.New(`^(?:'([^']*)'|"([^"]*)")$`)
	habitRegex = lazyregexp.New(`^/(.+)/$`)
	// habitPort is a host with a port, habitSource nodeset's group of one of several sources, and habitBare a name that may be a
	// group's.
	habitPort   = lazyregexp.New(`^[^:]+:\d+$`)
	habitSource = lazyregexp.New(`@[^,:]*:[^&!@]|@[^,]*\[\d+(:\d+)?\]`)
	habitBare   = lazyregexp.New(`(^|[,:&!|])[A-Za-z_-]+($|[,:&!|])`)
)

// explain adds to the error about a selector what to write instead, where the selector is one of another program's.
func explain(text string, err error) error {
	var pe *ParseError
	if len(text) > longestHabit || !errors.As(err, &pe) || pe.Pos.File != "" || pe.Err != nil || strings.Contains(pe.Msg, "write ") ||
		strings.Contains(pe.Msg, "as in all") {
		return err
	}
	switch instead := habit(text); {
	case instead != "":
		pe.Msg += "; write " + instead
		if strings.ContainsRune(text, ':') && habitBare.MatchString(strings.ReplaceAll(instead, "all", "@")) {
			pe.Msg += ", with @ before the name of a group"
		}
	case habitPort.MatchString(text):
		pe.Msg += "; give a port with -p, or write user@host:port for a host outside the inventory"
	case strings.Contains(pe.Msg, "':'"):
		pe.Msg += "; for Ansible's a:b, a:&b and a:!b write a,b, a&b and a,!b"
	}
	return err
}

// habit returns the selector for what text means to Ansible (a:&b:!c), to nodeset (a!b, a^b), or to people who know other
// languages (a and not b). It is "" where text is none of these.
func habit(original string) string {
	if strings.ContainsAny(original, "()~") || strings.Contains(original, "re:") || strings.Contains(original, "file:") || habitSource.MatchString(original) {
		return "" // there are parts that may hold anything, or mean what no selector does
	}
	if m := habitRegex.Get().FindStringSubmatch(original); m != nil {
		return "~" + m[1]
	}
	text := strings.ReplaceAll(original, "-@", "!@")
	text = habitWord.ReplaceAllStringFunc(text, func(word string) string {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "and", "&&":
			return "&"
		case "or", "||":
			return ","
		case "and not":
			return "&!"
		}
		return ",!"
	})
	terms := habitTerms(text)
	if terms == nil {
		return ""
	}
	var out string
	if strings.Contains(text, ":") || habitPrefixed(terms) {
		out = ansiblePattern(terms)
	} else {
		out = nodesetPattern(terms)
	}
	sel, err := ParseOptions{}.parse(out)
	if err != nil || out == original {
		return ""
	}
	return sel.String()
}

// habitTerm is a part of a selector, and the operators before it.
type habitTerm struct{ op, word string }

// habitPrefixed reports whether & and ! stand before words as with Ansible, and not between them.
func habitPrefixed(terms []habitTerm) bool {
	for _, t := range terms {
		if len(t.op) > 1 {
			return true
		}
	}
	return terms[0].op != ""
}

// habitTerms splits text at its operators; nil is a text that has a word that nothing can be made of.
func habitTerms(text string) (out []habitTerm) {
	op, rest := "", strings.TrimSpace(text)
	for rest != "" {
		c := rest[0]
		if isSpace(c) || strings.IndexByte(",|:&!^", c) >= 0 {
			if !isSpace(c) {
				op += string(c)
			}
			rest = rest[1:]
			continue
		}
		end, depth := 0, 0
		for ; end < len(rest); end++ {
			switch c := rest[end]; {
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth--
			case depth == 0 && (isSpace(c) || strings.IndexByte(",|:&!^", c) >= 0):
				goto found
			}
		}
	found:
		word := habitTermOf(rest[:end])
		if word == "tier" && strings.HasPrefix(rest[end:], ":") && end+1 < len(rest) && isDigitOrLetter(rest[end+1]) {
			rest = "tier=" + rest[end+1:]
			continue
		}
		if word == "" {
			return nil
		}
		if len(out) > 0 && op == "" {
			op = ","
		}
		out = append(out, habitTerm{op, word})
		op, rest = "", rest[end:]
	}
	if op != "" || len(out) == 0 {
		return nil
	}
	return out
}

func isDigitOrLetter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// habitTermOf returns one word as a selector has it, "" where there is no such.
func habitTermOf(word string) string {
	if m := habitQuote.Get().FindStringSubmatch(word); m != nil {
		word = m[1] + m[2]
	}
	if strings.Trim(word, "0123456789") == "" { // a port
		return ""
	}
	if word == "@*" || word == "@all" {
		return "all"
	}
	letters := false
	word = habitList.Get().ReplaceAllString(word, "[$1]")
	word = habitRange.Get().ReplaceAllStringFunc(word, func(found string) string {
		m := habitRange.Get().FindStringSubmatch(found)
		if m[4] != "" {
			m[1], m[2] = m[4], m[5]
		}
		letters = letters || strings.Trim(m[1]+m[2], "0123456789") != ""
		if m[3] != "" && m[3] != "1" {
			m[2] += "/" + m[3]
		}
		return "[" + m[1] + "-" + m[2] + "]"
	})
	switch {
	case letters: // only numbers have ranges; classes of letters are for regular expressions
		var b strings.Builder
		for rest := word; rest != ""; {
			before, after, found := strings.Cut(rest, "[")
			b.WriteString(regexp.QuoteMeta(before))
			if rest = ""; found {
				inside, tail, _ := strings.Cut(after, "]")
				if len(inside) != len("a-f") {
					return ""
				}
				b.WriteString("[" + inside + "]")
				rest = tail
			}
		}
		return "~^" + b.String() + "$"
	case strings.HasPrefix(word, "@") && strings.ContainsAny(word, "-,") && strings.Contains(word, "["): // ranges of groups
		groups, _, err := expandWord(word[1:], nameRune, 16)
		if err != nil {
			return ""
		}
		return "@" + strings.Join(groups, ",@")
	}
	return word
}

// ansiblePattern joins terms as Ansible takes them: the union of all that have no sign, of that what each & has too, and none of
// what a ! has.
func ansiblePattern(terms []habitTerm) string {
	var union, inter, not []string
	for _, t := range terms {
		switch op := strings.TrimLeft(t.op, ",:|"); op {
		case "":
			union = append(union, t.word)
		case "&":
			inter = append(inter, in1(t.word))
		case "!", "&!":
			not = append(not, "!"+in1(t.word))
		default:
			return ""
		}
	}
	if len(union) == 0 {
		union = []string{"all"}
	}
	if len(inter) == 0 {
		return strings.Join(append(union, not...), ",")
	}
	first := strings.Join(union, ",")
	return strings.Join(append(append([]string{in1(first)}, inter...), not...), "&")
}

// nodesetPattern joins terms as nodeset does, from left to right.
func nodesetPattern(terms []habitTerm) string {
	out := terms[0].word
	for _, t := range terms[1:] {
		word := in1(t.word)
		switch t.op {
		case ",", "|":
			if strings.Contains(out, ",!") {
				out = "(" + out + ")"
			}
			out += "," + t.word
		case "&":
			out = in1(out) + "&" + word
		case "!":
			if strings.Contains(out, "&") {
				out = in1(out) + "&!" + word
			} else {
				out += ",!" + word
			}
		case "^":
			out = fmt.Sprintf("%s,%s,!(%s&%s)", out, t.word, in1(out), word)
		default:
			return ""
		}
	}
	return out
}

// in1 puts a union in parentheses.
func in1(text string) string {
	if words := splitList(text); len(words) > 1 {
		return "(" + text + ")"
	}
	return text
}
