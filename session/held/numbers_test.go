package held_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// processors are those whose system calls are known, x86-64 first, as the texts have them.
var processors = []string{"amd64", "arm64"}

// callNames are the names of system calls by number, for each processor: those of golang.org/x/sys/unix, which has them from the kernel.
func callNames(t *testing.T) (all [2]map[string]string) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		needs.Part(t, "go cannot say where golang.org/x/sys is: %v", err)
	}
	for i, processor := range processors {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+processor+".go"))
		require.NoError(t, err)
		all[i] = map[string]string{"-1": ""}
		for _, m := range regexp.MustCompile(`(?m)^\s+SYS_(\w+)\s+= (\d+)$`).FindAllStringSubmatch(string(text), -1) {
			all[i][m[2]] = strings.ToLower(m[1])
		}
		require.Greater(t, len(all[i]), 300)
	}
	// Numbers with one meaning whose names differ.
	for i, other := range map[int]map[string]string{0: {"newfstatat": "fstatat"}} {
		for number, name := range all[i] {
			if o, ok := other[name]; ok {
				all[i][number] = o
			}
		}
	}
	return all
}

// Every pair of numbers for x86-64 and arm64, wherever it stands, is one call on both, or one that arm64 does not have.
func TestNumbersOfSystemCallsAreThoseOfBothProcessors(t *testing.T) {
	names := callNames(t)
	same := func(where, x86, arm string) {
		t.Helper()
		name, ok := names[0][x86]
		require.True(t, ok, "%s: x86-64 has no call %s", where, x86)
		other, ok := names[1][arm]
		require.True(t, ok, "%s: arm64 has no call %s", where, arm)
		if arm != "-1" && x86 != "-1" {
			assert.Equal(t, name, other, "%s: %s and %s", where, x86, arm)
		}
		if arm == "-1" {
			for number, known := range names[1] {
				assert.False(t, known == name && name != "", "%s: arm64 has %s as %s", where, name, number)
			}
		}
	}
	table, err := os.ReadFile("calls.txt")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^(\w+) (-?\d+) (-?\d+)$`).FindAllStringSubmatch(string(table), -1) {
		same("calls.txt", m[2], m[3])
		assert.Equal(t, m[1], names[0][m[2]])
	}
	counted := 0
	for _, f := range held.HostFiles {
		// A conditional, the arms of a function, and rows of the table of kinds; numbers in hexadecimal are no calls.
		for _, m := range regexp.MustCompile(`this_arch \? (\d+) : (\d+)\b[^x]`).FindAllStringSubmatch(f.Source, -1) {
			same(f.Name, m[2], m[1])
			counted++
		}
		for _, m := range regexp.MustCompile(`by_arch\((\d+), (\d+)\)`).FindAllStringSubmatch(f.Source, -1) {
			same(f.Name, m[1], m[2])
			counted++
		}
		for _, m := range regexp.MustCompile(`(\d+) - ?(\d+) \* \$this_arch|(\d+) \+ (\d+) \* \$this_arch`).FindAllStringSubmatch(f.Source, -1) {
			var from, by, sign = m[1] + m[3], m[2] + m[4], 1
			if m[1] != "" {
				sign = -1
			}
			var a, b int
			fmt.Sscan(from, &a)
			fmt.Sscan(by, &b)
			if from != "$call_number" && a > 0 {
				same(f.Name, fmt.Sprint(a), fmt.Sprint(a+sign*b))
				counted++
			}
		}
	}
	assert.Greater(t, counted, 60)
	sources := map[string]string{}
	for _, f := range held.HostFiles {
		sources[f.Name] = f.Source
	}
	_, rows, _ := strings.Cut(sources["watch.pl"], "my @rows = (")
	rows, _, _ = strings.Cut(rows, ");")
	words := regexp.MustCompile(`-?\w+`).FindAllString(rows, -1)
	for row := range slices.Chunk(words, 3) {
		same("watch.pl", row[0], row[1])
	}
}

// Both processors get the same filter: a call that is judged on one is judged on the other, if that has it, and in the same way.
func TestBothProcessorsGetTheSameFilter(t *testing.T) {
	has(t, "bash")
	names := callNames(t)
	for _, version := range []int{-1, 1, 4, 7} {
		for _, texts := range []held.Texts{held.Program(), held.Trial(closed())} {
			var judged [2]map[string][]string
			for i, machine := range []byte{62, 183} {
				judged[i] = blocks(t, recordedFor(t, texts.Hold, machine, version), names[i])
				assert.Greater(t, len(judged[i]), 110)
			}
			known := map[string]bool{}
			for _, name := range names[1] {
				known[name] = true
			}
			for name, block := range judged[0] {
				if known[name] {
					assert.Equal(t, block, judged[1][name], name)
				} else {
					assert.Empty(t, judged[1][name], name)
				}
			}
			for name := range judged[1] {
				assert.Contains(t, judged[0], name)
			}
		}
	}
}

// recordedFor is what a text calls on a processor, without making the calls.
func recordedFor(t *testing.T, text string, machine byte, version int) string {
	t.Helper()
	header := make([]byte, 20)
	copy(header, "\x7fELF\x02\x01\x01")
	header[18] = machine
	elf := filepath.Join(t.TempDir(), "elf")
	require.NoError(t, os.WriteFile(elf, header, 0o600))
	cmd := exec.Command("perl", "testdata/record.pl", strings.ReplaceAll(text, "/proc/self/exe", elf), fmt.Sprint(version), "1")
	cmd.Env = []string{"TMPDIR=/tmp"}
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

// blocks are the instructions of a recorded filter that follow a call's number, by its name.
func blocks(t *testing.T, recorded string, names map[string]string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	number, name := false, "" // whether the call's number is what is looked at
	for _, m := range regexp.MustCompile(`(?m)^(\d+) (\d+) (\d+) (\w+)$`).FindAllStringSubmatch(recorded, -1) {
		code, value := m[1], m[4]
		switch {
		case code == "32": // BPF_LD | BPF_W | BPF_ABS
			number = value == "0"
			if number {
				name = ""
				continue
			}
		case code == "21" && number: // BPF_JMP | BPF_JEQ
			known, ok := names[value]
			require.True(t, ok, "the filter judges a call %s, which no kernel has", value)
			name = known
			all[name] = append(all[name], m[2]+" "+m[3])
			continue
		}
		if name != "" {
			all[name] = append(all[name], m[0])
		}
	}
	return all
}
