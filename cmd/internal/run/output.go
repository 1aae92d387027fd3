package run

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outdir"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session"
)

// outputOptions are the flags that say what becomes of output, and in which surroundings the command runs.
type outputOptions struct {
	Diff      bool
	OutDir    string
	MaxOutput int64 // bytes of each stream; 0 is what the form of output keeps by default
	Env       []string
	CWD       string
}

func (o *outputOptions) flags(fl *pflag.FlagSet) {
	fl.BoolVar(&o.Diff, "diff", false, "print the most frequent good outcome, and how the outputs of the other hosts differ from it")
	fl.StringVar(&o.OutDir, "out-dir", "", "also write each host's whole output to `dir`/HOST/stdout, stderr and result.json")
	fl.Var(sizeFlag{&o.MaxOutput}, "max-output", "keep so much of each stream with --json (64KiB), --fold and --diff (256KiB): 10MiB, 1GiB")
	fl.StringArrayVar(&o.Env, "env", nil, "set a variable, `KEY=VALUE`, for the command; repeatable")
	fl.StringVar(&o.CWD, "cwd", "", "run in this `directory` of the host")
}

func (o *outputOptions) parse(all *Options, scripted bool) error {
	forms := 0
	for _, on := range []bool{all.JSON, all.Fold, o.Diff} {
		if on {
			forms++
		}
	}
	switch {
	case forms > 1:
		return cmdutil.Usagef("--json, --fold and --diff exclude each other")
	case o.MaxOutput > 0 && forms == 0:
		return cmdutil.Usagef("--max-output has an effect with --json, --fold or --diff; other output is whole")
	case all.Program && (o.CWD != "" || len(o.Env) > 0):
		return cmdutil.Usagef("--program runs without a shell, which --cwd and --env need: leave --program out")
	}
	for _, kv := range o.Env {
		if !envText.MatchString(kv) {
			return cmdutil.Usagef("--env needs KEY=VALUE, with a KEY of letters, digits and _ that does not begin with a digit")
		}
	}
	if o.CWD == "" && len(o.Env) == 0 || scripted || all.prompted { // the command is not known yet
		return nil
	}
	return all.surround()
}

// surround puts the command into its directory and gives it its variables.
func (o *Options) surround() error {
	text, err := session.Command{Script: o.Script, Dir: o.CWD, Env: o.Env}.Text()
	if err != nil {
		return cmdutil.Usagef("--cwd or --env: %w", err)
	}
	o.Script = text
	return nil
}

// sizeFlag is a number of bytes.
type sizeFlag struct{ n *int64 }

// maxOutput bounds --max-output: so much of each stream of each host is in memory.
const maxOutput = 1 << 30

var envText = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

var sizeText = lazyregexp.New(`^([0-9]{1,10})(KiB|MiB|GiB|)$`)

func (s sizeFlag) Set(text string) error {
	m := sizeText.FindStringSubmatch(text)
	if m == nil {
		return errors.New("must be a size such as 64KiB, 10MiB or 1GiB")
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	n <<= map[string]int{"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[m[2]]
	if err != nil || n < 1 || n > maxOutput {
		return errors.New("must be between 1 byte and 1GiB")
	}
	*s.n = n
	return nil
}

func (s sizeFlag) String() string {
	if s.n == nil || *s.n == 0 {
		return ""
	}
	return strconv.FormatInt(*s.n, 10)
}

func (s sizeFlag) Type() string { return "size" }

// both writes to two writers, of which the first may be nil.
func both(a, b io.Writer) io.Writer {
	if a == nil {
		return b
	}
	return io.MultiWriter(a, b)
}

// begin adds to the writers of a host's view what keeps its output otherwise.
func (r *report) begin(t *target, stdout, stderr io.Writer) (io.Writer, io.Writer) {
	if r.files != nil {
		o, e := r.files.Start(t.label)
		stdout, stderr = both(stdout, o), both(stderr, e)
	}
	if n := r.o.MaxOutput; n > 0 {
		outs, errs := &textTree{}, &textTree{}
		if f, ok := r.view.(*foldView); ok { // others forget a host's output when it is printed
			outs, errs = &f.outs, &f.errs
		}
		t.kept = &kept{newCapture(n, outs), newCapture(n, errs)}
		stdout, stderr = both(stdout, t.kept.stdout), both(stderr, t.kept.stderr)
	}
	return stdout, stderr
}

// kept is how much of a host's output --max-output wants.
type kept struct{ stdout, stderr *capture }

// put puts it into a Result. It may be called on nil, where the Result has what it needs.
func (k *kept) put(res *session.Result) {
	if k == nil {
		return
	}
	res.Stdout, res.CutStdout, res.OmittedStdout = k.stdout.bytes()
	res.Stderr, res.CutStderr, res.OmittedStderr = k.stderr.bytes()
}

// finish puts into a Result what was kept of its output, and ends its files.
func (r *report) finish(t *target, res *session.Result) {
	t.kept.put(res)
	if r.files == nil {
		return
	}
	if err := r.files.Done(t.label, *res); err != nil && res.Err == nil {
		res.Status = session.StatusError
		res.Err = &session.Error{Op: "run", Host: t.host.Name, Code: "write", Sent: true, Err: fmt.Errorf("the output could not be written: %w", err)}
	}
}

// openDir opens --out-dir.
func (o *Options) openDir(labels []string) (*outdir.Dir, error) {
	if o.OutDir == "" {
		return nil, nil
	}
	d, err := outdir.New(o.OutDir, labels)
	if err != nil {
		return nil, cmdutil.Usagef("--out-dir: %w", err)
	}
	return d, nil
}

// omission counts what is not shown of the output of hosts.
type omission struct {
	names []string
	bytes int64
}

func (m *omission) add(label string, r session.Result) {
	if n := r.OmittedStdout + r.OmittedStderr; n > 0 {
		m.names = append(m.names, label)
		m.bytes += n
	}
}

// text says what is not shown, and what shows it; "" if all is.
func (m *omission) text() string {
	if len(m.names) == 0 {
		return ""
	}
	return fmt.Sprintf("fairlead: %d bytes of output omitted (%s): use --max-output 10MiB, or --out-dir DIR for all of it\n", m.bytes, hosts.Fold(append([]string(nil), m.names...)))
}

// capture keeps the first and the last bytes of a stream.
type capture struct {
	head  treeText
	long  int // of head
	tail  []byte
	half  int // of the most that is kept
	total int64
}

// newCapture returns a capture of one of the streams whose beginnings are in a tree.
func newCapture(most int64, in *textTree) *capture {
	return &capture{head: in.text(), half: int(most+1) / 2}
}

func (c *capture) Write(p []byte) (int, error) {
	c.total += int64(len(p))
	n := len(p)
	if room := min(c.half-c.long, len(p)); room > 0 {
		c.head.add(p[:room])
		c.long += room
		p = p[room:]
	}
	if len(p) > c.half {
		p = p[len(p)-c.half:]
	}
	c.tail = append(c.tail, p...)
	if over := len(c.tail) - c.half; over > c.half { // rarely, so that each byte is moved once
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
	return n, nil
}

// bytes returns what is kept, where bytes are missing in it, and how many. Neither half ends inside a character.
func (c *capture) bytes() (text []byte, cut, omitted int64) {
	tail := c.tail[max(0, len(c.tail)-c.half):]
	head := c.head.bytes(len(tail))
	if c.total == int64(len(head)+len(tail)) {
		return append(head, tail...), 0, 0
	}
	head = wholeRunes(head)
	for i := 1; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	return append(head, tail...), int64(len(head)), c.total - int64(len(head)+len(tail))
}

// wholeRunes is text without the beginning of a character at its end.
func wholeRunes(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		last := text[len(text)-i:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
