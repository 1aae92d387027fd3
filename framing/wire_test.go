package framing_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// documented decodes a whole session as WIRE.md says, and shares nothing with the decoder of the package. It takes what healthy
// shells print; [reference] is the one for every stream there may be.
type documented struct {
	nonce, shell, reader, dir string
	frames                    []*documentedFrame
	exit                      string // code;signal
	farewell                  string
	stray                     string

	errs     string // of the error stream, up to the next mark
	newline  bool   // one that follows belongs to the mark in the error stream
	shutErrs bool
}

type documentedFrame struct {
	token, out, errs, code, flags, dir string
	started, ended, errsEnded          bool
}

var (
	helloMark = regexp.MustCompile(`(?s)^.*?\x1e([\w-]{22})T([\w-]{22})\r?\n.*?\x1e([\w-]{22})H(\w+);(\d+);(\w*);(.*?)\x1e([\w-]{22})h`)
	frameEnd  = regexp.MustCompile(`(?s)^([^;]*);([^;]*);(.*)$`)
)

func decodeAsDocumented(t *testing.T, printed string, tokens []framing.Token) *documented {
	h := helloMark.FindStringSubmatch(printed)
	require.NotNil(t, h, "no hello in %q", printed)
	d := &documented{nonce: h[1], shell: h[2], reader: h[6], dir: h[7]}
	require.Equal(t, []string{d.nonce, d.nonce}, []string{h[3], h[8]})
	for _, tok := range tokens {
		d.frames = append(d.frames, &documentedFrame{token: tok.String()})
	}
	in := printed[len(h[0]):]
	field, inField := "", false
	for in != "" {
		f := d.current()
		text, mark, rest := d.mark(in, f)
		if text != "" {
			switch in = in[len(text):]; {
			case inField:
				field += text
			case f != nil && f.started && f.code == "":
				f.out += text
			default:
				d.stray += text
			}
			continue
		}
		in = rest
		switch mark {
		case "S":
			f.started = true
		case "E", "C":
			field, inField = "", true
		case "Z", "z":
			inField = false
			if mark == "z" {
				field = strings.TrimSuffix(field, "\n")
			}
			p := frameEnd.FindStringSubmatch(field)
			require.NotNil(t, p, "%q", field)
			require.True(t, strings.HasPrefix(in, "\n"))
			in = in[1:]
			f.code, f.flags, f.dir = p[1], p[2], p[3]
		case "c":
			inField, d.farewell = false, field
		case "r":
			number, bytes, _ := strings.Cut(in, ";")
			n, err := strconv.Atoi(number)
			require.NoError(t, err)
			in = bytes[n:]
		case "e":
			number, bytes, _ := strings.Cut(in, ";")
			n, err := strconv.Atoi(number)
			require.NoError(t, err)
			d.errors(bytes[:n])
			in = bytes[n:]
		case "~":
			b, err := strconv.ParseUint(in[:2], 16, 8)
			require.NoError(t, err)
			d.errors(string([]byte{byte(b)}))
			in = in[3:]
		case "X":
			d.exit, in, _ = strings.Cut(in, "\n")
		}
		if f != nil && f.code != "" && (d.reader == "" || f.errsEnded) {
			f.ended = true
		}
	}
	return d
}

// current is the frame that is under way.
func (d *documented) current() *documentedFrame {
	for _, f := range d.frames {
		if !f.ended {
			return f
		}
	}
	return nil
}

// mark returns the text before the next mark, or the mark and what follows it.
func (d *documented) mark(in string, f *documentedFrame) (text, letter, rest string) {
	marks := map[string]string{"\x1e~" + d.shell[:8]: "~"}
	for tok, letters := range map[string]string{d.nonce: "Cc", d.shell: "eXr"} {
		for _, l := range letters {
			marks["\x1e"+tok+string(l)] = string(l)
		}
	}
	if f != nil {
		for _, l := range "SEZz" {
			marks["\x1e"+f.token+string(l)] = string(l)
		}
	}
	for i := range len(in) {
		if in[i] != '\x1e' {
			continue
		}
		for m, l := range marks {
			if rest, ok := strings.CutPrefix(in[i:], m); ok {
				if i > 0 {
					return in[:i], "", ""
				}
				return "", l, rest
			}
		}
	}
	return in, "", ""
}

// errors takes bytes of the error stream.
func (d *documented) errors(bytes string) {
	f := d.current()
	if d.reader == "" {
		if f != nil && f.code == "" {
			f.errs += bytes
		} else {
			d.stray += bytes
		}
		return
	}
	for _, b := range []byte(bytes) {
		if d.newline && b == '\n' {
			d.newline = false
			continue
		}
		d.newline = false
		d.errs += string([]byte{b})
		if text, ok := strings.CutSuffix(d.errs, "\x1e"+d.shell+"X"); ok {
			d.stray += text
			d.errs, d.newline, d.shutErrs = "", true, true
		} else if f != nil {
			if text, ok := strings.CutSuffix(d.errs, "\x1e"+f.token+"e"); ok {
				f.errs += text
				d.errs, d.newline, f.errsEnded = "", true, true
			}
		}
	}
}

// What real shells print is decoded in the same way by the decoder, by the reference that the fuzzer compares it with, and by
// a decoder that knows nothing but WIRE.md.
func TestTheDocumentedFormatIsWhatShellsPrint(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := startAs(t, account{record: true}, sh)
		var want []outcome
		for _, script := range []string{"echo a", "cd /tmp", "echo e >&2; printf 'a\x1eb\x1e\x1e'; (exit 7)", "", "set -x; echo a", "set +x", "printf '\x1e%s\\n' x >&2",
			"mkdir '/tmp/a;\nb'$$; cd '/tmp/a;\nb'$$; rmdir \"$PWD\""} {
			o := s.run(script)
			require.Nil(t, o.exit, script)
			want = append(want, o)
		}
		s.run("cd /")
		end := s.run("printf bye; exit 3")
		require.NotNil(t, end.exit)

		d := decodeAsDocumented(t, s.wire.String(), s.tokens)
		assert.Equal(t, s.nonce.String(), d.nonce)
		assert.Equal(t, s.hello.Dir, d.dir)
		for i, o := range want {
			f := d.frames[i]
			assert.True(t, f.ended)
			assert.Equal(t, o.stdout, f.out, i)
			assert.Equal(t, o.stderr, f.errs, i)
			assert.Equal(t, strconv.Itoa(o.trailer.ExitCode), f.code, i)
			assert.Equal(t, o.trailer.Dir, f.dir, i)
			assert.Equal(t, o.trailer.Trace, strings.Contains(f.flags, "x"), i)
		}
		last := d.frames[len(d.frames)-1]
		assert.False(t, last.ended)
		assert.Equal(t, "bye", last.out)
		assert.Equal(t, "/", d.farewell)
		assert.Regexp(t, `^3;(0|\?)$`, d.exit)

		// The reference knows other tokens.
		shell := framing.ShellToken(s.hello).String()
		printed := s.wire.String()[len(helloMark.FindString(s.wire.String())):]
		printed = strings.NewReplacer(shell, tokShell.String(), "\x1e~"+shell[:8], "\x1e~"+tokShell.String()[:8], s.nonce.String(), tokNonce.String()).Replace(printed)
		own := d.reader != ""
		all := reference(own, s.tokens, []byte(printed))
		assert.Equal(t, all, steps(t, own, s.tokens, []byte(printed)))
		var stdout string
		for _, step := range all {
			if step.kind == framing.Stdout {
				stdout += step.data
			}
		}
		documentedOut := ""
		for _, f := range d.frames {
			documentedOut += f.out
		}
		assert.Equal(t, documentedOut, stdout)
	})
}

// TestTranscript keeps the session in WIRE.md what a real one is.
func TestTranscript(t *testing.T) {
	s := startAs(t, account{record: true}, framing.Shell{Name: "bash", Reader: "perl"})
	var typed []string
	for _, cmd := range []framing.Command{{Script: "cd /tmp; echo 'a b'"}, {Script: "(exit 7)"}, {Script: "echo $?\nprintf '\x1e'", Status: 7}, {Script: "echo no >&2", Mode: framing.Split}, {Script: "exit 3"}} {
		tok := framing.NewToken()
		text, err := framing.Append(nil, s.hello.Dialect, tok, cmd)
		require.NoError(t, err)
		s.tokens = append(s.tokens, tok)
		s.dec.Expect(tok)
		s.write(text)
		typed = append(typed, string(text))
		s.wait()
	}

	names := []string{s.nonce.String(), "NONCE", framing.ShellToken(s.hello).String(), "SHELL"}
	for i, tok := range s.tokens {
		name := "FRAME" + strconv.Itoa(i+1)
		half := framing.TokenLen / 2
		names = append(names, tok.String()[:half]+"''"+tok.String()[half:], name[:3]+"''"+name[3:], tok.String(), name)
	}
	readable := strings.NewReplacer(append(names, "\x1e", "␞", "\n", "↵", fmt.Sprintf("bash;%d;", s.hello.PID), "bash;4711;", s.hello.Dir, "/home/ann")...)
	var b strings.Builder
	b.WriteString("```\n")
	line := func(who, text string) {
		if text != "" {
			b.WriteString(who + " " + readable.Replace(text) + "\n")
		}
	}
	line("typed  ", "(the line of Loader, and the text of Bootstrap when the nonce has come)")
	rest := s.wire.String()
	for i, tok := range s.tokens {
		begin := strings.Index(rest, "\x1e"+tok.String())
		if i == len(s.tokens)-2 { // the errors of this one may come before it starts
			begin = min(begin, strings.Index(rest, "\x1e"+framing.ShellToken(s.hello).String()+"e"))
		}
		line("printed", rest[:begin])
		line("typed  ", typed[i])
		rest = rest[begin:]
	}
	line("printed", rest)
	b.WriteString("```\n")
	got := b.String()

	doc, err := os.ReadFile("WIRE.md")
	require.NoError(t, err)
	const begin, end = "<!-- transcript -->\n", "<!-- end -->"
	before, after, ok := strings.Cut(string(doc), begin)
	require.True(t, ok)
	want, after, ok := strings.Cut(after, end)
	require.True(t, ok)
	// Errors and the start go different ways: which comes first differs from run to run.
	record := "␞SHELLe3;no↵"
	got = strings.Replace(got, record+"␞FRAME4S", "␞FRAME4S"+record, 1)
	if *framing.Update {
		require.NoError(t, os.WriteFile("WIRE.md", []byte(before+begin+got+end+after), 0o644))
		want = got
	}
	assert.Equal(t, want, got, "go test ./framing -run TestTranscript -update, if that is meant")
}
