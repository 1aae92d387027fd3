// Package fileplan says what work on one file means: as shell source, which a policy judges, and as a text, which people
// approve and the audit log keeps.
package fileplan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
)

// What can be done. The words are in the audit log and in what people approve.
const (
	Look  = "file_look"  // before the rest is judged
	Check = "file_check" // before a person is asked to approve the rest
	Read  = "file_read"
	Write = "file_write"
	Edit  = "file_edit"
	List  = "file_list"
)

// Plan is what will be done with a file.
type Plan struct {
	Op   string
	Path string // as asked for

	// What a look has found; zero before one.
	Target string // where Path leads
	There  bool   // there is a file
	Size   int64
	Was    fs.FileMode

	Content, Old, New []byte
	Mode              *fs.FileMode
	IfSHA256          string
}

// Script is shell source that would do the same, for the policy. Both the path that was asked for and the one that it leads
// to count. It fails for paths that hold a NUL byte.
func (p *Plan) Script() (string, error) {
	var quoted []string
	for _, path := range []string{p.Path, p.Target} {
		if path == "" || len(quoted) > 0 && path == p.Path {
			continue
		}
		word, err := framing.Quote(path)
		if err != nil {
			return "", err
		}
		quoted = append(quoted, word)
	}
	words, redirects := " -- "+strings.Join(quoted, " "), " >"+strings.Join(quoted, " >")
	switch p.Op {
	case Look:
		return "realpath" + words, nil
	case List:
		return "ls -a -l" + words, nil // not -la, in which a guard sees a name
	case Read, Check:
		return "cat" + words, nil
	case Edit:
		return "cat" + words + redirects, nil
	}
	script := "cat" + redirects
	if p.Mode != nil {
		script += fmt.Sprintf("; chmod %04o%s", Octal(*p.Mode), words)
	}
	return script, nil
}

// Text is what a person approves, everything that will be done. hide, if not nil, takes secrets out of contents: for the
// audit log, which keeps only the beginning of long ones.
func (p *Plan) Text(hide func(string) string) string {
	show := func(content []byte) []byte { return content }
	if hide != nil {
		show = func(content []byte) []byte { return []byte(recorded(content, hide)) }
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", p.Op, p.Path)
	if p.Op == Look {
		return b.String()
	}
	if p.Target != p.Path {
		fmt.Fprintf(&b, "that leads to %s\n", p.Target)
	}
	if p.Op == Read || p.Op == List || p.Op == Check {
		return b.String()
	}
	if p.There {
		fmt.Fprintf(&b, "there is a file of %d bytes, mode %04o\n", p.Size, Octal(p.Was))
	} else {
		b.WriteString("a new file\n")
	}
	if p.Mode != nil {
		fmt.Fprintf(&b, "its mode becomes %04o\n", Octal(*p.Mode))
	}
	if drop := p.Was & (fs.ModeSetuid | fs.ModeSetgid); drop != 0 && p.Mode == nil {
		fmt.Fprintf(&b, "its mode becomes %04o: new content is not set-uid or set-gid unless mode says so\n", Octal(p.Was&^drop))
	}
	if p.IfSHA256 != "" {
		fmt.Fprintf(&b, "only if its content has the sha256 %s\n", p.IfSHA256)
	}
	if p.Op == Write {
		sum := sha256.Sum256(p.Content)
		fmt.Fprintf(&b, "all of its content becomes these %d bytes, sha256 %s:\n", len(p.Content), hex.EncodeToString(sum[:]))
		diff(&b, '+', show(p.Content))
		return b.String()
	}
	fmt.Fprintf(&b, "the only place that has these %d bytes gets those %d bytes instead:\n", len(p.Old), len(p.New))
	diff(&b, '-', show(p.Old))
	diff(&b, '+', show(p.New))
	return b.String()
}

// maxRecorded is how much of a content is recorded whole: of an entry there is a limit, and it takes up to six times as much.
// What is longer stands there with its beginning, its size and, like everything, its hash.
const (
	maxRecorded   = 1 << 20
	recordedFirst = 64 << 10
)

// recorded hides no more of a long content than its beginning is part of. The end of that part is not recorded: a secret that is
// cut there is not recognized.
func recorded(content []byte, hide func(string) string) string {
	size := len(content)
	if size > maxRecorded {
		content = content[:4*recordedFirst]
	}
	text := hide(string(content))
	if size <= maxRecorded && len(text) <= maxRecorded {
		return text
	}
	first := text[:max(0, min(recordedFirst, len(text)-recordedFirst))]
	return fmt.Sprintf("%s\n(truncated: %d bytes in all)", strings.ToValidUTF8(first, "?"), size)
}

// diff writes text as the lines of a diff are, so that none of them can pass for anything else.
func diff(b *strings.Builder, mark byte, text []byte) {
	if len(text) == 0 {
		return
	}
	const noNewline = "\n\\ no newline at the end\n"
	b.Grow(len(text) + bytes.Count(text, []byte("\n")) + 1 + len(noNewline)) // a text may be long, and growing copies it
	for line := range bytes.Lines(text) {
		b.WriteByte(mark)
		b.Write(line)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		b.WriteString(noNewline)
	}
}

// Octal is a mode in the bits of chmod.
func Octal(m fs.FileMode) uint32 {
	n := uint32(m.Perm())
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&bit != 0 {
			n |= 0o1000 << i
		}
	}
	return n
}

// Mode is what Octal makes of it, the other way round.
func Mode(n uint32) fs.FileMode {
	m := fs.FileMode(n & 0o777)
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if n&(0o1000<<i) != 0 {
			m |= bit
		}
	}
	return m
}
