package policy

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// maxCases bounds a file of cases, in bytes.
const maxCases = 64 << 20

// testCase is one line of a file: what a command should be judged.
type testCase struct {
	line    int
	want    policy.Verdict
	written string // the command as it stands in the file
	command string
}

// readCases reads a file of cases. All mistakes are reported at once.
func readCases(name string) ([]testCase, error) {
	data, err := readAtMost(name, maxCases)
	if err != nil {
		return nil, cmdutil.Usagef("cannot read the cases: %w; see fairlead policy test --help for what it holds", reason.File(name, err))
	}
	cases, wrong := parseCases(data)
	if len(wrong) == 0 {
		return cases, nil
	}
	lines := make([]error, len(wrong))
	for i, w := range wrong {
		lines[i] = fmt.Errorf("rules: %s:%s", name, w)
	}
	return nil, mistakes(joined(lines))
}

func readAtMost(name string, most int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return data, err
}

// joined are errors that stand beside each other.
type joined []error

func (j joined) Error() string   { return fmt.Sprintf("%d mistakes", len(j)) }
func (j joined) Unwrap() []error { return j }

// parseCases reads lines of verdict, command and reason, with tabs between them. The reason may be left out; lines that
// are empty or begin with # say nothing. It returns the mistakes, each as "LINE: what".
func parseCases(data []byte) (cases []testCase, wrong []string) {
	n := 0
	for raw := range bytes.Lines(data) {
		n++
		line := strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		verdict, rest, found := strings.Cut(line, "\t")
		written, _, _ := strings.Cut(rest, "\t")
		c := testCase{line: n, written: written}
		var err error
		switch {
		case verdict != "allow" && verdict != "ask" && verdict != "deny":
			err = fmt.Errorf("%q is not one of allow, ask, deny", printable.Clip(verdict, 40))
		case !found:
			err = fmt.Errorf("no tab and command follow the verdict")
		default:
			_ = c.want.UnmarshalText([]byte(verdict))
			c.command, err = unescape(written)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%d: %v", n, err))
			continue
		}
		cases = append(cases, c)
	}
	return cases, wrong
}

// unescape reads \\ \n \t \r \xNN \uNNNN and \UNNNNNNNN. \xNN is a byte, the others are characters.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", fmt.Errorf("the command ends with a single backslash: write \\\\")
		}
		digits := 0
		switch s[i] {
		case '\\':
			out = append(out, '\\')
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			return "", fmt.Errorf("\\%s is not an escape: known are \\\\ \\n \\t \\r \\xNN \\uNNNN \\UNNNNNNNN", firstRune(s[i:]))
		}
		if digits == 0 {
			continue
		}
		if len(s) < i+1+digits {
			return "", fmt.Errorf("\\%c needs %d hexadecimal digits", s[i], digits)
		}
		v, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32)
		switch {
		case err != nil:
			return "", fmt.Errorf("\\%c needs %d hexadecimal digits", s[i], digits)
		case digits == 2:
			out = append(out, byte(v))
		case v > utf8.MaxRune || v >= 0xd800 && v <= 0xdfff:
			return "", fmt.Errorf("\\%c%s is not a character", s[i], s[i+1:i+1+digits])
		default:
			out = utf8.AppendRune(out, rune(v))
		}
		i += digits
	}
	return string(out), nil
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
