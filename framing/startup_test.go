package framing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// followed is what a Startup made of a stream.
type followed struct {
	loaded int // how often
	hello  framing.Hello
	ready  bool
	reason string
	steps  []step // what the decoder says of the rest
}

// follow feeds a stream to a Startup and, once that has one, to its decoder.
func follow(t testing.TB, cut [][]byte) (f followed) {
	up := framing.NewStartup(tokNonce)
	var d *framing.Decoder
	for _, p := range cut {
		if d != nil {
			d.Feed(p)
		} else {
			loaded, h, dec, err := up.Feed(p)
			if loaded {
				f.loaded++
			}
			if err != nil {
				require.Nil(t, dec)
				if unheld, ok := errors.AsType[*framing.UnheldError](err); ok { // which the host says, too
					f.reason = unheld.Reason
					return f
				}
				var start *framing.StartupError
				require.ErrorAs(t, err, &start)
				f.reason = start.Reason
				return f
			}
			d, f.hello, f.ready = dec, h, dec != nil
		}
		if d == nil {
			continue
		}
		for ev, ok := d.Next(); ok; ev, ok = d.Next() {
			f.steps = join(f.steps, step{kind: ev.Kind, data: string(ev.Data), exit: ev.Exit})
		}
	}
	return f
}

func TestAStartIsFollowedWhereverItIsCut(t *testing.T) {
	ready := tokNonce.String() + "R"
	begin := ready + "<n>T" + tokShell.String() + "\n"
	for name, tt := range map[string]struct {
		wire   string
		hello  framing.Hello // without what is not exported
		ready  bool
		loaded int
		reason string
		rest   []step
	}{
		"bash with perl":        {begin + "<n>Hbash;42;;/root<n>h", framing.Hello{Dialect: framing.Bash, PID: 42, Dir: "/root", Exact: true}, true, 1, "", nil},
		"zsh with hexdump":      {begin + "<n>Hzsh;42;hexdump;/<n>h", framing.Hello{Dialect: framing.Zsh, PID: 42, Dir: "/", Exact: true}, true, 1, "", nil},
		"mksh by line":          {begin + "<n>Hmksh;42;lines;/<n>h", framing.Hello{Dialect: framing.Mksh, PID: 42, Dir: "/"}, true, 1, "", nil},
		"ksh93":                 {begin + "<n>Hksh93;1;;/a;b\n<n>h", framing.Hello{Dialect: framing.Ksh93, PID: 1, Dir: "/a;b\n", Exact: true}, true, 1, "", nil},
		"any sh":                {begin + "<n>Hsh;1;;<n>h", framing.Hello{Dialect: framing.POSIX, PID: 1, Exact: true}, true, 1, "", nil},
		"a banner before":       {"Welcome!\n" + begin + "<n>Hsh;1;;/<n>h", framing.Hello{PID: 1, Dir: "/", Exact: true}, true, 1, "", nil},
		"a profile that speaks": {begin + "hello, \x1e you\n<n>Hsh;1;;/<n>h", framing.Hello{PID: 1, Dir: "/", Exact: true}, true, 1, "", nil},
		"output after the hello": {begin + "<n>Hsh;1;;/<n>hlate", framing.Hello{PID: 1, Dir: "/", Exact: true}, true, 1, "",
			[]step{stray("late")}},
		"an end after the hello": {begin + "<n>Hsh;1;;/<n>h<s>X3;0\n", framing.Hello{PID: 1, Dir: "/", Exact: true}, true, 1, "",
			[]step{{kind: framing.Exited, exit: framing.Exit{Code: 3}}}},
		"no such shell":    {ready + "<n>Fthere is no tsch on the host\n", framing.Hello{}, false, 1, "there is no tsch on the host", nil},
		"the same, cooked": {ready + "<n>Fthere is no tsch on the host\r\n", framing.Hello{}, false, 1, "there is no tsch on the host", nil},
		"a supervisor's nonsense": {ready + "<n>T" + strings.Repeat("!", 22) + "\n", framing.Hello{}, false, 1,
			"the shell's supervisor sent an invalid token", nil},
		"a supervisor without tr": {ready + "<n>T\r\n", framing.Hello{}, false, 1,
			"the host has no perl that starts, and lacks cat, head or tr, which a shell takes without it: install perl or those", nil},
		"half a hello":          {begin + "<n>Hsh;1<n>h", framing.Hello{}, false, 1, "the shell's hello is not well formed", nil},
		"a hello without a pid": {begin + "<n>Hsh;x;;/<n>h", framing.Hello{}, false, 1, "the shell's hello holds no process id", nil},
		"a question":            {"Which shell? ", framing.Hello{}, false, 0, "", nil},
		"an echoed command":     {framing.Loader(tokNonce) + "\r\n", framing.Hello{}, false, 0, "", nil},
		"a wrong nonce":         {tokA.String() + "R<A>T" + tokShell.String() + "\n<A>Hsh;1;;/<A>h", framing.Hello{}, false, 0, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := wire(tt.wire)
			whole := follow(t, [][]byte{b})
			assert.Equal(t, tt.loaded, whole.loaded)
			assert.Equal(t, tt.ready, whole.ready)
			assert.Equal(t, tt.reason, whole.reason)
			assert.Equal(t, tt.rest, whole.steps)
			h := whole.hello
			assert.Equal(t, tt.hello, framing.Hello{Dialect: h.Dialect, PID: h.PID, Dir: h.Dir, Exact: h.Exact})
			for n := 1; n <= len(b); n++ {
				require.Equal(t, whole, follow(t, pieces(b, n)), "pieces of %d", n)
			}
		})
	}
}

// A host without perl asks for another text once, and only after it has asked for the first.
func TestAHostMayAskForThePythonTextOnce(t *testing.T) {
	up := framing.NewStartup(tokNonce)
	for i, step := range []struct {
		said           string
		loaded, python bool
	}{
		{"hello", false, false},
		{tokNonce.String() + "R", true, false},
		{"\x1e" + tokNonce.String(), false, false},
		{"Q", false, false},
		{"\n", true, true},
		{"\x1e" + tokNonce.String() + "Q\n", false, true},
		{"\x1e" + tokNonce.String() + "Klandlock 7, seccomp\n\x1e" + tokNonce.String() + "T" + tokShell.String() + "\n", false, true},
	} {
		loaded, _, d, err := up.Feed([]byte(step.said))
		require.NoError(t, err)
		assert.Nil(t, d)
		assert.Equal(t, []bool{step.loaded, step.python}, []bool{loaded, up.Python()}, i)
	}
	_, h, d, err := up.Feed(wire("<n>Hbash;42;;/<n>h"))
	require.NoError(t, err)
	require.NotNil(t, d)
	assert.Equal(t, "landlock 7, seccomp", h.HeldBy)

	_, err = framing.BootstrapPython(tokNonce, framing.Shell{Hold: "1"})
	var un *framing.UnheldError
	assert.ErrorAs(t, err, &un, "a shell for which there is no such text")
}

func TestStartFilesThatPrintForEverAreCutShort(t *testing.T) {
	up := framing.NewStartup(tokNonce)
	var err error
	fed := 0
	for fed = 0; err == nil && fed < 4<<20; fed += 1 << 15 {
		_, _, _, err = up.Feed(make([]byte, 1<<15))
	}
	require.EqualError(t, err, "framing: the account's start files printed more than 1048576 bytes")
	assert.NotEmpty(t, up.Noise())
}

func TestAVariableThatNoShellCanExportIsRefused(t *testing.T) {
	for _, kv := range []string{"", "A", "=x", "1A=x", "A-B=x", "A B=x", "A;id=x", "é=x", "$(id)=x"} {
		_, err := framing.Bootstrap(tokNonce, framing.Shell{Env: []string{kv}})
		require.Error(t, err, kv)
		assert.Contains(t, err.Error(), "framing: ")
		assert.NotContains(t, err.Error(), "id")
	}
	for _, sh := range []framing.Shell{{Env: []string{"A=x\x00y"}}, {Dir: "/\x00"}} {
		_, err := framing.Bootstrap(tokNonce, sh)
		var quote *framing.QuoteError
		assert.True(t, errors.As(err, &quote), "%v", err)
	}
}

// A start never says that a shell is ready which did not say so with the nonce.
func FuzzStartup(f *testing.F) {
	begin := tokNonce.String() + "R<n>T" + tokShell.String() + "\n"
	for _, s := range []string{begin + "<n>Hbash;42;hexdump;/root<n>hlate", begin + "<n>Hsh;;;<n>h", "<n>F\n", begin + "<n>Fx", "$ " + begin, "<n>h<n>H", begin + "<n>h<n>Hsh;1;;/<n>h", tokNonce.String() + "R<n>Q\n<n>T", tokNonce.String() + "R<n>Nit has no perl\n", begin + "<n>K<n>Hsh;1;;/<n>h"} {
		f.Add(wire(s), byte(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, n byte) {
		whole := follow(t, [][]byte{b})
		require.LessOrEqual(t, whole.loaded, 2)
		if whole.ready {
			for _, mark := range []string{tokNonce.String() + "R", "\x1e" + tokNonce.String() + "T", "\x1e" + tokNonce.String() + "H", "\x1e" + tokNonce.String() + "h"} {
				require.Contains(t, string(b), mark)
			}
			require.NotZero(t, whole.loaded)
		}
		cut := follow(t, pieces(b, int(n)+1))
		if whole.loaded == 1 && cut.loaded == 2 {
			cut.loaded = 1 // no host asks for the other text before the first: in one piece they are one answer
		}
		if whole.reason == "" && cut.reason == "" {
			require.Equal(t, whole, cut)
		}
	})
}
