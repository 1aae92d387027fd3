package sandbox

import "strings"

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
