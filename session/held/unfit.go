package held

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

//go:embed unfit.txt
var unfitText string

// unfit is a line of unfit.txt: which words of a program's arguments make it so, and why.
type unfit struct {
	words   []string // none: always
	why     string
	sockets []string // with these it would be fit
	leads   []string // elsewhere
}

var table = sync.OnceValue(func() map[string][]unfit {
	out := map[string][]unfit{}
	for line := range strings.Lines(unfitText) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		what, why, _ := strings.Cut(line, " | ")
		why, sockets, _ := strings.Cut(why, " | ")
		sockets, leads, _ := strings.Cut(sockets, " | ")
		words := strings.Fields(what)
		out[words[0]] = append(out[words[0]], unfit{words[1:], why, strings.Fields(sockets), strings.Fields(leads)})
	}
	return out
})

// Unfit says why a program would answer untruly or not at all in a held shell; "" where nothing is known against it. name is the
// program's, without a directory; args are its arguments, where "" is one that is not known before it runs.
func Unfit(name string, args []string) string { return find(name, args).why }

// Sockets are the local sockets that a program asks its service through, for [Program]: with them it answers as ever. There are none for
// one that is Unfit all the same.
func Sockets(name string, args []string) []string { return find(name, args).sockets }

// Elsewhere is source for a shell of any dialect that prints what would lead the programs to which [Sockets] gives these elsewhere, each on a
// line: a variable or a file of the account. "" is that nothing would.
func Elsewhere(sockets []string) string {
	var all []string
	for _, lines := range table() {
		for _, u := range lines {
			if slices.ContainsFunc(u.sockets, func(path string) bool { return slices.Contains(sockets, path) }) {
				for _, lead := range u.leads {
					all = append(all, u.leading(lead))
				}
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

// leading is source that prints one of what leads elsewhere, if it does. Only the service's socket of the account itself is open: which
// account a path names need not be known.
func (u *unfit) leading(lead string) string {
	if file, word, ok := strings.Cut(strings.TrimPrefix(lead, "~/"), ":"); ok {
		return `if test -r "${HOME-}/` + file + `"; then (while IFS= read -r line || test -n "$line"; do case $line in *'` + word + `'*) echo '~/` + file + `'; break; esac; done <"$HOME/` + file + `"); fi`
	}
	known := []string{"''"}
	for _, path := range u.sockets {
		path = strings.ReplaceAll(path, "%U", "*")
		known = append(known, path, "unix://"+path, "unix:path="+path, path[:strings.LastIndexByte(path, '/')])
	}
	return "case ${" + lead[1:] + "-} in (" + strings.Join(known, "|") + ");; (*) echo '" + lead + "'; esac"
}

// find is the first line that is about a program with its arguments.
func find(name string, args []string) unfit {
	for _, u := range table()[name] {
		if len(u.words) == 0 || slices.ContainsFunc(args, func(arg string) bool {
			return slices.ContainsFunc(u.words, func(word string) bool { return matches(word, arg) })
		}) {
			return u
		}
	}
	return unfit{}
}

// matches reports whether an argument is what a word of the table stands for.
func matches(word, arg string) bool {
	switch {
	case word == "operand":
		return arg == "" || arg[0] != '-'
	case strings.HasPrefix(word, "--"):
		name, _, _ := strings.Cut(arg, "=")
		return len(name) > 3 && strings.HasPrefix(word, name)
	case len(word) == 2 && word[0] == '-':
		return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg[1:], word[1:])
	case len(word) > 2 && word[0] == '-':
		return arg == word
	}
	return strings.Contains(arg, word)
}

// hidden finds files of processes that only those may read who may trace them. A held shell reads them of its own processes.
var hidden = lazyregexp.New(`/proc/([^a-zA-Z/\s]\S*|\$\([^()]*\))/(exe|cwd|root|environ|auxv|fd|fdinfo|maps|map_files|mem|smaps|smaps_rollup|numa_maps|pagemap|ns|io|stack|syscall|wchan|personality|task)\b`)

// UnfitSource is Unfit for files that shell source names.
func UnfitSource(source string) string {
	if hidden.MatchString(source) {
		return "other processes cannot be looked into there"
	}
	return ""
}

// neutral are programs that only pass on, choose or count what they are given, and those that run another one, which counts by
// itself: that they run unheld beside an unfit one costs nothing.
var neutral = []string{"cd", "command", "builtin", "env", "timeout", "nice", "ionice", "stdbuf", "time", "xargs",
	"grep", "egrep", "fgrep", "head", "tail", "wc", "cut", "sort", "uniq", "tr", "nl", "column", "echo", "printf", "true", "false", ":", "test", "["}

// Neutral reports whether it changes nothing when a program runs unheld beside one that is unfit.
func Neutral(name string) bool { return slices.Contains(neutral, name) }
