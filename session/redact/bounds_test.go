package redact_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// noise returns n bytes that no shell changes, another text for each seed.
func noise(seed, n int) string {
	var b strings.Builder
	for i := uint32(0); b.Len() < n; i++ {
		fmt.Fprintf(&b, "%08x", (i+1)*2654435761^uint32(seed+1)*40503)
	}
	return b.String()[:n]
}

func guarded(s *redact.Set, text string) string {
	got, _ := s.String(text, redact.Guarded)
	return mark.ReplaceAllString(got, "«$1»")
}

func TestLongCommandsDoNotGrowTheMemory(t *testing.T) {
	s := redact.New(redact.Config{})
	for c := range 6 {
		var b strings.Builder
		for i := range 7 {
			fmt.Fprintf(&b, "T%d_TOKEN='%s' ", i, noise(c*7+i, 16000))
		}
		require.Greater(t, b.Len(), 112000)
		assert.Positive(t, s.LearnFromCommand(b.String()+"true"))
	}
	_, now, _ := redact.Built(s)
	assert.Less(t, now, 1<<20, "states, of 22 bytes each")
	heapBelow(t, s, 40<<20)
}

func TestValuesThatAreAllEscapesDoNotGrowTheMemory(t *testing.T) {
	s := redact.New(redact.Config{})
	for i := range 60 {
		s.Learn("x", []byte(strings.Repeat("\x01'\"<&/", 150)+noise(i, 100)))
		s.Owner("").LearnTyped([]byte(strings.Repeat("\x01'\"<&/", 150) + noise(i, 100)))
	}
	heapBelow(t, s, 60<<20)
}

// heapBelow measures what a Set holds.
func heapBelow(t *testing.T, s *redact.Set, most int64) {
	t.Helper()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	with := heap()
	runtime.KeepAlive(s)
	s.Drop()
	without := heap()
	runtime.KeepAlive(s)
	t.Logf("%d KiB", (with-without)>>10)
	assert.Less(t, with-without, most)
}

func TestManyValuesDoNotForgetATypedPassword(t *testing.T) {
	s := redact.New(redact.Config{})
	require.NoError(t, s.Add("given", []byte("from the inventory")))
	me := s.Owner("operator/kim")
	require.True(t, me.LearnTyped([]byte("correcthorse9")))
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "TOKEN_%d=%s ", i, noise(i, 16))
	}
	for range 2 {
		assert.Positive(t, me.LearnFromCommand(b.String()+"true"))
	}
	assert.Equal(t, "echo: «typed» «given»", guarded(s, "echo: correcthorse9 from the inventory"))
	assert.Contains(t, guarded(s, "it is "+noise(2999, 16)), "«")
}

func TestOneOwnersFloodForgetsNothingOfAnother(t *testing.T) {
	s := redact.New(redact.Config{MaxLearned: 10})
	require.True(t, s.Owner("agent/a").Learn("mine", []byte("correct horse")))
	require.True(t, s.Owner("agent/b").Learn("both", []byte("correct horse")), "each keeps its own")
	for i := range 500 {
		require.True(t, s.Owner("agent/b").Learn("x", []byte(noise(i, 32))))
		require.True(t, s.Owner("agent/b").LearnTyped([]byte("typed-"+noise(i, 32))))
	}
	assert.Equal(t, 1+10+10, s.Len())
	assert.Equal(t, "«mine»", guarded(s, "correct horse"))
	assert.Equal(t, noise(3, 32), guarded(s, noise(3, 32)))
	assert.Equal(t, "«x»", guarded(s, noise(495, 32)))
}

// What the automata cost grows with what is learned, and not with its square; also where the oldest is forgotten each time.
func TestLearningIsLinear(t *testing.T) {
	work := func(n int) float64 {
		s := redact.New(redact.Config{MaxLearned: 400})
		for i := range n {
			require.True(t, s.Learn("x", []byte(noise(i, 32))))
		}
		ever, now, automata := redact.Built(s)
		assert.LessOrEqual(t, automata, 8, "which each byte of a text is looked up in")
		assert.Less(t, now, 1<<19)
		return float64(ever)
	}
	if needs.Detector { // there is one goroutine
		t.Skip("what is counted is the same with the detector")
	}
	small := work(250)
	for n, most := range map[int]float64{500: 2.6, 1000: 5.6, 2000: 12} {
		assert.Less(t, work(n)/small, most, n)
	}
}

func TestALongLearnedValueIsTakenOutWhole(t *testing.T) {
	value := noise(1, 5000)
	s := redact.New(redact.Config{})
	require.True(t, s.Learn("long", []byte(value)))
	lines := noise(2, 900) + "\n" + noise(3, 2000) + "\n" + noise(4, 40)
	require.True(t, s.Learn("lines", []byte(lines)))
	for text, want := range map[string]string{
		"it is " + value + ", no more": "it is «long», no more",
		value[:3000] + "\nnext":        "«long»\nnext",
		lines + "!":                    "«lines»\n«lines»!",
		noise(3, 2000) + "\n" + noise(4, 40) + " " + value + value: "«lines»\n«lines» «long»«long»",
	} {
		assert.Equal(t, want, guarded(s, text))
		for _, cut := range []int{1, 7, 1023, 1024, 1025} {
			var out bytes.Buffer
			w := s.Writer(&out, redact.Guarded)
			for rest := text; rest != ""; {
				n := min(cut, len(rest))
				_, err := w.Write([]byte(rest[:n]))
				require.NoError(t, err)
				rest = rest[n:]
			}
			require.NoError(t, w.Close())
			assert.Equal(t, want, mark.ReplaceAllString(out.String(), "«$1»"), "in pieces of %d", cut)
		}
	}
	got := guarded(s, base64.StdEncoding.EncodeToString([]byte("ab"+value+"cd"))+"\n")
	assert.NotContains(t, got, base64.StdEncoding.EncodeToString([]byte(value[3001:3031])))
}

func TestWhatDoesNotRunTeachesNothing(t *testing.T) {
	s := redact.New(redact.Config{})
	require.NoError(t, s.Add("given", []byte("from the inventory")))
	with := s.With("app --password correct-horse9")
	assert.Equal(t, "«password» «given»", guarded(with, "correct-horse9 from the inventory"))
	assert.Equal(t, "correct-horse9 «given»", guarded(s, "correct-horse9 from the inventory"))
	assert.Equal(t, 1, s.Len())
}

func TestOwnersLearnAtTheSameTime(t *testing.T) {
	s := redact.New(redact.Config{MaxLearned: 50})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				v := noise(g*1000+i, 40)
				s.Owner(fmt.Sprint(g%2)).Learn("x", []byte(v))
				got := guarded(s.With("A_TOKEN="+noise(i, 24)), v+" "+noise(i, 24))
				assert.NotContains(t, got, noise(i, 24))
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 100, s.Len())
}
