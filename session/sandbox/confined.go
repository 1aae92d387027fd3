package sandbox

import (
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// What is checked can only hold a program that touches nothing but what it is told to, so these are lists of programs that
// are known to, never of those that are known not to. A program that is missing asks. The readers' options were compared
// with the tables of package programs, which say what each of them means.

// trait says how the words of a call name files.
type trait uint8

const (
	wordy    trait = 1 << iota // words that the tables do not take for files are text: patterns, scripts, formats
	writes                     // may write what the tables take for an output
	tells                      // names no files at all
	starts                     // runs the command in its words
	relinks                    // afterwards names may lead elsewhere: links were made, moved or copied
	unlinks                    // afterwards a name may be free for something else
	replaces                   // takes names away or puts others in their place: their directory must be inside too
)

type program struct {
	trait trait
	asks  string   // letters of options that reach further
	long  []string // and long ones
}

// readers look at what they are told to, and at the host as a whole where they are told nothing.
var readers = table(map[string]program{
	"cat tac nl head tail wc stat file md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum strings od hexdump hd " +
		"readlink realpath namei cmp comm join paste fold fmt column expand unexpand rev tsort pr nm size getfattr lsattr getcap mountpoint": {},
	"ls dir vdir du":     {asks: "L", long: []string{"--dereference"}},
	"tree":               {asks: "l"},
	"getfacl":            {asks: "L", long: []string{"--logical"}},
	"grep egrep fgrep":   {trait: wordy, asks: "R", long: []string{"--dereference-recursive"}},
	"rg fd fdfind":       {trait: wordy, asks: "L", long: []string{"--follow"}},
	"find":               {trait: wordy}, // see asking
	"diff":               {asks: "r", long: []string{"--recursive"}},
	"sed":                {trait: wordy | writes | replaces, long: []string{"--follow-symlinks"}}, // and asking
	"awk gawk mawk nawk": {trait: wordy},                                                          // see asking
	"jq":                 {trait: wordy},                                                          // see asking
	"cut tr seq expr numfmt basename dirname": {trait: wordy},
	"sort":                        {trait: wordy | writes | replaces, asks: "T", long: []string{"--temporary-directory"}},
	"uniq xxd base64 base32 shuf": {trait: writes},
	"iconv":                       {trait: writes},
	"date ps df free uptime uname id whoami hostname w who groups arch nproc tty lscpu lsblk lsmod ss netstat vmstat iostat mpstat " +
		"dmesg getent locale pgrep pidof pstree systemctl journalctl timedatectl hostnamectl loginctl findmnt last sysctl sleep " +
		"printenv which whereis lspci lsusb ip": {},
	": true false pwd type whence hash umask jobs wait ulimit times break continue return exit read help": {trait: tells},
	"echo printf": {trait: tells},
	"test [ [[":   {},
	"timeout nice ionice stdbuf time env command builtin sh bash dash ash zsh ksh mksh": {trait: starts},
})

// writers change what they are told to, with these options and no others.
var writers = table(map[string]program{
	"mkdir touch truncate tee": {trait: writes},
	"chmod":                    {trait: writes},
	"rmdir":                    {trait: writes | unlinks | replaces},
	"rm unlink":                {trait: writes | unlinks | replaces},
	"mv":                       {trait: writes | relinks | replaces},
	"cp":                       {trait: writes | replaces},
	"ln":                       {trait: writes | relinks | replaces},
})

// flags are the options of writers: letters without a value, letters with one, and long ones; a long one that ends in "="
// has a value glued to it.
var flags = map[string]struct {
	plain, valued string
	long          []string
}{
	"mkdir":    {"pv", "m", []string{"--parents", "--verbose", "--mode="}},
	"touch":    {"acm", "drt", []string{"--no-create", "--date=", "--reference="}},
	"truncate": {"co", "sr", []string{"--no-create", "--io-blocks", "--size=", "--reference="}},
	"tee":      {"aip", "", []string{"--append", "--ignore-interrupts"}},
	"chmod":    {"Rcfv", "", []string{"--recursive", "--changes", "--quiet", "--silent", "--verbose"}},
	"rmdir":    {"v", "", []string{"--verbose", "--ignore-fail-on-non-empty"}},
	"rm":       {"rRfivdI", "", []string{"--recursive", "--force", "--verbose", "--dir", "--one-file-system", "--preserve-root"}},
	"unlink":   {"", "", nil},
	"mv":       {"finuv", "", []string{"--force", "--no-clobber", "--update", "--verbose", "--interactive"}},
	"cp":       {"finpuv", "", []string{"--force", "--no-clobber", "--update", "--verbose", "--interactive"}},
	"ln":       {"sfnvT", "", []string{"--symbolic", "--force", "--no-dereference", "--verbose", "--no-target-directory"}},
}

func table(by map[string]program) map[string]program {
	out := make(map[string]program, 4*len(by))
	for names, p := range by {
		for name := range strings.FieldsSeq(names) {
			out[name] = p
		}
	}
	return out
}

// asking says why a reader's call reaches further than its words, or further than anybody can tell; "" if it does not.
func asking(name string, p program, args []string) string {
	for _, a := range args {
		switch {
		case name == "find":
			switch a {
			case "-L", "-follow", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-exec", "-execdir", "-ok", "-okdir":
				return "find is to do more than look, or to follow links"
			}
		case strings.HasSuffix(name, "awk") && containsAny(a, "ARG", "getline", "@", "system", "|"):
			return "awk may open files that its program names"
		case strings.HasSuffix(name, "awk") && strings.Contains(a, ">") && strings.ContainsAny(a, `"$`):
			return "awk may write files that its program names"
		case name == "jq" && containsAny(a, "import", "include"):
			return "jq may read files that its program names"
		case name == "sed" && strings.HasPrefix(a, "-") && strings.Contains(a, "i") && strings.ContainsAny(a, "/*"):
			return "sed may put its backups elsewhere"
		}
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		if a[1] != '-' {
			if strings.ContainsAny(a[1:], p.asks) {
				return name + " is to follow links, or to write elsewhere"
			}
			continue
		}
		opt, _, _ := strings.Cut(a, "=")
		for _, l := range p.long {
			if strings.HasPrefix(l, opt) && opt != "--" {
				return name + " is to follow links, or to write elsewhere"
			}
		}
	}
	return ""
}

func containsAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}

// writing sorts a writer's words: its operands and the values of its options. ok is false where an option is not one of
// those that are known to stay inside.
func writing(name string, args []string) (ops, values []string, symbolic, ok bool) {
	f := flags[name]
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(ops, args[i+1:]...), values, symbolic, true
		case len(a) < 2 || a[0] != '-':
			ops = append(ops, a)
		case a[1] == '-':
			opt, val, glued := strings.Cut(a, "=")
			if glued {
				opt += "="
				values = append(values, val)
			}
			found := false
			for _, l := range f.long {
				found = found || l == opt
			}
			if !found {
				return nil, nil, false, false
			}
			symbolic = symbolic || opt == "--symbolic"
		default:
		cluster:
			for k := 1; k < len(a); k++ {
				c := a[k]
				symbolic = symbolic || c == 's' && name == "ln"
				if strings.IndexByte(f.plain, c) >= 0 {
					continue
				}
				if strings.IndexByte(f.valued, c) < 0 {
					return nil, nil, false, false
				}
				switch {
				case k+1 < len(a):
					values = append(values, a[k+1:])
				case i+1 < len(args):
					i++
					values = append(values, args[i])
				default:
					return nil, nil, false, false
				}
				break cluster
			}
		}
	}
	return ops, values, symbolic, true
}

// named says in which words of a call the tables see files.
func named(f programs.Finding) []string {
	out := make([]string, 0, len(f.Paths))
	for _, p := range f.Paths {
		out = append(out, p.Arg.Text)
	}
	return out
}

// maybePaths returns what may be a path in a word of which nobody knows whether it is one.
func maybePaths(a string) []string {
	if a == "" || a == "-" || a == "--" {
		return nil
	}
	var out []string
	if a[0] == '-' {
		if len(a) > 2 && a[1] != '-' {
			out = append(out, a[2:])
		}
		if i := strings.Index(a, ".."); i > 2 && a[i-1] != '/' && a[i-1] != '=' && (i+2 == len(a) || a[i+2] == '/') {
			out = append(out, a[i:])
		}
	} else {
		out = append(out, a)
	}
	if _, v, ok := strings.Cut(a, "="); ok && v != "" {
		out = append(out, v)
	}
	if _, v, ok := strings.Cut(a, ":"); ok && !strings.HasPrefix(v, "//") && (strings.Contains(v, "/") || strings.Contains(v, "..")) {
		out = append(out, v)
	}
	if a[0] == '@' && len(a) > 1 {
		out = append(out, a[1:])
	}
	return out
}

func base(p string) string {
	if b := path.Base(p); b != "/" && b != "." && b != ".." {
		return b
	}
	return ""
}
