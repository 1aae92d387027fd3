package redact_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// taught is what a list of an owner should hold, from what came longest ago to what came last.
type taught struct{ values []string }

const (
	mostValues = 6
	mostBytes  = 200
)

func (l *taught) over() bool {
	bytes, forms := 0, 0
	for _, v := range l.values {
		bytes, forms = bytes+len(v), forms+redact.FormsSize(v)
	}
	return len(l.values) > mostValues || bytes > mostBytes || forms > mostBytes*redact.FormsEach
}

func (l *taught) touch(v string) {
	l.values = append(slices.DeleteFunc(l.values, func(o string) bool { return o == v }), v)
}

// learn takes values of one command: of more than the limit the last ones, and what is known before what is new.
func (l *taught) learn(all []string) {
	n, bytes := 0, 0
	var taken []string
	for _, v := range slices.Backward(all) {
		if slices.Contains(taken, v) {
			continue
		}
		if n, bytes = n+1, bytes+len(v); n > mostValues || bytes > mostBytes {
			break
		}
		taken = append(taken, v)
	}
	var fresh []string
	for _, v := range slices.Backward(taken) {
		if slices.Contains(l.values, v) {
			l.touch(v)
		} else {
			fresh = append(fresh, v)
		}
	}
	for _, v := range fresh {
		l.touch(v)
		for len(l.values) > 1 && l.over() {
			l.values = l.values[1:]
		}
	}
}

// A list forgets what has not come for the longest time, within its limits of values, bytes and forms, and nothing else.
func TestWhatOwnersKeepIsWhatCameLast(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := redact.New(redact.Config{MaxLearned: mostValues, MaxLearnedBytes: mostBytes})
		var pool []string
		for i := range 14 {
			pool = append(pool, noise(int(seed)*100+i, 8+r.IntN(60))+"'%\""[:r.IntN(4)])
		}
		pool = append(pool, noise(int(seed)*100+50, 150), noise(int(seed)*100+51, 199))
		lists := map[string]*taught{}
		for step := range 150 {
			owner := fmt.Sprint(r.IntN(2))
			kind, v := "learned", pool[r.IntN(len(pool))]
			if r.IntN(3) == 0 {
				kind = "typed"
			}
			l := lists[owner+kind]
			if l == nil {
				l = &taught{}
				lists[owner+kind] = l
			}
			switch {
			case kind == "typed":
				require.True(t, s.Owner(owner).LearnTyped([]byte(v)))
				l.learn([]string{v})
			case r.IntN(4) == 0:
				var all []string
				command := "true"
				for range 1 + r.IntN(9) {
					v := strings.TrimRight(pool[r.IntN(len(pool))], "'%\"")
					all, command = append(all, v), command+" X_TOKEN='"+v+"'"
				}
				require.Positive(t, s.Owner(owner).LearnFromCommand(command))
				l.learn(all)
			default:
				require.True(t, s.Owner(owner).Learn("x", []byte(v)))
				l.learn([]string{v})
			}
			n := 0
			var all []string
			for _, l := range lists {
				n += len(l.values)
				all = append(all, l.values...)
			}
			require.Equal(t, n, s.Len(), "step %d", step)
			for _, v := range pool {
				known := slices.ContainsFunc(all, func(k string) bool { return strings.Contains(v, k) })
				got, _ := s.String("«"+v+"»", redact.Guarded)
				require.Equal(t, known, got != "«"+v+"»", "seed %d, step %d: %s", seed, step, v)
			}
			checkRuns(t, s)
		}
	}
}

// checkRuns checks that there are few runs: each is larger than twice what follows it, and half of it at least is known.
func checkRuns(t *testing.T, s *redact.Set) {
	t.Helper()
	sizes, dead := redact.RunSizes(s)
	for i, size := range sizes {
		require.GreaterOrEqual(t, size, 2*dead[i])
		require.GreaterOrEqual(t, dead[i], 0)
		if i > 0 {
			require.Greater(t, sizes[i-1], 2*size)
			require.Greater(t, sizes[i-1]+size, redact.MinRun)
		}
	}
}

func TestRunsAreMergedWhereTheyAreNotMuchLarger(t *testing.T) {
	s := redact.New(redact.Config{})
	most := 0
	for i := range 700 {
		require.True(t, s.Learn("x", []byte(noise(i, 20+i%60))))
		checkRuns(t, s)
		sizes, _ := redact.RunSizes(s)
		most = max(most, len(sizes))
	}
	assert.Greater(t, most, 2)
}

// When all together are at their limit, the list with most to forget makes room, and of it what came first.
func TestTheLimitOfAllOwnersIsMetExactly(t *testing.T) {
	const each = 3
	full := func(t *testing.T) *redact.Set {
		s := redact.New(redact.Config{MaxLearned: each})
		for o := range redact.OwnersInFull {
			for i := range each {
				size := 30
				if o == 2 {
					size = 60
				}
				require.True(t, s.Owner(fmt.Sprint(o)).Learn("x", []byte(noise(o*10+i, size))))
			}
		}
		require.Equal(t, redact.OwnersInFull*each, s.Len())
		return s
	}
	known := func(s *redact.Set, v string) bool { return guarded(s, v) != v }

	s := full(t)
	require.True(t, s.Owner("new").Learn("x", []byte(noise(90, 30))))
	assert.Equal(t, redact.OwnersInFull*each, s.Len())
	assert.True(t, known(s, noise(90, 30)))
	for o := range redact.OwnersInFull {
		for i := range each {
			size := 30
			if o == 2 {
				size = 60
			}
			assert.Equal(t, o != 2 || i != 0, known(s, noise(o*10+i, size)), "%d %d", o, i)
		}
	}
	assert.Equal(t, redact.OwnersInFull+1, redact.Owners(s))

	s = full(t)
	assert.False(t, s.Owner("big").Learn("x", []byte(noise(91, 1000))), "it would have most to forget, and only this")
	assert.Equal(t, redact.OwnersInFull*each, s.Len())
	assert.Equal(t, redact.OwnersInFull, redact.Owners(s), "an owner of nothing is forgotten")

	s = redact.New(redact.Config{MaxLearned: 2})
	require.True(t, s.Owner("big").Learn("x", []byte(noise(1, 1000))))
	for o := range redact.OwnersInFull {
		for i := range 2 {
			require.True(t, s.Owner(fmt.Sprint(o)).Learn("x", []byte(noise(10*o+i+10, 30))))
		}
	}
	assert.Equal(t, redact.OwnersInFull*2, s.Len())
	assert.Equal(t, redact.OwnersInFull, redact.Owners(s), "an owner of nothing is forgotten")
}

func TestBytesOfAllOwnersHaveALimitToo(t *testing.T) {
	s := redact.New(redact.Config{MaxLearnedBytes: 256})
	for o := range 3 * redact.OwnersInFull {
		for i := range 2 {
			s.Owner(fmt.Sprint(o)).Learn("x", []byte(noise(10*o+i, 100)))
		}
	}
	assert.LessOrEqual(t, s.Len(), redact.OwnersInFull*256/100)
	assert.Greater(t, s.Len(), redact.OwnersInFull)
}

// Forms cost more than values. What has many is forgotten before its bytes are too many.
func TestFormsOfAllOwnersHaveALimitToo(t *testing.T) {
	s := redact.New(redact.Config{MaxLearnedBytes: 400})
	forms := 0
	for o := range 2 * redact.OwnersInFull {
		v := strings.Repeat("'&\"", 40) + noise(o, 30)
		forms = redact.FormsSize(v)
		require.Greater(t, forms, 20*len(v))
		s.Owner(fmt.Sprint(o)).Learn("x", []byte(v))
	}
	assert.Equal(t, redact.OwnersInFull*400*redact.FormsEach/forms, s.Len())
}

// So that a limit of the bytes of forms is one of the bytes of values.
func TestNoValueHasFewForms(t *testing.T) {
	for _, unit := range []string{"1", "a", "0123456789", "aZ9", " ", "\x00", "a b", "é", "\xff", "~", "-._", "line one of it\n"} {
		for _, n := range []int{redact.MinLearned, 9, 10, 31, 32, 33, 511, redact.MaxLearnedValue - 2, redact.MaxLearnedValue - 1, redact.MaxLearnedValue} {
			assert.GreaterOrEqual(t, redact.FormsSize(strings.Repeat(unit, n)[:n]), n*redact.FormsEach, "%q, %d bytes", unit, n)
		}
	}
}

func TestTypedPasswordsOfOthersAreNeverForgotten(t *testing.T) {
	s := redact.New(redact.Config{MaxLearned: 2})
	for o := range redact.OwnersInFull {
		for i := range 2 {
			require.True(t, s.Owner(fmt.Sprint(o)).LearnTyped([]byte(noise(10*o+i, 30))))
		}
	}
	assert.False(t, s.Owner("new").LearnTyped([]byte(noise(91, 30))), "no room")
	assert.Equal(t, redact.OwnersInFull, redact.Owners(s))
	assert.Equal(t, noise(91, 30), guarded(s, noise(91, 30)))
	for o := range redact.OwnersInFull {
		for i := range 2 {
			assert.NotEqual(t, noise(10*o+i, 30), guarded(s, noise(10*o+i, 30)))
		}
	}
	assert.True(t, s.Owner("0").LearnTyped([]byte(noise(92, 30))), "its own oldest makes room")
	assert.Equal(t, noise(0, 30), guarded(s, noise(0, 30)))
	assert.Equal(t, "«typed»", guarded(s, noise(92, 30)))
	assert.Equal(t, 2*redact.OwnersInFull, s.Len())

	none := redact.New(redact.Config{MaxLearned: -1})
	assert.True(t, none.Owner("0").LearnTyped([]byte(noise(1, 30))), "where nothing is learned, nothing has to be")
	assert.True(t, s.Owner("new").LearnTyped([]byte("short")), "what is too short to be learned needs no room")
	assert.Zero(t, none.Len())
}

func TestWhatIsGivenIsInNoListOfWhatMayBeForgotten(t *testing.T) {
	s := redact.New(redact.Config{})
	v := noise(1, 30)
	require.True(t, s.Owner("a").Learn("x", []byte(v)))
	require.True(t, s.Owner("b").LearnTyped([]byte(v)))
	require.Equal(t, 2, s.Len())
	require.NoError(t, s.Add("vault", []byte(v)))
	assert.Equal(t, 1, s.Len())
	ever, now, _ := redact.Built(s)
	require.NoError(t, s.Add("other", []byte(v)))
	again, _, _ := redact.Built(s)
	assert.Equal(t, ever, again, "nothing is built for what is known")
	require.NoError(t, s.AddOwn("sudo", []byte(v)))
	assert.Equal(t, 1, s.Len())
	got, _ := s.String(v, redact.Everybody)
	assert.Equal(t, "«vault»", mark.ReplaceAllString(got, "«$1»"), "it keeps the kind that it had, and is hidden from everybody")
	require.NoError(t, s.Add("other", []byte(v)))
	assert.Equal(t, "«vault»", guarded(s, v))
	fresh := redact.New(redact.Config{})
	require.NoError(t, fresh.AddOwn("sudo", []byte(v)))
	_, one, _ := redact.Built(fresh)
	_, now2, _ := redact.Built(s)
	assert.Equal(t, one, now2, "what was replaced takes no room")
	assert.Equal(t, one, now)

	s = redact.New(redact.Config{})
	require.NoError(t, s.Add("vault", []byte(v)))
	assert.True(t, s.Owner("a").Learn("x", []byte(v)), "it is secret")
	assert.True(t, s.Owner("a").LearnTyped([]byte(v)))
	assert.Zero(t, redact.Owners(s), "an owner of nothing is forgotten")
	assert.False(t, s.Owner("a").Learn("x", []byte("short")))
	assert.Zero(t, redact.Owners(s))
}

// What came again, and what was given meanwhile, leaves nothing behind for ever.
func TestTurnsThatAreOutdatedAreForgotten(t *testing.T) {
	s := redact.New(redact.Config{})
	o := s.Owner("a")
	require.True(t, o.Learn("x", []byte("it stays and comes again")))
	for i := range 60 {
		require.True(t, o.Learn("x", []byte("it stays and comes again")))
		require.True(t, o.Learn("x", []byte(noise(i, 16))))
		require.NoError(t, s.Add("given", []byte(noise(i, 16))))
		require.LessOrEqual(t, redact.Turns(s, "a"), 2*2+17)
	}
}
