package filework

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/session/files"
)

// A list is text, one name a line: kind, mode, size and time of change (seconds since 1970, or "-"), then the name. The
// name comes last and nothing after it, so that taking a secret out of a name spoils no other. In a name a newline is
// "\n" and a backslash is "\\".

var (
	escapeName   = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	unescapeName = strings.NewReplacer(`\\`, "\\", `\n`, "\n")
)

func appendName(b []byte, n files.Name) []byte {
	changed := "-"
	if !n.Changed.IsZero() {
		changed = strconv.FormatInt(n.Changed.Unix(), 10)
	}
	return fmt.Appendf(b, "%s %s %d %s %s\n", n.Kind, FormatMode(n.Mode), n.Size, changed, escapeName.Replace(n.Name))
}

// ParseNames reads what a List has put out, or a part of it that begins with a line, and says how many bytes of it are whole
// lines. Lines that are none of a list are left out.
func ParseNames(text []byte) (all []files.Name, n int) {
	n = bytes.LastIndexByte(text, '\n') + 1
	for line := range strings.Lines(string(text[:n])) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		if len(f) != 5 || f[4] == "" {
			continue
		}
		mode, err := ParseMode(f[1])
		size, serr := strconv.ParseInt(f[2], 10, 64)
		if err != nil || mode == nil || serr != nil || size < 0 {
			continue
		}
		name := files.Name{Name: unescapeName.Replace(f[4]), Kind: files.Kind(f[0]), Mode: *mode, Size: size}
		if f[3] != "-" {
			sec, err := strconv.ParseInt(f[3], 10, 64)
			if err != nil {
				continue
			}
			name.Changed = time.Unix(sec, 0).UTC()
		}
		all = append(all, name)
	}
	return all, n
}
