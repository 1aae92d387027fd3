package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// shape is what a word that is not literal may look like. Both forms take unquoted patterns as they are written.
type shape struct {
	empty  string // with every expansion empty: what a forgotten variable makes of it
	wild   string // with every expansion as "*": what it may reach
	subst  bool   // holds a command substitution
	opaque bool   // an expansion that no loop in the script bounds
	likely string // with every expansion as the script itself says, else as in empty
	known  bool   // the script says so of all of them
	fed    bool   // holds a name that a listing wrote
	prefix string // what all of these begin with for certain
	number bool   // a number, or nothing
}

// text builds one word after quote removal.
type text struct {
	prefix, empty, wild strings.Builder
	likely              strings.Builder // see shape
	open                bool            // an expansion or a pattern was seen: prefix is complete
	glob, split         bool
	subst, opaque       bool
	guess               bool // an expansion of which nothing is known
	ansi                bool // holds $'…' or $"…"
	pure                bool // nothing but text so far
	whole               bool // begins with an expansion that makes no option
	vacant              bool // that may be nothing, and nothing else stands there yet
	fed                 bool // see shape
	anyItem             bool // holds a word of a loop, and nobody knows which
}

// ends notes that what comes next is not certain to keep a word that may be nothing so far from being an option.
func (t *text) ends() { t.whole, t.vacant = t.whole && !t.vacant, false }

func (t *text) lit(s string) {
	switch {
	case s == "":
	case s[0] == '-':
		t.ends()
	default:
		t.vacant = false
	}
	if !t.open {
		t.prefix.WriteString(s)
	}
	t.empty.WriteString(s)
	t.likely.WriteString(s)
	t.wild.WriteString(s)
}

func (t *text) expansion(ifUnset, likely string, quoted bool) {
	t.ends()
	t.open, t.pure = true, false
	t.empty.WriteString(ifUnset)
	t.likely.WriteString(likely)
	t.wild.WriteByte('*')
	if !quoted {
		t.split = true
	}
}

func (t *text) pattern(s string) {
	t.ends()
	t.open, t.glob = true, true
	t.empty.WriteString(s)
	t.likely.WriteString(s)
	t.wild.WriteString(s)
}

// severalIDs appends words, none or several, of which none is an option.
func (t *text) severalIDs() {
	t.open, t.pure, t.glob, t.whole, t.guess, t.opaque = true, false, true, true, true, true
	t.wild.WriteByte('*')
}

// args expands words to what a program gets, as far as that is certain.
func (w *walker) args(words []*syntax.Word) []programs.Arg {
	if len(words) > maxWords {
		w.cap("a command has more words than are looked at")
	}
	out := make([]programs.Arg, 0, len(words)+2)
	for _, word := range words {
		out = w.appendArg(out, word)
	}
	return out
}

func (w *walker) appendArg(out []programs.Arg, word *syntax.Word) []programs.Arg {
	if word == nil || len(word.Parts) == 0 {
		return out
	}
	if len(word.Parts) == 1 {
		if l, ok := word.Parts[0].(*syntax.Lit); ok && plain(l.Value) {
			return append(out, programs.Arg{Text: l.Value, Literal: true, Source: l.Value})
		}
	}
	source := w.source(word)
	if w.isAllGiven(word) {
		for _, a := range w.given {
			out = append(out, programs.Arg{Text: a.Text, Literal: true, Source: source})
		}
		return out
	}
	if len(source) > maxWord {
		w.cap("a word is longer than is looked at")
	}
	if w.d.braces && strings.IndexByte(source, '{') >= 0 {
		if strings.Count(source, "{") > maxOpenBraces {
			w.cap("a word has more braces than are looked at")
			return append(out, programs.Arg{Split: true, Source: source})
		}
		if !numbersOnly(w.shell) && w.d != inMksh && openRange.MatchString(source) {
			w.raise(policy.Unknown, "shell/quirk", "some shells make a range of braces, whose end is known only when it runs")
		}
		split := *word
		if syntax.SplitBraces(&split) {
			if w.d == inMksh && hasRange(&split) {
				w.raise(policy.Unknown, "shell/quirk", "shells disagree about ranges in braces")
			}
			alternatives, ok := braceWords(&split)
			for _, alt := range alternatives {
				out = append(out, w.alternative(alt, source))
			}
			if !ok {
				w.cap("braces make more words than are looked at")
				out = append(out, programs.Arg{Split: true, Source: source})
			}
			return out
		}
	}
	return append(out, w.arg(word.Parts, source))
}

// plain reports whether an unquoted literal means exactly itself in every shell.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\', '*', '?', '[', ']', '~', '{', '}', '$', '!', '=', '(', ')', '^', '#', '<', '>', '\'', '"', '`':
			return false
		}
	}
	return len(s) <= maxWord
}

// alternative is one of the words that a brace expansion makes. One that is not literal has a source of its own: its shape
// is not that of its neighbours.
func (w *walker) alternative(parts []syntax.WordPart, word string) programs.Arg {
	var own strings.Builder
	for _, p := range parts {
		switch l, isLit := p.(*syntax.Lit); {
		case isLit:
			own.WriteString(l.Value)
		case p == unfollowed:
			own.WriteString(word)
		default:
			own.WriteString(w.source(p))
		}
	}
	a := w.arg(parts, own.String())
	if a.Literal {
		a.Source = word
	}
	return a
}

func (w *walker) arg(parts []syntax.WordPart, source string) programs.Arg {
	t := text{pure: true}
	w.build(&t, parts, false)
	a := programs.Arg{Text: t.prefix.String(), Literal: !t.open, Glob: t.glob, Split: t.split, Operand: t.whole, Source: source}
	if !a.Literal {
		opaque := t.opaque || t.anyItem && t.wild.String() != "*"
		w.setShape(source, shape{empty: t.empty.String(), wild: t.wild.String(), subst: t.subst, opaque: opaque, likely: t.likely.String(), known: !t.guess, fed: t.fed, prefix: a.Text, number: w.aNumber(parts)})
	}
	return a
}

// build appends parts to t. It judges nothing: expansions are judged where the word is walked.
func (w *walker) build(t *text, parts []syntax.WordPart, quoted bool) {
	ansi := false // the quotes behind it are $'…'
	for i, part := range parts {
		switch part.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			t.ends()
		}
		switch p := part.(type) {
		case *syntax.Lit:
			switch {
			case quoted:
				t.lit(unescapeQuoted(p.Value))
			case w.d.dollar && strings.HasSuffix(p.Value, "$") && w.dollarQuoted(p.Value, after(parts, i)):
				ansi = true
				buildUnquoted(t, strings.TrimSuffix(p.Value, "$"), i == 0)
			default:
				buildUnquoted(t, p.Value, i == 0)
			}
		case *syntax.SglQuoted:
			if !p.Dollar && !ansi {
				t.lit(p.Value)
				continue
			}
			ansi = false
			t.ansi = true
			if s, ok := unescapeANSI(p.Value, w.shell); ok {
				t.lit(s)
			} else {
				t.opaque, t.guess = true, true
				t.expansion("", "", true)
			}
		case *syntax.DblQuoted:
			if p.Dollar {
				t.ansi, t.opaque, t.guess = true, true, true
				t.expansion("", "", true) // a translation may stand in its place
			}
			w.build(t, p.Parts, true)
		case *syntax.ParamExp:
			c, certain := w.certainly(p, after(parts, i))
			if certain && c.kind == ofIDs && !quoted {
				if len(parts) == 1 {
					t.severalIDs()
					continue
				}
				certain = false // what stands beside them may be a word, too
			}
			if certain && c.kind != ofLoop {
				w.buildCertain(t, c, quoted)
				continue
			}
			if counterParam(p) {
				t.open = true // a number: it makes one word, never an option
				t.empty.WriteByte('0')
				t.likely.WriteByte('0')
				t.wild.WriteByte('*')
				continue
			}
			if quoted && !certain && plainParam(p) && p.Param.Value == "HOME" && !t.open && t.wild.Len() == 0 {
				t.lit("~") // which is the same
				continue
			}
			value, known := w.valueOf(p)
			t.guess = t.guess || !known
			if certain {
				w.buildItem(t, c, value, quoted)
				continue
			}
			t.opaque = true
			t.expansion(ifUnset(p), value, quoted && !severalWords(p))
		case *syntax.CmdSubst:
			t.subst = true
			if w.numeric(p.Stmts) {
				w.buildCertain(t, certain{kind: ofNumber}, quoted)
				continue
			}
			if w.listsOne(p.Stmts) {
				t.guess = true
				w.buildItem(t, certain{kind: ofLoop, fed: true}, "", quoted)
				continue
			}
			t.opaque = true
			switch {
			case quoted && w.identifiersIn([]syntax.WordPart{p}):
				w.buildCertain(t, certain{kind: ofID}, quoted)
				continue
			case len(parts) == 1 && !quoted && w.identifiersIn(parts):
				t.severalIDs()
				continue
			}
			value, known := w.printed(p.Stmts)
			t.guess = t.guess || !known
			t.expansion("", value, quoted)
		case *syntax.ArithmExp:
			t.open = true
			t.empty.WriteByte('0')
			t.likely.WriteByte('0')
			t.wild.WriteByte('*')
		case *syntax.ProcSubst:
			if len(p.Stmts) == 0 {
				continue // to bash, nothing
			}
			t.lit("/dev/fd/")
			t.open = true
			t.wild.WriteByte('0')
		case *syntax.ExtGlob:
			t.pattern("*")
		default:
			t.opaque, t.guess = true, true
			t.expansion("", "", false)
		}
	}
}

// buildCertain appends what is certain. Where there is no number, it is nothing.
func (w *walker) buildCertain(t *text, c certain, quoted bool) {
	if c.kind == ofText {
		t.lit(c.value)
		return
	}
	leads := (quoted || c.whole) && !t.open && t.prefix.Len() == 0
	t.opaque = t.opaque || c.kind == ofID || c.kind == ofIDs
	t.guess = true
	t.expansion("", "", true)
	t.whole, t.vacant = t.whole || leads, leads
}

// buildItem appends a word of a loop, or what stands for all of its words.
func (w *walker) buildItem(t *text, c certain, likely string, quoted bool) {
	t.whole = t.whole || quoted && c.whole && !t.open && t.prefix.Len() == 0
	t.fed = t.fed || c.fed
	switch {
	case c.value == "":
		t.anyItem, c.value = true, "*"
	case !quoted && strings.ContainsAny(c.value, " \t\n"):
		t.opaque = true // it makes several words, with any beginning
	}
	if !t.open {
		t.prefix.WriteString(c.value[:strings.IndexAny(c.value+"*", "*?[")])
	}
	t.open, t.pure = true, false
	t.likely.WriteString(likely)
	t.wild.WriteString(c.value)
	t.split = t.split || !quoted
}

// buildUnquoted appends the text of an unquoted literal. A tilde is kept as it is: it makes one word, never an option.
func buildUnquoted(t *text, s string, first bool) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			t.lit(s[start:i])
			if i+1 < len(s) && s[i+1] == '\n' {
				i++
				start = i + 1
				continue
			}
			i++
			start = i
		case '*', '?', '[':
			if s == "[" || s == "[[" {
				break // the commands
			}
			t.lit(s[start:i])
			t.pattern(s[i : i+1])
			start = i + 1
		case '(', ')':
			t.open, t.glob = true, true
		}
	}
	if start < len(s) {
		t.lit(s[start:])
	}
}

// unescapeQuoted removes the backslashes that mean something within double quotes.
func unescapeQuoted(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ifUnset is what an expansion gives when its variable is unset or empty.
func ifUnset(p *syntax.ParamExp) string {
	if p.Length || p.IsSet || p.Width {
		return "0"
	}
	if p.Param != nil && (p.Param.Value == "#" || p.Param.Value == "?" || p.Param.Value == "$") {
		return "0"
	}
	if p.Param != nil && p.Param.Value == "HOME" && p.Slice == nil && p.Repl == nil && (p.Exp == nil || p.Exp.Op == syntax.ErrorUnset ||
		p.Exp.Op == syntax.ErrorUnsetOrNull || p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull) {
		return "~"
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			return "set"
		case syntax.DefaultUnsetOrNull, syntax.AssignUnsetOrNull, syntax.DefaultUnset, syntax.AssignUnset:
			if p.Exp.Word == nil {
				return ""
			}
			if s := p.Exp.Word.Lit(); s != "" {
				return s
			}
		}
	}
	return ""
}

// severalWords reports whether an expansion makes several words even within double quotes.
func severalWords(p *syntax.ParamExp) bool {
	if p.Param != nil && p.Param.Value == "@" || p.Names == syntax.NamesPrefixWords || p.Flags != nil ||
		p.Split == syntax.OptOn || p.GlobSubst == syntax.OptOn || p.RcExpand == syntax.OptOn || p.NestedParam != nil {
		return true
	}
	if idx, ok := p.Index.(*syntax.Word); ok && idx.Lit() == "@" {
		return true
	}
	return false
}

// after is the part of a word behind one of its parts; nil is none.
func after(parts []syntax.WordPart, i int) syntax.WordPart {
	if i+1 < len(parts) {
		return parts[i+1]
	}
	return nil
}

func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.src) {
		return ""
	}
	return w.src[from:to]
}

func (w *walker) setShape(source string, s shape) {
	if w.shapes == nil {
		w.shapes = make(map[string]shape, 4)
	}
	if old, ok := w.shapes[source]; ok && old != s && len(w.calling) > 0 {
		w.raise(policy.Unknown, "shell/function", "what a word of the function may be differs from one call to another")
	}
	w.shapes[source] = s
}

// behind is the shape of a value that is glued to an option: of it begins with text, what is certain of the value.
func (s shape) behind(text string) shape {
	before, ok := strings.CutSuffix(s.prefix, text)
	if !ok {
		return s
	}
	s.wild, s.empty, s.likely = s.wild[len(before):], s.empty[len(before):], s.likely[len(before):]
	return s
}

// put splits a word in which find or xargs puts a name.
func put(a programs.Arg) (before, behind string, ok bool) {
	i := strings.LastIndex(a.Source, "{}")
	if a.Literal || i < 0 {
		return "", "", false
	}
	return a.Text, a.Source[i+len("{}"):], true
}

// shapeOf returns what a word may look like; for a literal one, itself.
func (w *walker) shapeOf(a programs.Arg) shape {
	if a.Literal {
		return shape{empty: a.Text, likely: a.Text, wild: a.Text, known: true}
	}
	if s, ok := w.shapes[a.Source]; ok {
		return s.behind(a.Text)
	}
	// A word that a program puts together, as find and xargs do: judged where its parts come from.
	if a.Source == "{}" && a.Text != "" {
		return shape{empty: a.Text, likely: a.Text, wild: a.Text + "/*"}
	}
	if _, behind, ok := put(a); ok {
		return shape{empty: a.Text + behind, likely: a.Text + behind, wild: a.Text + "*" + behind}
	}
	return shape{empty: a.Text, likely: a.Text, wild: a.Text + "*"}
}
