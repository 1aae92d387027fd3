package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

// Nothing is computed before it is needed: what packages do when the program starts is bounded, by what they allocate, which is
// the same on every machine. The clock is printed. Regular expressions of package variables are hosts/lazyregexp's, and other
// tables are behind sync.OnceValue.
func TestNothingIsComputedBeforeItIsNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	fairleadtest.NotWithTheDetector(t)
	t.Parallel() // what is allocated does not depend on what runs beside it, and the clock is only printed
	inits := startOf(t, fairleadtest.Compiled(t, fairleadtest.Source))
	require.Greater(t, len(inits), 50)
	var all, own start
	for _, s := range inits {
		most := start{allocs: 1000, bytes: 160 << 10}
		if strings.HasPrefix(s.pkg, module) {
			most = start{allocs: 150, bytes: 64 << 10}
			own.add(s)
		}
		all.add(s)
		assert.LessOrEqual(t, s.allocs, most.allocs, "allocations of %s when the program starts", s.pkg)
		assert.LessOrEqual(t, s.bytes, most.bytes, "bytes that %s allocates when the program starts", s.pkg)
	}
	assert.LessOrEqual(t, own.allocs, 1000, "allocations of packages of this module")
	assert.LessOrEqual(t, own.bytes, 256<<10, "bytes of packages of this module")
	assert.LessOrEqual(t, all.allocs, 9000, "allocations of all packages")
	assert.LessOrEqual(t, all.bytes, 1400<<10, "bytes of all packages")
	slices.SortFunc(inits, func(a, b start) int { return int(b.clock - a.clock) })
	t.Logf("%d packages: %v, %d allocations, %d bytes; of this module %v, %d, %d", len(inits), all.clock, all.allocs, all.bytes,
		own.clock, own.allocs, own.bytes)
	for _, s := range inits[:5] {
		t.Logf("%v %s", s.clock, s.pkg)
	}
}

// The start of the program ÷ that of an empty Go program.
func BenchmarkStart(b *testing.B) {
	empty := filepath.Join(b.TempDir(), "empty.go")
	require.NoError(b, os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o600))
	programs := [][]string{{fairleadtest.Compiled(b, empty)}, {fairleadtest.Compiled(b, fairleadtest.Source), "version"}}
	took := make([][]time.Duration, len(programs))
	for b.Loop() {
		for range 25 {
			for i, argv := range programs {
				began := time.Now()
				require.NoError(b, exec.Command(argv[0], argv[1:]...).Run())
				took[i] = append(took[i], time.Since(began))
			}
		}
	}
	p50 := func(i int) float64 {
		slices.Sort(took[i])
		return took[i][len(took[i])/2].Seconds() * 1000
	}
	b.ReportMetric(p50(0), "ms-empty/p50")
	b.ReportMetric(p50(1), "ms-version/p50")
	b.ReportMetric(p50(1)/p50(0), "version/empty")
}

// start is what a package does before main.
type start struct {
	pkg           string
	allocs, bytes int
	clock         time.Duration
}

func (s *start) add(o start) {
	s.allocs += o.allocs
	s.bytes += o.bytes
	s.clock += o.clock
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes, (\d+) allocs$`)

// startOf is what the runtime tells about the packages of a program; the shortest of a few runs for the clock.
func startOf(t *testing.T, program string) []start {
	var inits []start
	for run := range 5 {
		cmd := exec.CommandContext(t.Context(), program, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		var now []start
		for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			require.NoError(t, err, m[0])
			bytes, _ := strconv.Atoi(m[3])
			allocs, _ := strconv.Atoi(m[4])
			now = append(now, start{m[1], allocs, bytes, time.Duration(ms * float64(time.Millisecond))})
		}
		if run == 0 {
			inits = now
			continue
		}
		for i := range inits {
			if j := slices.IndexFunc(now, func(s start) bool { return s.pkg == inits[i].pkg }); j >= 0 {
				inits[i].clock = min(inits[i].clock, now[j].clock)
			}
		}
	}
	return inits
}
