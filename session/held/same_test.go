package held_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/held"
)

// python3 makes the system calls that perl makes, in the same order, with the same filter, whatever the processor, the version of Landlock
// and what is asked for: so what one of them is proved to hold, the other holds.
func TestPythonMakesTheSameCallsAsPerl(t *testing.T) {
	has(t, "bash")
	python := python(t)
	dir := t.TempDir()
	for name, machine := range map[string]byte{"x86-64": 62, "arm64": 183, "riscv64": 243} {
		elf := filepath.Join(dir, name)
		header := make([]byte, 20)
		copy(header, "\x7fELF\x02\x01\x01")
		header[18] = machine
		require.NoError(t, os.WriteFile(elf, header, 0o600))
		for _, c := range []struct {
			newest, version int
			tried, told     bool
		}{{99, 7, false, true}, {99, 7, true, true}, {99, 7, false, false}, {6, 7, false, true}, {99, 5, true, true}, {4, 7, false, true}, {3, 3, false, true},
			{2, 7, false, false}, {1, 1, false, true}, {99, -1, true, true}, {99, -1, false, false}, {0, 7, false, true}, {99, 8, true, true}} {
			if name == "riscv64" && c.version != 8 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%+v", name, c), func(t *testing.T) {
				texts := held.ProgramFor(c.newest, c.told)
				if c.tried {
					texts = held.Trial(closed())
				}
				record := func(program, script, text string) string {
					told := ""
					if c.told {
						told = "1"
					}
					cmd := exec.Command(program, script, strings.ReplaceAll(text, "/proc/self/exe", elf), fmt.Sprint(c.version), told)
					cmd.Env = []string{"TMPDIR=/tmp", "PLAIN=1", "MY_TOKEN=1", "my_secret=1", "A_KEY=1", "KEY_A=1", "KEY=1", "PGPASS=1", "PGPASSFILE=1", "LC_CTYPE=C.UTF-8"}
					out, err := cmd.Output()
					require.NoError(t, err)
					return string(out)
				}
				perl := record("perl", "testdata/record.pl", texts.Hold)
				assert.Equal(t, perl, record(python, "testdata/record.py", texts.HoldPython))
				lines := strings.Count(perl, "\n")
				if name == "riscv64" {
					assert.Less(t, lines, 20, perl)
				} else {
					assert.Greater(t, lines, 500)
				}
			})
		}
	}
}

// What is looked at is the same by both.
func TestPythonLooksAtTheSameCallsAsPerl(t *testing.T) {
	sources := map[string]string{}
	for _, f := range held.HostFiles {
		sources[f.Name] = f.Source
	}
	word := regexp.MustCompile(`-?\w+`)
	_, perl, _ := strings.Cut(sources["watch.pl"], "my @rows = (")
	perl, _, _ = strings.Cut(perl, ");")
	python := ""
	for _, m := range regexp.MustCompile(`row_words \+?= "([^"]*)"`).FindAllStringSubmatch(sources["answer.py"], -1) {
		python += m[1]
	}
	assert.Greater(t, len(word.FindAllString(perl, -1)), 150)
	assert.Equal(t, word.FindAllString(perl, -1), word.FindAllString(python, -1))
}
