package framing_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// The tokens of every scripted stream.
var (
	tokA     = token("A")
	tokB     = token("B")
	tokShell = token("s")
	tokNonce = token("n")
)

// token returns a token that begins and ends in a recognisable way.
func token(s string) (t framing.Token) {
	copy(t[:], s+"-"+strings.Repeat("x", framing.TokenLen-3)+s)
	return t
}

// wire spells a stream: A, B, s and n in angle brackets stand for RS and that token, ~ for the start of a record of one
// byte, and a plain <> for RS alone.
func wire(text string) []byte {
	return []byte(strings.NewReplacer("<A>", "\x1e"+tokA.String(), "<B>", "\x1e"+tokB.String(), "<s>", "\x1e"+tokShell.String(),
		"<n>", "\x1e"+tokNonce.String(), "<~>", "\x1e~"+tokShell.String()[:8], "<>", "\x1e").Replace(text))
}

// step is an event to compare: neighbours of one kind are joined, an error is its cause.
type step struct {
	kind    framing.Kind
	data    string
	trailer framing.Trailer
	exit    framing.Exit
	err     error
}

func (s step) isData() bool {
	return s.kind == framing.Stdout || s.kind == framing.Stderr || s.kind == framing.Stray
}

func out(s string) step     { return step{kind: framing.Stdout, data: s} }
func errs(s string) step    { return step{kind: framing.Stderr, data: s} }
func refused(s string) step { return step{kind: framing.Refused, data: s} }

func stray(s string) step { return step{kind: framing.Stray, data: s} }
func ended(code int, dir string) step {
	return step{kind: framing.Ended, trailer: framing.Trailer{ExitCode: code, Dir: dir}}
}
func broken(err error) step { return step{kind: framing.Broken, err: err} }

var started = step{kind: framing.Started}

// steps feeds a stream in the given pieces to a decoder that expects the frames one after the other.
func steps(t testing.TB, errorMarks bool, frames []framing.Token, pieces ...[]byte) []step {
	d := framing.NewDecoder(tokShell, tokNonce, errorMarks)
	var all []step
	if len(frames) > 0 {
		d.Expect(frames[0])
		frames = frames[1:]
	}
	total := 0
	for _, p := range pieces {
		total += len(p)
		d.Feed(p)
		for n := 0; ; n++ {
			require.LessOrEqual(t, n, 4*total+8, "the decoder goes on for ever")
			ev, ok := d.Next()
			if !ok {
				break
			}
			s := step{kind: ev.Kind, data: string(ev.Data), trailer: ev.Trailer, exit: ev.Exit}
			if ev.Err != nil {
				s.err = ev.Err.Unwrap()
			}
			if ev.Kind == framing.Ended && len(frames) > 0 {
				d.Expect(frames[0])
				frames = frames[1:]
			}
			all = join(all, s)
		}
	}
	return all
}

func join(all []step, s step) []step {
	if n := len(all); n > 0 && s.isData() && all[n-1].kind == s.kind {
		all[n-1].data += s.data
		return all
	}
	return append(all, s)
}

// pieces cuts b into pieces of n bytes.
func pieces(b []byte, n int) (cut [][]byte) {
	for len(b) > n {
		cut = append(cut, bytes.Clone(b[:n]))
		b = b[n:]
	}
	return append(cut, b)
}

// streams are what a shell with the supervisor in perl sends for the frame A, and what it means.
var streams = map[string]struct {
	wire string
	want []step
}{
	"a silent command":              {"<A>S<A>E0;hB;/<A>Z\n", []step{started, ended(0, "/")}},
	"output":                        {"<A>Sabc<A>E7;hB;/tmp<A>Z\n", []step{started, out("abc"), ended(7, "/tmp")}},
	"errors apart":                  {"<A>So1<s>e3;E1\no2<A>E0;;/<A>Z\n", []step{started, out("o1"), errs("E1\n"), out("o2"), ended(0, "/")}},
	"errors before the start":       {"<s>e2;ab<A>S<A>E0;;/<A>Z\n", []step{errs("ab"), started, ended(0, "/")}},
	"two records":                   {"<A>S<s>e1;a<s>e1;b<A>E0;;/<A>Z\n", []step{started, errs("ab"), ended(0, "/")}},
	"a record in the trailer":       {"<A>S<A>E0;;/t<s>e1;emp<A>Z\n", []step{started, errs("e"), ended(0, "/tmp")}},
	"a record before the newline":   {"<A>S<A>E0;;/tmp<A>Z\n<s>e1;e", []step{started, ended(0, "/tmp"), stray("e")}},
	"a refused call":                {"<A>So<s>r2;a<>o<A>E0;;/<A>Z\n", []step{started, out("o"), refused("a\x1e"), out("o"), ended(0, "/")}},
	"two refused calls":             {"<A>S<s>r1;a<s>r1;b<A>E0;;/<A>Z\n", []step{started, refused("a"), refused("b"), ended(0, "/")}},
	"a refused call, and no frame":  {"<s>r1;a", []step{refused("a")}},
	"a refused call in the trailer": {"<A>S<A>E0;;/t<s>r1;xmp<A>Z\n", []step{started, refused("x"), ended(0, "/tmp")}},
	"a refused call in a farewell":  {"<n>C/t<s>r1;xmp<n>c<s>r1;y<s>X0;0\n", []step{refused("x"), refused("y"), {kind: framing.Exited, exit: framing.Exit{Dir: "/tmp"}}}},
	"a refused call of no length":   {"<A>S<s>r0;<A>E0;;/<A>Z\n", []step{started, broken(framing.ErrMalformed), ended(0, "/")}},
	"a refused call that is torn":   {"<A>S<s>r9;abc", []step{started}},
	"marks inside a record":         {"<A>S<s>e53;<A>E0;;/<A>Z\n<A>E0;;/<A>E0;;/<A>Z\n", nil},
	"all bytes in output":           {"<A>S\x00\r\n\xff\x1d\x1f\x80<A>E0;;/<A>Z\n", []step{started, out("\x00\r\n\xff\x1d\x1f\x80"), ended(0, "/")}},
	"RS in output":                  {"<A>S<><>a<>\n<><A>E0;;/<A>Z\n", []step{started, out("\x1e\x1ea\x1e\n\x1e"), ended(0, "/")}},
	"half a mark in output":         {"<A>S<>A-xxxxxxxxx\n<A>E0;;/<A>Z\n", []step{started, out("\x1eA-xxxxxxxxx\n"), ended(0, "/")}},
	"half a mark and a whole one":   {"<A>S<>A-xxx<A>E0;;/<A>Z\n", []step{started, out("\x1eA-xxx"), ended(0, "/")}},
	"a mark without RS":             {"<A>S" + "A-xxxxxxxxxxxxxxxxxxxAE" + "<A>E0;;/<A>Z\n", []step{started, out("A-xxxxxxxxxxxxxxxxxxxAE"), ended(0, "/")}},
	"the token of another frame":    {"<A>S<B>E0;;/<B>Z\n<A>E0;;/<A>Z\n", []step{started, out("\x1e" + tokB.String() + "E0;;/\x1e" + tokB.String() + "Z\n"), ended(0, "/")}},
	"a letter that is none":         {"<A>S<A>Q<s>Q<n>Q<A>E0;;/<A>Z\n", []step{started, out("\x1e" + tokA.String() + "Q\x1e" + tokShell.String() + "Q\x1e" + tokNonce.String() + "Q"), ended(0, "/")}},
	"marks of the start":            {"<A>S<n>Tx<n>Hbash;1;;/<n>h<n>Fno\n<A>E0;;/<A>Z\n", []step{started, out(string(wire("<n>Tx<n>Hbash;1;;/<n>h<n>Fno\n"))), ended(0, "/")}},
	"late output before the start":  {"late\n<A>Snow\n<A>E0;;/<A>Z\n", []step{stray("late\n"), started, out("now\n"), ended(0, "/")}},
	"late output after the end":     {"<A>S<A>E0;;/<A>Z\nlate\n<s>e1;e", []step{started, ended(0, "/"), stray("late\ne")}},
	"the trailer of a raw terminal": {"<A>S<A>E0;;/a\rb<A>Z\n", []step{started, ended(0, "/a\rb")}},
	"the trailer of a cooked terminal": {"<A>S<A>E0;;/<A>Z\r\n", []step{started,
		{kind: framing.Ended, trailer: framing.Trailer{Dir: "/", Cooked: true}}}},
	"flags": {"<A>S<A>E0;exB;/<A>Z\n", []step{started,
		{kind: framing.Ended, trailer: framing.Trailer{Dir: "/", Trace: true, Errexit: true}}}},
	"a directory from pwd":                  {"<A>S<A>E0;;/a\n<A>z\n", []step{started, ended(0, "/a")}},
	"a directory that ends in LF":           {"<A>S<A>E0;;/a\n<A>Z\n", []step{started, ended(0, "/a\n")}},
	"the same from pwd":                     {"<A>S<A>E0;;/a\n\n<A>z\n", []step{started, ended(0, "/a\n")}},
	"no directory at all":                   {"<A>S<A>E1;;<A>z\n", []step{started, ended(1, "")}},
	"a directory of any bytes":              {"<A>S<A>E0;;/;'\x1f\xff<>é\x00<A>Z\n", []step{started, ended(0, "/;'\x1f\xff\x1eé\x00")}},
	"a code above 255":                      {"<A>S<A>E258;;/<A>Z\n", []step{started, ended(130, "/")}},
	"a start twice":                         {"<A>S<A>S<A>E0;;/<A>Z\n", []step{started, broken(framing.ErrDoubled), ended(0, "/")}},
	"a trailer twice":                       {"<A>S<A>E0;;/<A>E0;;/<A>Z\n", nil},
	"a trailer before the start":            {"<A>E0;;/<A>Z\n", []step{broken(framing.ErrDoubled), stray("0;;/"), broken(framing.ErrDoubled), stray("\n")}},
	"the end of a trailer alone":            {"<A>S<A>Z\n", []step{started, broken(framing.ErrDoubled), out("\n")}},
	"that end in a farewell":                {"<A>S<n>C/no<A>Z\n", []step{started, out(string(wire("<n>C/no"))), broken(framing.ErrDoubled), out("\n")}},
	"a trailer without a code":              {"<A>S<A>Ex;;/<A>Z\n", []step{started, broken(framing.ErrMalformed)}},
	"a negative code":                       {"<A>S<A>E-1;;/<A>Z\n", []step{started, broken(framing.ErrMalformed)}},
	"a trailer without fields":              {"<A>S<A>E0<A>Z\n", []step{started, broken(framing.ErrMalformed)}},
	"a trailer without a newline":           {"<A>S<A>E0;;/<A>Zx", []step{started, broken(framing.ErrMalformed)}},
	"a length that is none":                 {"<A>S<s>ex;a<A>E0;;/<A>Z\n", []step{started, broken(framing.ErrMalformed), out("a"), ended(0, "/")}},
	"a negative length":                     {"<A>S<s>e-4;a<A>E0;;/<A>Z\n", []step{started, broken(framing.ErrMalformed), out("a"), ended(0, "/")}},
	"a length of nothing":                   {"<A>S<s>e0;<A>E0;;/<A>Z\n", []step{started, broken(framing.ErrMalformed), ended(0, "/")}},
	"a length beyond all numbers":           {"<A>S<s>e99999999999999999999;<A>E0;;/<A>Z\n", []step{started, broken(framing.ErrMalformed), ended(0, "/")}},
	"a length without an end":               {"<A>S<s>e1111111111111111111111111;<A>E0;;/<A>Z\n", []step{started, broken(framing.ErrMalformed), out(";"), ended(0, "/")}},
	"a status that is none":                 {"<s>Xx;0\n", []step{broken(framing.ErrMalformed)}},
	"a signal that is none":                 {"<s>X0;x\n", []step{broken(framing.ErrMalformed)}},
	"an exit":                               {"<A>Sa<n>C/d<n>c<s>X3;0\n", []step{started, out("a"), {kind: framing.Exited, exit: framing.Exit{Code: 3, Dir: "/d"}}}},
	"an exit of a cooked terminal":          {"<A>S<s>X3;0\r\n", []step{started, {kind: framing.Exited, exit: framing.Exit{Code: 3}}}},
	"a kill":                                {"<A>S<s>X0;9\n", []step{started, {kind: framing.Exited, exit: framing.Exit{Signal: 9}}}},
	"a kill that only the code tells":       {"<A>S<s>X137;?\n", []step{started, {kind: framing.Exited, exit: framing.Exit{Code: 137, Signal: 9}}}},
	"a kill that ksh93's code tells":        {"<A>S<s>X265;?\n", []step{started, {kind: framing.Exited, exit: framing.Exit{Code: 137, Signal: 9}}}},
	"an exit that looks like a kill":        {"<A>S<n>C/<n>c<s>X137;?\n", []step{started, {kind: framing.Exited, exit: framing.Exit{Code: 137, Dir: "/"}}}},
	"a farewell before the start":           {"<n>C/d<n>c<A>S<s>X3;0\n", []step{started, {kind: framing.Exited, exit: framing.Exit{Code: 3, Dir: "/d"}}}},
	"a farewell around the start":           {"<n>C/<A>Sd<n>c<s>X3;0\n", []step{started, {kind: framing.Exited, exit: framing.Exit{Code: 3, Dir: "/d"}}}},
	"a directory from pwd that ends in CR":  {"<A>S<A>E0;;/a\r\n<A>z\n", []step{started, ended(0, "/a\r")}},
	"the same from a cooked terminal":       {"<A>S<A>E0;;/a\r\n<A>z\r\n", []step{started, {kind: framing.Ended, trailer: framing.Trailer{Dir: "/a", Cooked: true}}}},
	"a farewell inside a record":            {"<A>S<s>e100;yy<n>C/tmp<n>c", []step{started, errs("yy")}},
	"a farewell past a record":              {"<A>S<s>e9;yy<n>C/tmp<n>c", []step{started, errs("yy")}},
	"its RS inside":                         {"<A>S<s>e3;yy<n>C/tmp<n>c", []step{started, errs("yy")}},
	"only its last byte outside":            {"<A>S<s>e53;yy<n>C/tmp<n>c", []step{started, errs("yy")}},
	"RS and a farewell past a record":       {"<A>S<s>e9;yy<><n>C/tmp<n>c", []step{started, errs("yy\x1e")}},
	"two farewells past a record":           {"<A>S<s>e9;<n>C/no<n>c<n>C/tmp<n>c", []step{started, errs(string(wire("<n>C/no<n>c"))[:9]), out(string(wire("<n>C/no<n>c"))[9:])}},
	"a record that ends in RS":              {"<A>S<s>e3;yy<>n-xx<>\n<A>E0;;/<A>Z\n", []step{started, errs("yy\x1e"), out("n-xx\x1e\n"), ended(0, "/")}},
	"a record that ends in half a mark":     {"<A>S<s>e6;yy<>n-x<A>E0;;/<A>Z\n", []step{started, errs("yy\x1en-x"), ended(0, "/")}},
	"a record that ends in a farewell":      {"<A>S<s>e54;yy<n>C/tmp<n>c<A>E0;;/<A>Z\n", []step{started, errs("yy" + string(wire("<n>C/tmp<n>c"))), ended(0, "/")}},
	"a record that ends in half a farewell": {"<A>S<s>e30;yy<n>C/tmp<A>E0;;/<A>Z\n", []step{started, errs("yy" + string(wire("<n>C/tmp"))), ended(0, "/")}},
	"a record that ends in another mark":    {"<A>S<s>e26;yy<n>c", []step{started, errs("yy" + string(wire("<n>c")))}},
	"another mark in place of its end":      {"<A>S<s>e9;yy<n>C/tmp<n>Q", []step{started, errs("yy" + string(wire("<n>C/tmp<n>Q"))[:7]), out(string(wire("<n>C/tmp<n>Q"))[7:])}},
	"and output with RS":                    {"<A>S<s>e30;yy<n>C/tmpa<>b", []step{started, errs("yy" + string(wire("<n>C/tmp"))), out("a\x1eb")}},
	"a farewell past it and output":         {"<A>S<s>e9;yy<n>C/tmp<n>cmore<A>E0;;/<A>Z\n", []step{started, errs("yy" + string(wire("<n>C/tmp<n>c"))[:7]), out(string(wire("<n>C/tmp<n>c"))[7:] + "more"), ended(0, "/")}},
	"a farewell around a record":            {"<A>S<n>C/<s>e1;ed<n>c<s>X3;0\n", []step{started, errs("e"), {kind: framing.Exited, exit: framing.Exit{Code: 3, Dir: "/d"}}}},
	"output after a farewell":               {"<A>S<n>C/d<n>clast<s>X3;0\n", []step{started, out("last"), {kind: framing.Exited, exit: framing.Exit{Code: 3, Dir: "/d"}}}},
	"output after an exit":                  {"<A>S<s>X3;0\nlate", []step{started, {kind: framing.Exited, exit: framing.Exit{Code: 3}}, stray("late")}},
	"an exit between frames":                {"<A>S<A>E0;;/<A>Z\n<s>X1;0\n", []step{started, ended(0, "/"), {kind: framing.Exited, exit: framing.Exit{Code: 1}}}},
	"a forged farewell":                     {"<A>Sa<n>C/no<n>c<A>E0;;/<A>Z\n", []step{started, out("a" + string(wire("<n>C/no<n>c"))), ended(0, "/")}},
	"the start of a forged farewell":        {"<A>Sa<n>C\nb\n<A>E0;;/<A>Z\n", []step{started, out("a" + string(wire("<n>C\nb\n"))), ended(0, "/")}},
	"the end of a forged farewell":          {"<A>Sa<n>cb\n<A>E0;;/<A>Z\n", []step{started, out("a" + string(wire("<n>cb\n"))), ended(0, "/")}},
	"a forged and a true farewell":          {"<A>S<n>C/no<n>c<n>C/d<n>c<s>X0;0\n", []step{started, out(string(wire("<n>C/no<n>c"))), {kind: framing.Exited, exit: framing.Exit{Dir: "/d"}}}},
	"half a farewell and an exit":           {"<A>S<n>C/no<s>X0;9\n", []step{started, out(string(wire("<n>C/no"))), {kind: framing.Exited, exit: framing.Exit{Signal: 9}}}},
	"a farewell in an earlier frame":        {"<A>S<n>C/no<n>c<A>E0;;/<A>Z\n<s>X137;?\n", []step{started, out(string(wire("<n>C/no<n>c"))), ended(0, "/"), {kind: framing.Exited, exit: framing.Exit{Code: 137, Signal: 9}}}},
}

func TestAStreamMeansTheSameWhereverItIsCut(t *testing.T) {
	for name, tt := range streams {
		t.Run(name, func(t *testing.T) {
			b := wire(tt.wire)
			whole := steps(t, false, []framing.Token{tokA}, b)
			if tt.want != nil {
				assert.Equal(t, tt.want, whole)
			}
			assert.Equal(t, reference(false, []framing.Token{tokA}, b), whole)
			for i := range len(b) + 1 {
				require.Equal(t, whole, steps(t, false, []framing.Token{tokA}, b[:i], b[i:]), "cut at %d", i)
			}
			for n := 1; n < 30; n++ {
				require.Equal(t, whole, steps(t, false, []framing.Token{tokA}, pieces(b, n)...), "pieces of %d", n)
			}
		})
	}
}

// slowStreams come from a supervisor whose reader of errors is a process of its own.
var slowStreams = map[string]struct {
	wire string
	want []step
}{
	"the end mark first":              {"<A>S<s>e25;<A>e\n<A>E0;;/<A>Z\n", []step{started, ended(0, "/")}},
	"the end mark last":               {"<A>S<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, ended(0, "/")}},
	"errors after the trailer":        {"<A>S<A>E0;;/<A>Z\n<s>e4;late<s>e25;<A>e\n", []step{started, errs("late"), ended(0, "/")}},
	"errors and the mark in one":      {"<A>S<A>E0;;/<A>Z\n<s>e27;ab<A>e\n", []step{started, errs("ab"), ended(0, "/")}},
	"the mark in two records":         {"<A>S<A>E0;;/<A>Z\n<s>e3;<>A-<s>e22;xxxxxxxxxxxxxxxxxxxAe\n", []step{started, ended(0, "/")}},
	"the newline in a record later":   {"<A>S<A>E0;;/<A>Z\n<s>e24;<A>e<s>e3;\nab", []step{started, ended(0, "/"), errs("ab")}},
	"output while errors are late":    {"<A>S<A>E0;;/<A>Z\nbg<s>e25;<A>e\n", []step{started, stray("bg"), ended(0, "/")}},
	"errors after the end mark":       {"<A>S<s>e27;<A>e\nbg<A>E0;;/<A>Z\n", []step{started, stray("bg"), ended(0, "/")}},
	"the mark of another frame":       {"<A>S<A>E0;;/<A>Z\n<s>e25;<B>e\n<s>e25;<A>e\n", []step{started, errs(string(wire("<B>e\n"))), ended(0, "/")}},
	"a trailer in errors":             {"<A>S<s>e8;<>A-0;;/\n<s>e25;<A>e\n<A>E0;;/<A>Z\n", []step{started, errs("\x1eA-0;;/\n"), ended(0, "/")}},
	"records of one byte":             {"<A>S<~>00\n<~>ff\n<~>0a\n<~>1e\n<~>41\n<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, errs("\x00\xff\n\x1eA"), ended(0, "/")}},
	"records of one byte and output":  {"<A>So<~>41\np<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, out("o"), errs("A"), out("p"), ended(0, "/")}},
	"records of one byte with CR":     {"<A>S<~>41\r\n<~>42\r\no\n<~>43\r\n\n<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, errs("AB"), out("o\n"), errs("C"), out("\n"), ended(0, "/")}},
	"a record of one byte cut short":  {"<A>S<~>4<~>41\n<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, out("\x1e~s-xxxxxx4"), errs("A"), ended(0, "/")}},
	"a record of one byte with more":  {"<A>S<~>411\n<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, out("\x1e~s-xxxxxx411\n"), ended(0, "/")}},
	"a record of one byte in letters": {"<A>S<~>4G\n<~>AA\n<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, out("\x1e~s-xxxxxx4G\n\x1e~s-xxxxxxAA\n"), ended(0, "/")}},
	"a byte that begins in a letter":  {"<A>S<~>G4\n<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, out("\x1e~s-xxxxxxG4\n"), ended(0, "/")}},
	"a record of another shell":       {"<A>S<>~s-xxxxxA41\n<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, out("\x1e~s-xxxxxA41\n"), ended(0, "/")}},
	"a record of one byte in errors":  {"<A>S<s>e13;<~>41\n<A>E0;;/<A>Z\n<s>e25;<A>e\n", []step{started, errs("\x1e~s-xxxxxx41\n"), ended(0, "/")}},
	"an exit through both":            {"<A>S<s>X3;?\n<s>e25;<s>X\n", []step{started, {kind: framing.Exited, exit: framing.Exit{Code: 3}}}},
	"an exit, errors first":           {"<A>S<s>e27;ab<s>X\n<s>X3;?\n", []step{started, errs("ab"), {kind: framing.Exited, exit: framing.Exit{Code: 3}}}},
	"an exit through one":             {"<A>S<s>X3;?\n<s>e2;ab", []step{started, errs("ab")}},
	"two frames": {"<A>S<A>E0;;/<A>Z\n<s>e25;<A>e\nx<B>S<s>e27;ab<B>e\n<B>E1;;/<B>Z\n", []step{started, ended(0, "/"), stray("x"), started,
		errs("ab"), ended(1, "/")}},
}

func TestAStreamWithAReaderOfItsOwnMeansTheSameWhereverItIsCut(t *testing.T) {
	for name, tt := range slowStreams {
		t.Run(name, func(t *testing.T) {
			b := wire(tt.wire)
			frames := []framing.Token{tokA, tokB}
			whole := steps(t, true, frames, b)
			assert.Equal(t, tt.want, whole)
			assert.Equal(t, reference(true, frames, b), whole)
			for i := range len(b) + 1 {
				require.Equal(t, whole, steps(t, true, frames, b[:i], b[i:]), "cut at %d", i)
			}
			for n := 1; n < 30; n++ {
				require.Equal(t, whole, steps(t, true, frames, pieces(b, n)...), "pieces of %d", n)
			}
		})
	}
}

func TestADecoderThatExpectsNothingCallsEverythingStray(t *testing.T) {
	b := wire("a<A>Sb<A>E0;;/<A>Z\n<s>e2;cd")
	assert.Equal(t, []step{stray(string(wire("a<A>Sb<A>E0;;/<A>Z\ncd")))}, steps(t, false, nil, b))
}

func TestAFieldOfAnyLengthIsBoundedInTheSamePlace(t *testing.T) {
	long := strings.Repeat("d", 1<<16+100)
	for name, text := range map[string]string{
		"a trailer":         "<A>S<A>E0;;/" + long + "<A>Z\n<s>e1;e",
		"a farewell":        "<A>S<n>C" + long + "<A>E0;;/<A>Z\n",
		"a trailer with RS": "<A>S<A>E0;;/" + strings.Repeat("<>A-", 30000) + "<A>Z\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := wire(text)
			whole := steps(t, false, []framing.Token{tokA}, b)
			if name == "a farewell" {
				assert.Equal(t, []step{started, out(string(wire("<n>C" + long))), ended(0, "/")}, whole)
			} else {
				assert.Contains(t, whole, broken(framing.ErrMalformed))
			}
			for _, n := range []int{1, 7, 1000, 65536} {
				require.Equal(t, whole, steps(t, false, []framing.Token{tokA}, pieces(b, n)...), "pieces of %d", n)
			}
		})
	}
}

func TestAStreamThatEndsInsideAFrameIsTorn(t *testing.T) {
	b := wire("<A>Sout<s>e3;err<A>E0;;/<A>Z\n<s>e5;later")
	done := bytes.Index(b, wire("<A>Z\n")) + framing.MarkLen + 1
	for i := range len(b) + 1 {
		d := framing.NewDecoder(tokShell, tokNonce, false)
		d.Expect(tokA)
		d.Feed(b[:i])
		for _, ok := d.Next(); ok; _, ok = d.Next() {
		}
		err := d.Close()
		switch {
		case i < done:
			require.NotNil(t, err, "cut at %d", i)
			require.ErrorIs(t, err, framing.ErrTorn)
			require.Contains(t, err.Error(), "framing: the stream ended inside a frame (at byte ")
			require.Equal(t, int64(i), err.Offset)
		case i == done || i == len(b):
			require.Nil(t, err, "cut at %d", i)
		}
	}
}

func TestWhatIsFedBeforeTheLastPieceIsUsedUpIsNotLost(t *testing.T) {
	d := framing.NewDecoder(tokShell, tokNonce, false)
	d.Expect(tokA)
	d.Feed(wire("<A>Sab"))
	d.Feed(wire("cd<A>E0;;/<A>Z\n"))
	var all []step
	for ev, ok := d.Next(); ok; ev, ok = d.Next() {
		all = join(all, step{kind: ev.Kind, data: string(ev.Data), trailer: ev.Trailer})
	}
	assert.Equal(t, []step{started, out("abcd"), ended(0, "/")}, all)
}

// A live stream must be live: text is handed on at once but for what may still become a mark.
func TestAtMostOneMarkIsHeldBack(t *testing.T) {
	b := wire("<A>Sabc<>A-xx<>\n<B>Z<>~s-xxxxxx4<><s>e100000;abc")
	d := framing.NewDecoder(tokShell, tokNonce, false)
	d.Expect(tokA)
	given := 0
	for i := range b {
		d.Feed(b[i : i+1])
		for ev, ok := d.Next(); ok; ev, ok = d.Next() {
			given += len(ev.Data)
		}
		known := framing.MarkLen // the start
		if j := bytes.Index(b, wire("<s>")); i > j {
			known += min(i+1-j, framing.MarkLen+len("100000;")) // the record's head
		}
		require.LessOrEqual(t, i+1-known-given, framing.MarkLen-1, "at byte %d", i)
	}
}

func TestTheDecoderAllocatesNothingForOutput(t *testing.T) {
	for name, text := range map[string]string{
		"plain":               strings.Repeat("output ", 1000),
		"full of RS":          strings.Repeat("<>", 1000),
		"half marks":          strings.Repeat("<>A-xxxxxxx", 1000),
		"records":             strings.Repeat("<s>e5;error", 1000),
		"records of one byte": strings.Repeat("<~>41\n", 1000),
		"mixed":               strings.Repeat("out<s>e5;error<~>41\n<>A-", 500),
	} {
		for _, size := range []int{1 << 20, 4096, 13} {
			for _, own := range []bool{false, true} {
				d := framing.NewDecoder(tokShell, tokNonce, own)
				d.Expect(tokA)
				d.Feed(wire("<A>S<s>e1;x"))
				for _, ok := d.Next(); ok; _, ok = d.Next() {
				}
				cut := pieces(wire(text), size)
				allocs := testing.AllocsPerRun(3, func() {
					for _, p := range cut {
						d.Feed(p)
						for _, ok := d.Next(); ok; _, ok = d.Next() {
						}
					}
				})
				assert.Zero(t, allocs, "%s in pieces of %d", name, size)
			}
		}
	}
}

// Pieces may be handed over before Next has used what came before.
func TestPiecesWaitForNext(t *testing.T) {
	stream := wire("<A>")
	for n := range len(stream) {
		read := func(pieces ...[]byte) string {
			d := framing.NewDecoder(tokShell, tokNonce, false)
			for _, p := range pieces {
				d.Feed(p)
			}
			var b strings.Builder
			for ev, ok := d.Next(); ok; ev, ok = d.Next() {
				fmt.Fprintf(&b, "%+v\n", ev)
			}
			return b.String()
		}
		text := append([]byte("some text\n"), stream...)
		assert.Equal(t, read(text), read(text[:n], text[n:n], text[n:]), n)
	}
}
