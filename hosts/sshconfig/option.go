package sshconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// CommandLine is the File of what stands in [Options.Lines].
const CommandLine = "command line"

// Effect says what a directive does here.
type Effect int

// The effects of directives.
const (
	Obeyed   Effect = iota
	Anyway          // it asks for what happens anyway
	NoEffect        // it changes neither where, as whom, with what nor by which route Fairlead connects, and is not obeyed
	Refused         // it would, and is not supported
)

// Option is a directive of a command line, as ssh's -o takes it.
type Option struct {
	Keyword string // in lower case
	Name    string // as written
	Value   string // as written
	Effect  Effect
	Why     string // why it is refused
}

// ParseOption reads "Keyword=value" or "Keyword value". Unknown keywords, and values that the keyword does not take, are
// errors.
func ParseOption(text string) (Option, error) {
	l, err := optionLine(text, hosts.Pos{File: CommandLine})
	if err != nil {
		return Option{}, cause(err)
	}
	o := Option{Keyword: l.key, Name: l.name, Value: l.raw}
	if _, err := (&Config{}).Resolve("host", Options{Lines: []string{text}, Offline: true}); err != nil && !refuses(l) {
		return o, cause(err)
	}
	switch kw, other := notObeyed[l.key]; {
	case !other:
	case slices.Contains(kw.fine, lower(strings.Join(l.args, " "))):
		if kw.refuse == "" { // else it keeps a file from refusing the host
			o.Effect = Anyway
		}
	case l.key == "forwardagent":
	case kw.refuse != "":
		o.Effect, o.Why = Refused, kw.refuse
	default:
		o.Effect = NoEffect
	}
	return o, nil
}

// IgnoredBy reports whether the keyword is unknown, and IgnoreUnknown of lines, the options before this one, names it: ssh skips
// the option.
func (o Option) IgnoredBy(lines []string) bool {
	if o.Keyword == "" || slices.Contains(Keywords(), o.Keyword) {
		return false
	}
	r := resolver{}
	for i, text := range lines {
		if l, err := optionLine(text, hosts.Pos{File: CommandLine, Line: i + 1}); err == nil && l.key == "ignoreunknown" {
			_ = r.directive(&l, true) // the first counts
		}
	}
	return r.ignoreUnknown != "" && matchList(o.Keyword, r.ignoreUnknown, true)
}

// Words returns the words of the value, without quotes.
func (o Option) Words() []string {
	words, _ := splitArgs(o.Value)
	return words
}

// refuses reports whether the keyword of a line, and not its value, is why its host would be refused.
func refuses(l line) bool { return notObeyed[l.key].refuse != "" }

// cause is what is wrong, without the place, which the caller knows.
func cause(err error) error {
	var e *Error
	switch {
	case !errors.As(err, &e) || e.Pos.File != CommandLine:
		return err
	case e.Err != nil:
		return fmt.Errorf("%s: %w", e.Msg, e.Err)
	}
	return errors.New(e.Msg)
}

// optionLine reads one option.
func optionLine(text string, pos hosts.Pos) (line, error) {
	if strings.ContainsAny(text, "\x00\r\n") {
		return line{}, errorAt(pos, "an option is one line of text")
	}
	l, ok, err := parseLine(strings.TrimRight(text, space), pos)
	switch {
	case err != nil:
		return line{}, err
	case !ok:
		return line{}, errorAt(pos, "an option is Keyword=value, not %q", text)
	case l.key == "host" || l.key == "match" || l.key == "include":
		return line{}, errorAt(pos, "%s is for files, and no option", l.name)
	}
	return l, nil
}

// given takes the options of the command line into the settings, before any file.
func (r *resolver) given(lines []string) {
	for i, text := range lines {
		l, err := optionLine(text, hosts.Pos{File: CommandLine, Line: i + 1})
		if err == nil {
			err = r.directive(&l, true)
		}
		r.problems.add(err)
	}
}

// OnCommandLine reports whether an option of the command line has decided the value.
func (v Value[T]) OnCommandLine() bool { return v.From.File == CommandLine }
