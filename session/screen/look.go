package screen

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// Kind says what a program seems to wait for.
type Kind string

// The kinds.
const (
	Running    Kind = "running"    // nothing that can be seen: it works, or waits without saying so
	Input      Kind = "input"      // a line of text: a REPL, a question, a shell
	Password   Kind = "password"   // a secret: password, passphrase, PIN, one-time code
	Confirm    Kind = "confirm"    // yes or no, or one of a few letters
	Pager      Kind = "pager"      // less, more and their like: space goes on, q ends most of them
	Fullscreen Kind = "fullscreen" // a full-screen program: read the screen, send keys
	Silent     Kind = "silent"     // nothing came for long, and nothing says why
)

// The defaults of Look.
const (
	DefaultSettle      = 200 * time.Millisecond
	DefaultSilentAfter = 10 * time.Second
)

// guessAfter times Settle is the silence after which an unknown line that has a prompt's shape is taken for one.
const guessAfter = 5

// Look is what there is to judge by.
type Look struct {
	Tail      []byte        // the last bytes the terminal got; 4 KiB are plenty
	Alternate bool          // Modes.Alternate
	EchoOff   bool          // the terminal is known not to echo; false when unknown
	Silence   time.Duration // since the last byte came
	// Settle is the silence before an unfinished line may be a prompt: output that is still coming pauses anywhere.
	// Zero means 200 ms, negative none. Lines of unknown text need five times as much.
	Settle time.Duration
	// SilentAfter is the silence that is told as Silent. Zero means 10 s, negative never.
	SilentAfter time.Duration
}

// Waiting is a guess at what a program waits for. The zero value is no guess; Recognise always gives a Kind.
type Waiting struct {
	Kind   Kind
	Prompt string // the line that says so, cleaned, at most 200 characters: text of the host
	Known  bool   // the line is of a known form; false where only shape and silence speak for it
}

// Recognise says what a program seems to wait for. It is a guess from text: a program that prints a prompt's text and
// then nothing cannot be told from one that waits. Only a line without an end can be a prompt, or what stands at the
// bottom of a full-screen program. It looks at no clock and keeps nothing.
func Recognise(l Look) Waiting {
	if l.Settle == 0 {
		l.Settle = DefaultSettle
	}
	if l.SilentAfter == 0 {
		l.SilentAfter = DefaultSilentAfter
	}
	t := lastLines(l.Tail)
	if l.Alternate {
		if pager.MatchString(strings.TrimSpace(t.last)) || fileName.Match(l.Tail) {
			return Waiting{Kind: Pager, Prompt: clip(strings.TrimSpace(t.last), maxPrompt), Known: true}
		}
		return Waiting{Kind: Fullscreen, Known: true}
	}
	if l.Silence >= l.Settle {
		if w, ok := prompt(t, l.EchoOff, l.Silence >= guessAfter*l.Settle); ok {
			w.Prompt = clip(strings.TrimSpace(w.Prompt), maxPrompt)
			return w
		}
	}
	if l.SilentAfter > 0 && l.Silence >= l.SilentAfter {
		return Waiting{Kind: Silent}
	}
	return Waiting{Kind: Running}
}

const (
	maxPrompt = 200
	maxLook   = 512 // bytes of a line that are looked at: prompts are short, and say what they want at the end
)

// ending is the last n bytes of s, or a little less.
func ending(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}

// tail is the end of what a terminal shows.
type tail struct {
	last string // the line the cursor is in, up to the cursor
	rest string // of that line
	over string // the lines above, at most a few
}

// lastLines finds the end of what the bytes show. The first line of a long tail may be torn, and is not looked at.
func lastLines(p []byte) tail {
	if len(p) > tailSize {
		p = p[len(p)-tailSize:]
	}
	var l cleaner
	l.write(string(p))
	var t tail
	var b strings.Builder
	n := min(l.col, len(l.line))
	writeCells(&b, l.line[:n])
	t.last = ending(b.String(), maxLook) + strings.Repeat(" ", min(l.col-n, 1))
	b.Reset()
	writeCells(&b, l.line[n:])
	t.rest, t.over = b.String(), l.out.String()
	return t
}

// prompt tries the forms in the order of what a mistake would cost: a secret typed where it echoes is the worst.
func prompt(t tail, echoOff, long bool) (Waiting, bool) {
	line := t.last
	if strings.TrimSpace(line) == "" {
		above := strings.TrimRight(t.over, "\n")
		above = above[strings.LastIndexByte(above, '\n')+1:]
		switch {
		case strings.TrimSpace(t.rest) != "": // a progress line, about to be written over
		case echoOff && password(above):
			return Waiting{Kind: Password, Prompt: above, Known: true}, true
		case menu.MatchString(ending(t.over, 1024)):
			return Waiting{Kind: Input, Prompt: above, Known: true}, true
		}
		return Waiting{}, false
	}
	known := func(k Kind) (Waiting, bool) { return Waiting{Kind: k, Prompt: line, Known: true}, true }
	switch {
	case pager.MatchString(strings.TrimSpace(line)):
		return known(Pager)
	case password(line):
		return known(Password)
	case confirm.MatchString(line), yesOnly.MatchString(ending(t.over, 1024)) && enterValue.MatchString(line):
		return known(Confirm)
	case marks.MatchString(line):
		return known(Input)
	case progress.MatchString(line):
		return Waiting{}, false
	case input.MatchString(line), menu.MatchString(ending(t.over, 1024) + line):
		return known(Input)
	case echoOff:
		return Waiting{Kind: Password, Prompt: line}, true
	case long && shape.MatchString(line):
		return Waiting{Kind: Input, Prompt: line}, true
	}
	return Waiting{}, false
}

func password(line string) bool {
	return passwordEnglish.MatchString(line) || passwordElsewhere.MatchString(line)
}

// pattern is a regular expression that is compiled when it is first needed: a program that never looks does not pay for it.
type pattern struct{ re func() *regexp.Regexp }

func (p pattern) MatchString(s string) bool { return p.re().MatchString(s) }
func (p pattern) Match(b []byte) bool       { return p.re().Match(b) }

// anyOf joins patterns; (?i) and ^$ are theirs to set.
func anyOf(patterns ...string) pattern {
	return pattern{sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?:" + strings.Join(patterns, ")|(?:") + ")")
	})}
}
