package copies

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
)

// Limits of a Plan.
const (
	MaxEntries = 200_000
	maxPath    = 4096
)

// Op is the direction of a copy.
type Op string

// The operations. The words are in approvals and in the audit log.
const (
	Upload   Op = "file_upload"
	Download Op = "file_download"
)

// Plan says what is copied. It is the same for all hosts of a request.
type Plan struct {
	Op   Op     `json:"op" enum:"file_upload,file_download" doc:"the direction"`
	Path string `json:"path" maxLength:"4096" doc:"on the hosts: the destination of an upload, or what to download, with * ? and [] in the last names; relative to the home directory"`

	// Of an upload. Parents come before what is in them.
	Entries []Entry `json:"entries,omitempty" maxItems:"200000" doc:"what is uploaded, in the order of the stream"`
	Into    bool    `json:"into,omitempty" doc:"path is a directory that must exist; else it may be the new name of a single source"`
	Merge   bool    `json:"merge,omitempty" doc:"what is in the only source, a directory, goes into path, which is made if it is missing"`
	Mode    string  `json:"mode,omitempty" maxLength:"5" doc:"permissions of files in octal, as 0644; else those of the source"`
	Owner   string  `json:"owner,omitempty" maxLength:"64" doc:"UID:GID of files and new directories"`
	Delete  bool    `json:"delete,omitempty" doc:"remove what is in the uploaded directories on the host and not in the source"`
	// Keep is what a source has and cannot be copied, a symbolic link, say: it is no reason to remove what a host has there.
	Keep   []string `json:"keep,omitempty" maxItems:"200000" doc:"names that delete does not remove, as those of entries: what the source has that is not copied"`
	Resume bool     `json:"resume,omitempty" doc:"keep what has come of a large file where the copy is interrupted, and continue it the next time"`
	DryRun bool     `json:"dry_run,omitempty" doc:"report what would change; change nothing"`
	Times  bool     `json:"times,omitempty" doc:"keep when files and directories were changed last; each of entries then has modified"`
	Verify bool     `json:"verify,omitempty" doc:"read back files over 16 MiB, too"`
	// IfSHA256 is of the upload of a single file, in the place of another.
	IfSHA256 string `json:"if_sha256,omitempty" maxLength:"64" doc:"replace the file only if its content has this SHA-256, in hexadecimal"`

	// Guarded is for a caller who sees files without their secrets only. A download is then unknown to policies, and not a
	// read, because what is copied is exact; and a dry run reports no old contents.
	Guarded bool `json:"-"`
}

// Check refuses a Plan that makes no sense, before anything is sent.
func (p *Plan) Check() error {
	switch {
	case p.Op != Upload && p.Op != Download:
		return errors.New("the direction of a copy is file_upload or file_download")
	case len(p.Path) > maxPath || strings.ContainsRune(p.Path, 0):
		return fmt.Errorf("a path on a host has at most %d bytes, and no NUL byte", maxPath)
	case p.Op == Download && p.Path == "":
		return errors.New("the path on the host is empty")
	case p.Op == Download && (len(p.Entries) > 0 || p.IfSHA256 != "" || p.Into || p.Merge || p.Mode != "" || p.Owner != "" || p.Delete || p.Resume || p.DryRun || p.Verify):
		return errors.New("entries, into, mode, owner, delete, resume, dry_run and verify are for uploads")
	case p.Op == Upload && len(p.Entries) == 0:
		return errors.New("there is nothing to upload")
	case len(p.Keep) > 0 && !p.Delete:
		return errors.New("keep is for an upload with delete")
	case len(p.Keep) > MaxEntries:
		return fmt.Errorf("keep has at most %d names", MaxEntries)
	case p.IfSHA256 != "" && (len(p.IfSHA256) != 64 || len(p.Entries) != 1 || p.Entries[0].Dir || p.DryRun):
		return errors.New("if_sha256 is 64 hexadecimal digits, and for a single file")
	case len(p.Entries) > MaxEntries:
		return fmt.Errorf("one copy has at most %d files and directories", MaxEntries)
	}
	if _, _, err := p.mode(); err != nil {
		return err
	}
	if _, _, err := p.owner(); err != nil {
		return err
	}
	return p.checkEntries()
}

func (p *Plan) checkEntries() error {
	seen := make(map[string]bool, len(p.Entries)) // whether it is a directory
	roots := 0
	for i := range p.Entries {
		e := &p.Entries[i]
		if !within(e.Name) {
			return fmt.Errorf("%q is not a relative path", e.Name)
		}
		if _, twice := seen[e.Name]; twice {
			return fmt.Errorf("%q would be copied twice", e.Name)
		}
		if dir := path.Dir(e.Name); dir == "." {
			roots++
		} else if !seen[dir] {
			return fmt.Errorf("the directory of %q does not come before it", e.Name)
		}
		seen[e.Name] = e.Dir
		if err := p.checkTime(e); err != nil {
			return err
		}
		if e.Size < 0 || e.Mode > 0o7777 || e.SHA256 != "" && len(e.SHA256) != 64 {
			return fmt.Errorf("%q has an invalid size, mode or sha256", e.Name)
		}
	}
	for _, name := range p.Keep {
		if !within(name) {
			return fmt.Errorf("%q is not a relative path", name)
		}
	}
	if p.Merge && (roots != 1 || !p.Entries[0].Dir || p.Into) {
		return errors.New("merge takes a single directory, and no into")
	}
	if roots > 1 && !p.Into {
		return errors.New("several sources need a directory as destination")
	}
	return nil
}

// within reports whether a name is one below the destination.
func within(name string) bool {
	return name != "" && len(name) <= maxPath && path.Clean(name) == name && name != "." && !strings.HasPrefix(name, "/") && name != ".." && !strings.HasPrefix(name, "../") && !strings.ContainsRune(name, 0)
}

// mode is what Mode says, if it does.
func (p *Plan) mode() (m fs.FileMode, set bool, err error) {
	if p.Mode == "" {
		return 0, false, nil
	}
	n, err := strconv.ParseUint(p.Mode, 8, 12)
	if err != nil {
		return 0, false, errors.New("mode is up to four octal digits, as 0644")
	}
	return fileplan.Mode(uint32(n)), true, nil
}

// owner is what Owner says; -1 is as it is.
func (p *Plan) owner() (uid, gid int, err error) {
	if p.Owner == "" {
		return -1, -1, nil
	}
	u, g, _ := strings.Cut(p.Owner, ":")
	uid, uerr := strconv.Atoi(u)
	gid, gerr := strconv.Atoi(g)
	if uerr != nil || gerr != nil || uid < 0 || gid < 0 {
		return 0, 0, errors.New("owner is UID:GID, in numbers")
	}
	return uid, gid, nil
}

// hasHashes reports whether the content of each file is known before.
func (p *Plan) hasHashes() bool {
	return !slices.ContainsFunc(p.Entries, func(e Entry) bool { return !e.Dir && e.SHA256 == "" })
}

// Bound reports whether the plan says exactly what will be done, as an approval needs it.
func (p *Plan) Bound() bool { return p.Op == Download || p.hasHashes() }

// Bytes is the size of all files of an upload.
func (p *Plan) Bytes() (n int64) {
	for i := range p.Entries {
		n += p.Entries[i].Size
	}
	return n
}

// files is how many there are, besides directories.
func (p *Plan) files() (n int) {
	for i := range p.Entries {
		if !p.Entries[i].Dir {
			n++
		}
	}
	return n
}

// single reports whether the only source may get the name that Path ends with.
func (p *Plan) single() bool { return !p.Into && !strings.HasSuffix(p.Path, "/") && p.Path != "" }

// root is the name of the only source, if it is a directory whose contents are not merged.
func (p *Plan) root() string {
	if p.Merge || len(p.Entries) == 0 || !p.Entries[0].Dir || slices.ContainsFunc(p.Entries[1:], func(e Entry) bool { return !strings.Contains(e.Name, "/") }) {
		return ""
	}
	return p.Entries[0].Name
}

// relative is a path on a host as a shell in the home directory takes it.
func relative(name string) string {
	if name == "~" {
		name = ""
	}
	name = strings.TrimPrefix(name, "~/")
	if name == "" {
		return "."
	}
	return name
}

// under is an entry below base: with its whole name, or without that of its source.
func under(base, name string, into bool) string {
	if !into {
		_, name, _ = strings.Cut(name, "/")
	}
	if name == "" {
		return base
	}
	return strings.TrimSuffix(base, "/") + "/" + name
}

// Limits of what is judged by name. What a policy looks at ends there, and is then at least unknown.
const (
	judgedBytes = 56 << 10
	judgedPaths = 800
)

// Script is shell source that would do the same, for the policy. Path may turn out to be a directory or not: both count.
func (p *Plan) Script() (string, error) {
	switch base := relative(p.Path); {
	case p.Op == Download || p.DryRun:
		return p.readScript(base)
	case p.Merge:
		return p.script(base, false)
	case p.single():
		return p.script(base, false, true)
	default:
		return p.script(base, true)
	}
}

// script is Script for where Path leads, with the names of the sources below it or without.
func (p *Plan) script(base string, intos ...bool) (string, error) {
	if p.Op == Download || p.DryRun {
		return p.readScript(base)
	}
	var dirs, files []string
	for _, into := range intos {
		for i := range p.Entries {
			name := under(base, p.Entries[i].Name, into)
			if p.Entries[i].Dir {
				dirs = append(dirs, name)
			} else {
				files = append(files, name)
			}
		}
	}
	telling(dirs)
	telling(files)
	var b strings.Builder
	left := judgedPaths
	for _, part := range []struct {
		first, sep string
		names      []string
	}{{"mkdir -p --", " ", dirs}, {"cat", " >", files}, {"rm -rf --", " ", deletes(p, dirs)}} {
		if len(part.names) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(part.first)
		for _, name := range part.names {
			word, err := quote(name)
			if err != nil {
				return "", err
			}
			if left--; left < 0 || b.Len()+len(word) > judgedBytes {
				return b.String() + "; " + more(len(dirs)+len(files)), nil
			}
			b.WriteString(part.sep + word)
		}
	}
	if p.Mode != "" {
		b.WriteString("; chmod " + p.Mode + " --")
		for _, name := range files[:min(len(files), judgedPaths/8)] {
			word, _ := quote(name)
			b.WriteString(" " + word)
		}
	}
	if p.Owner != "" {
		word, _ := quote(base)
		b.WriteString("; chown -R " + p.Owner + " -- " + word)
	}
	return b.String(), nil
}

// deletes are the directories in which something may be removed.
func deletes(p *Plan, dirs []string) (below []string) {
	if !p.Delete {
		return nil
	}
	for _, d := range dirs {
		below = append(below, d+"/fairlead-not-in-source")
	}
	return below
}

// more stands for paths that are not judged by name: no policy knows it, so that it is unknown.
func more(n int) string { return fmt.Sprintf("fairlead-copy-of %d paths", n) }

func (p *Plan) readScript(base string) (string, error) {
	word, err := quote(base)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(base, "*?[") {
		word = globWord(base)
	}
	if p.Guarded && p.Op == Download {
		return "cat -- " + word + "; fairlead-copy-out", nil
	}
	return "cat -- " + word, nil
}

// globWord quotes all of a pattern but what matches.
func globWord(pattern string) string {
	var b strings.Builder
	for _, c := range pattern {
		switch {
		case strings.ContainsRune("*?[]-!^/._", c), c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			b.WriteRune(c)
		default:
			b.WriteString(`\` + string(c))
		}
	}
	return b.String()
}

func quote(name string) (string, error) {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return framing.Quote(name)
}

// telling puts names first that say what they are for: those with a leading dot in them, then what is not deep. A policy may
// not look at all.
func telling(names []string) {
	weight := func(name string) int {
		n := strings.Count(name, "/")
		if strings.Contains("/"+name, "/.") || strings.Contains(name, "/etc/") || strings.Contains(name, "cron") || strings.Contains(name, "systemd") || strings.Contains(name, "sudoers") {
			n -= 1000
		}
		return n
	}
	slices.SortStableFunc(names, func(a, b string) int { return weight(a) - weight(b) })
}

// Text is what a person approves and the audit log keeps: all that will be done. hide, if not nil, takes secrets out of it.
func (p *Plan) Text(hide func(string) string) string {
	var b strings.Builder
	where := relative(p.Path)
	if p.Op == Download {
		fmt.Fprintf(&b, "%s %s\n", p.Op, where)
		return hidden(hide, b.String())
	}
	fmt.Fprintf(&b, "%s to %s: %d files, %d directories, %d bytes\n", p.Op, where, p.files(), len(p.Entries)-p.files(), p.Bytes())
	for _, f := range []struct {
		set  bool
		text string
	}{
		{p.Into, "into a directory that is there"}, {p.Merge, "what is in the source, not the source itself"}, {p.DryRun, "only a report of what would change"},
		{p.Times, "files and directories get the times of the source"},
		{p.Mode != "", "the mode of files becomes " + p.Mode}, {p.Owner != "", "the owner becomes " + p.Owner},
		{p.Delete, "removing what is in these directories on the host and not in this list"}, {p.IfSHA256 != "", "only in the place of a file with the sha256 " + p.IfSHA256}, {p.Resume, "continuing what was interrupted"}, {p.Verify, "read back, whatever the size"},
	} {
		if f.set {
			b.WriteString(f.text + "\n")
		}
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Dir {
			fmt.Fprintf(&b, "%04o %s%s/\n", e.Mode, e.shownTime(), shownName(e.Name))
			continue
		}
		fmt.Fprintf(&b, "%04o %d %s %s%s\n", e.Mode, e.Size, cmp.Or(e.SHA256, "-"), e.shownTime(), shownName(e.Name))
	}
	for _, name := range p.Keep {
		fmt.Fprintf(&b, "not removed: %s\n", shownName(name))
	}
	return hidden(hide, b.String())
}

const maxRecorded = 256 << 10 // bytes of a list that is recorded whole

// hidden is text for the record where hide is set: without secrets, and of a long list the beginning and the hash.
func hidden(hide func(string) string, text string) string {
	if hide == nil {
		return text
	}
	if len(text) > maxRecorded {
		sum := sha256.Sum256([]byte(text))
		cut := strings.LastIndexByte(text[:maxRecorded], '\n') + 1
		text = fmt.Sprintf("%s(truncated: %d bytes in all, sha256 %s)\n", text[:cut], len(text), hex.EncodeToString(sum[:]))
	}
	return hide(text)
}

// shownName is a name as one line.
func shownName(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(c rune) bool { return !strconv.IsPrint(c) }) {
		return name
	}
	return strconv.Quote(name)
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Octal is a mode in the bits of chmod.
func Octal(m fs.FileMode) uint32 {
	return fileplan.Octal(m)
}
