package runs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// fed runs a command whose hosts get these.
func fed(w *keepertest.World, in wire.NewRun, stdin func(host int) io.Reader) *keepertest.Told {
	w.T.Helper()
	in.Stdin = true
	o := &keepertest.Told{}
	f := o.Fleet()
	f.Stdin = stdin
	_, err := w.RunFleet(w.T.Context(), in, f)
	require.NoError(w.T, err)
	return o
}

func TestEachHostOfARunGetsItsStandardInputExactly(t *testing.T) {
	w := keepertest.StartFleet(t, 3)
	noise := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(noise)
	sum := sha256.Sum256(noise)
	o := fed(w, wire.NewRun{ID: "r_with_input", Selector: "web*", Command: "sha256sum"}, func(int) io.Reader { return bytes.NewReader(noise) })
	for i := range 3 {
		assert.Equal(t, hex.EncodeToString(sum[:])+"  -\n", o.Out[i].String())
	}
	results := w.Ended("r_with_input")
	assert.Len(t, results, 3)
	for _, e := range results {
		assert.Equal(t, hex.EncodeToString(sum[:]), e.StdinSHA256)
		assert.EqualValues(t, len(noise), e.StdinBytes)
	}
}

// A sender may use its connections again.
func TestManyHostsInTurnGetTheirInputs(t *testing.T) {
	w := keepertest.StartFleet(t, 30)
	o := fed(w, wire.NewRun{Selector: "web*", Command: "cat", Forks: 3}, func(i int) io.Reader {
		if i%3 == 0 {
			return io.MultiReader(strings.NewReader("and "), strings.NewReader("more"))
		}
		return strings.NewReader("some")
	})
	for i := range 30 {
		want := "some"
		if i%3 == 0 {
			want = "and more"
		}
		assert.Equal(t, want, o.Out[i].String())
	}
}

func TestAHostThatReadsNothingOfItsInputHoldsNobodyBack(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	r, wr := io.Pipe() // which never ends
	defer wr.Close()
	o := fed(w, wire.NewRun{Selector: "web*", Command: "exec 0<&-; echo done"}, func(int) io.Reader { return r })
	assert.Equal(t, []string{"ok", "ok"}, o.Statuses())
	assert.Equal(t, "done\n", o.Out[0].String())
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the tape is torn") }

func TestInputThatCannotBeReadStopsTheCommandAndSaysWhy(t *testing.T) {
	w := keepertest.StartFleet(t, 1)
	o := fed(w, wire.NewRun{Selector: "web1", Command: "cat; sleep 1000"}, func(int) io.Reader {
		return io.MultiReader(strings.NewReader("half"), brokenReader{})
	})
	assert.Equal(t, []string{"error"}, o.Statuses())
	assert.Contains(t, why(o.Results[0].Result), "its standard input could not be read: the tape is torn")
}

func TestAHostThatWasRefusedWantsNoInput(t *testing.T) {
	w := keepertest.StartFleet(t, 1)
	o := fed(w, wire.NewRun{Selector: "db", Command: "systemctl --version stop x"}, func(int) io.Reader {
		t.Error("it was asked for")
		return strings.NewReader("")
	})
	assert.Equal(t, []string{"denied"}, o.Statuses())
}

func TestInputNeedsARunThatTakesIt(t *testing.T) {
	w := keepertest.StartFleet(t, 1)
	status, p, _ := w.Send("POST", "/v1/runs/r_nobody__/stdin?host=0", "x")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Equal(t, "not_found", p.Code)
	asked := false
	fed(w, wire.NewRun{ID: "r_taken___", Selector: "web1", Command: "cat"}, func(int) io.Reader {
		asked = true
		for path, code := range map[string]string{"?host=1": "not_running", "?host=x": "invalid", "": "invalid"} {
			_, p, _ := w.Send("POST", "/v1/runs/r_taken___/stdin"+path, "x")
			assert.Equal(t, code, p.Code, path)
		}
		_, p, _ := w.Send("POST", "/v1/runs/r_taken___/stdin?host=0", "x", wire.Principal, "agent/a")
		assert.Equal(t, "not_found", p.Code, "it is somebody else's")
		return strings.NewReader("y")
	})
	assert.True(t, asked)
}
