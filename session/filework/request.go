package filework

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// Limits of a Request.
const (
	MaxPath  = 4096
	MaxFile  = 16 << 20       // bytes of a file that is read or written
	MaxNames = files.MaxNames // in a directory that is listed
)

// Op is what is done.
type Op string

// What can be done. The words stand in the record and in what people approve.
const (
	look  Op = fileplan.Look  // before the rest is judged
	check Op = fileplan.Check // before a person is asked to approve the rest
	Read  Op = fileplan.Read
	Write Op = fileplan.Write
	Edit  Op = fileplan.Edit
	List  Op = fileplan.List
)

// Request is what is wanted of a file.
type Request struct {
	Op   Op
	Path string // absolute, relative, or ~/…
	Home bool   // relative paths begin in the account's home, and not in the session's directory

	Content  []byte       // of a Write: all of the new content
	Old, New []byte       // of an Edit: what is there exactly once, and what to put in its place
	Mode     *fs.FileMode // of a Write; nil keeps that of the old file
	IfSHA256 string       // of a Write or an Edit: the hash of the old content; "" is any
	IfNew    bool         // of a Write: nothing may be there yet
}

// Check says what makes no sense, before anything is sent.
func (r Request) Check() error {
	switch {
	case r.Path == "" || len(r.Path) > MaxPath:
		return invalid("path has 1 to %d bytes", MaxPath)
	case !utf8.ValidString(r.Path) || strings.ContainsFunc(r.Path, func(c rune) bool { return !unicode.IsPrint(c) }):
		return invalid("path has invisible characters: use commands for such files")
	case r.IfSHA256 != "" && (len(r.IfSHA256) != 64 || strings.Trim(r.IfSHA256, "0123456789abcdef") != ""):
		return invalid("if_sha256 is 64 hexadecimal digits, in small letters")
	case r.IfSHA256 != "" && r.IfNew:
		return invalid("a file cannot be new and have a hash")
	case r.Op == Edit && len(r.Old) == 0:
		return invalid("old must not be empty: it says which place is meant")
	case r.Op == Edit && string(r.Old) == string(r.New):
		return invalid("old and new are the same")
	case len(r.Content)+len(r.Old)+len(r.New) > MaxFile:
		return invalid("more than %d bytes cannot be written at once", MaxFile)
	}
	for _, p := range [][]byte{[]byte(r.Path), r.Content, r.Old, r.New} {
		if redact.ContainsMark(p) {
			return invalid("it holds the mark of something redacted, and the file would get the mark instead of the secret. " +
				"Use file_edit on the text around the secret: what you cannot see stays as it is")
		}
	}
	return nil
}

// ParseMode reads permissions in octal, as "0644"; "" is nil.
func ParseMode(text string) (*fs.FileMode, error) {
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(text, 8, 12)
	if err != nil {
		return nil, invalid("mode is up to four octal digits, as 0644")
	}
	m := fileplan.Mode(uint32(n))
	return &m, nil
}

// FormatMode is what ParseMode reads, in four digits.
func FormatMode(m fs.FileMode) string { return fmt.Sprintf("%04o", fileplan.Octal(m)) }

func fault(code, format string, args ...any) error {
	return &session.Error{Op: "file", Code: code, Err: fmt.Errorf(format, args...)}
}

func invalid(format string, args ...any) error { return fault(registry.CodeInvalid, format, args...) }
