package judge

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// facts are what matters about a command beyond its class: together, harmless halves can be forbidden.
type facts struct {
	fetches  bool // writes what it got from the network
	decodes  bool // writes what somebody encoded
	connects bool // its standard streams can be a network connection
	shell    bool // a shell or interpreter that takes commands from its standard input
	xargs    bool // reads the files that its input names
	lists    bool // writes names of files that its operands tell
	tells    bool // may write anything else
	recodes  bool // writes what it reads from its input in another spelling
	files    bool // what it writes may come from a file that holds secrets
	removes  bool // removes or changes the files that its input names
	script   string
	says     bool             // script is exactly what it writes
	names    string           // what it writes, where xargs would read it, as far as that is certain
	spelled  bool             // it is not: there are escapes and quotes, or formats, or a word may be written in parts
	open     bool             // names ends within a line, so that what is written next goes on with its last word
	words    [][]programs.Arg // of all its commands
	found    [][]programs.Arg // the arguments of each find
}

func (f *facts) add(g facts) {
	f.fetches = f.fetches || g.fetches
	f.decodes = f.decodes || g.decodes
	f.connects = f.connects || g.connects
	f.shell = f.shell || g.shell
	f.xargs = f.xargs || g.xargs
	f.lists = f.lists || g.lists
	f.tells = f.tells || g.tells
	f.removes = f.removes || g.removes
	f.recodes = f.recodes || g.recodes
	f.files = f.files || g.files
	f.says = false
	f.spelled = f.spelled || f.open && (g.lists || g.tells)
	f.prints(g.names, g.spelled)
}

// writes adds what commands of g write, or are told to look for: it may name files to whoever reads it.
func (f *facts) writes(g facts) {
	f.add(g)
	f.words, f.found = append(f.words, g.words[:min(len(g.words), max(maxParts-len(f.words), 0))]...), append(f.found, g.found...)
}

// prints notes what is written, besides what was before.
func (f *facts) prints(names string, spelled bool) {
	f.spelled = f.spelled || spelled || f.open && names != ""
	if names != "" {
		f.open = !strings.HasSuffix(names, "\n")
	}
	if f.names == "" || names == "" {
		f.names += names
	} else if len(f.names)+len(names) <= maxScript {
		f.names += "\n" + names
	} else {
		f.spelled = true
	}
}

func (f *facts) unseen() bool { return f.fetches || f.decodes }

// observe notes what a call of a program contributes to a pipeline.
func (w *walker) observe(c call) {
	f := w.facts
	f.spelled = f.spelled || f.open
	if len(f.words) < maxParts {
		f.words = append(f.words, c.args)
	}
	f.connects = f.connects || programs.Is(c.name, "connects")
	f.fetches = f.fetches || f.connects || programs.Is(c.name, "fetches")
	f.decodes = f.decodes || programs.Is(c.name, "decodes") || programs.Is(c.name, "coder") && decodesOption(c.args)
	switch c.name {
	case "openssl":
		f.connects = f.connects || anyText(c.args, "s_client") || anyText(c.args, "s_server")
		f.fetches = f.fetches || f.connects
		f.decodes = f.decodes || anyText(c.args, "enc") || anyText(c.args, "base64") || anyText(c.args, "-d")
	case "xxd":
		f.decodes = f.decodes || hasShort(c.args, 'r') || anyText(c.args, "-revert")
	case "find", "fd", "fdfind":
		f.found = append(f.found, c.args)
	case "locate", "plocate", "whereis": // anywhere
		f.found = append(f.found, []programs.Arg{literal("/")})
	case "printf", "echo":
		w.observeText(c)
	}
	if takesCommands(c) {
		f.shell = true
	}
	switch {
	case c.name == "dirname": // of /etc/shadow/x it is /etc/shadow
		f.tells = true
	case f.says || w.listsFiles(c):
		f.lists = true
	case !programs.Is(c.name, "nameonly") && !programs.Is(c.name, "transparent") && !selectsLines(c):
		f.tells = true
	}
}

// selectsLines reports whether a call passes on lines of a pipe as they are.
func selectsLines(c call) bool {
	if c.name == "tr" { // one separator for another
		return c.stdin == "pipe" && !slices.ContainsFunc(c.args, func(a programs.Arg) bool { return !a.Literal || strings.Trim(a.Text, `\nt0 `) != "" })
	}
	return c.stdin == "pipe" && programs.Is(c.name, "selector")
}

// listsFiles reports whether a call writes names of files, and nothing else, that its operands tell.
func (w *walker) listsFiles(c call) bool {
	lists := programs.Is(c.name, "lister")
	for _, a := range c.args {
		switch {
		case !a.Literal && (w.shapeOf(a).opaque || w.shapeOf(a).fed && len(w.listings) > 0) || textOption(c.name, a.Text):
			return false
		case a.Literal:
			lists = lists || listOption(c, a.Text)
		}
	}
	return lists
}

// textOption reports whether an option has a lister write text that the option holds.
func textOption(name, option string) bool {
	for _, begins := range [...]string{"-printf", "--printf", "--format", "--pretty", "--qf", "--query", "--showformat", "--replace"} {
		if strings.HasPrefix(option, begins) {
			return name != "ls" && name != "dir" && name != "vdir" // of these it is the layout
		}
	}
	return (name == "dpkg-query" && strings.HasPrefix(option, "-f")) || name == "rg" && len(option) > 1 && option[0] == '-' && option[1] != '-' && strings.IndexByte(option, 'r') > 0
}

// listOption reports whether an option has a program that searches write names alone.
func listOption(c call, option string) bool {
	if !programs.Is(c.name, "lister-by-option") {
		return false
	}
	sub := ""
	if c.name == "git" && len(c.args) > 0 {
		sub = c.args[0].Text
	}
	switch option {
	case "ls-files":
		return sub == option
	case "--name-only":
		return sub == "diff"
	case "--files", "--files-with-matches", "--files-without-match":
		return true
	}
	return (sub == "" || sub == "grep") && len(option) > 1 && option[0] == '-' && option[1] != '-' && strings.IndexByte(option, 'l') > 0
}

// fetchesTo notes the names under which a fetched file may lie.
func (w *walker) fetchesTo(c call) {
	if !w.facts.fetches {
		return
	}
	for _, a := range c.args {
		w.keeps(a)
	}
}

func decodesOption(args []programs.Arg) bool {
	return hasShort(args, 'd') || hasShort(args, 'D') || slices.ContainsFunc(args, func(a programs.Arg) bool {
		return !a.Literal || strings.HasPrefix(a.Text, "--dec") || strings.HasPrefix(a.Text, "--unc")
	})
}

// observeText notes what echo and printf write, where that is certain.
func (w *walker) observeText(c call) {
	var b strings.Builder
	for i, a := range c.args {
		if !a.Literal {
			return
		}
		if strings.Contains(a.Text, `\x`) || strings.Contains(a.Text, `\0`) || strings.Contains(a.Text, `\1`) ||
			strings.Contains(a.Text, `\u`) {
			w.facts.decodes = true
		}
		if i == 0 && strings.HasPrefix(a.Text, "-") || i == 0 && c.name == "printf" && strings.Contains(a.Text, "%") {
			continue
		}
		b.WriteString(strings.ReplaceAll(a.Text, `\n`, "\n"))
		b.WriteByte(' ')
	}
	w.facts.script, w.facts.says = b.String(), true
	if c.name == "printf" {
		w.facts.prints(printfText(c.args))
	} else {
		w.facts.prints(w.facts.script+lineEnd(c.args), strings.ContainsAny(w.facts.script, `\'"`))
	}
}

// lineEnd is what echo writes behind its words. What -n is, and an escape, differs between shells.
func lineEnd(args []programs.Arg) string {
	for i, a := range args {
		if i == 0 && strings.HasPrefix(a.Text, "-") || strings.Contains(a.Text, `\c`) {
			return ""
		}
	}
	return "\n"
}

// printfText is what printf writes of literal words, and whether that is not certain.
func printfText(args []programs.Arg) (names string, spelled bool) {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return "", false
	}
	format, rest := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\n").Replace(args[0].Text), args[1:]
	var b strings.Builder
	for b.Len() <= maxScript {
		texts := strings.Split(format, "%s")
		for i, text := range texts {
			b.WriteString(text)
			if i+1 < len(texts) && len(rest) > 0 {
				b.WriteString(rest[0].Text)
				rest = rest[1:]
			}
		}
		if len(rest) == 0 || len(texts) == 1 {
			break
		}
	}
	return b.String(), strings.ContainsAny(b.String(), `\'"%`)
}

func anyText(args []programs.Arg, text string) bool {
	return slices.ContainsFunc(args, func(a programs.Arg) bool { return a.Text == text })
}

// hasShort reports whether a cluster of short options holds c.
func hasShort(args []programs.Arg, c byte) bool {
	return slices.ContainsFunc(args, func(a programs.Arg) bool {
		return len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.IndexByte(a.Text, c) > 0
	})
}
