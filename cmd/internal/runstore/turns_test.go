package runstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/session"
)

// lose leaves a run as a process does that is killed.
func lose(t *testing.T, w *runstore.Writer) { w.Leave() }

func TestAHostWhoseTurnHadNotComeWhenTheRunWasLostGotNothing(t *testing.T) {
	s := runstore.Store{Dir: t.TempDir()}
	w := begin(t, s, runstore.Run{ID: id(1), Principal: "p", PID: os.Getpid(), Hosts: []runstore.Host{{Name: "a"}, {Name: "b"}, {Name: "u@c:1", Label: "c"}, {Name: "d"}}})
	w.Turns()
	w.Turn("a")
	w.End("a", session.Result{Status: session.StatusOK}, false)
	assert.Nil(t, s.Join("q", id(1)), "the run is another's")
	assert.Nil(t, s.Join("p", id(2)), "no run has this id")
	k := s.Join("p", id(1)) // a keeper
	require.NotNil(t, k)
	k.Turns()
	k.Turn("b")
	w.Turn("b")
	k.Leave()
	r, err := s.Get("p", id(1))
	require.NoError(t, err)
	assert.Empty(t, pick(t, r, runstore.NotRun), "the turns of the others may come")
	lose(t, w)
	r, err = s.Get("p", id(1))
	require.NoError(t, err)
	require.Equal(t, "lost", r.State)
	assert.Equal(t, "u@c:1 d", pick(t, r, runstore.NotRun))
	assert.Equal(t, "b", pick(t, r, runstore.Failed), "the command may have run there")
	assert.Nil(t, s.Join("p", id(1)), "its process has ended")
}

func TestOfALostRunWhoseTurnsMayNotAllBeThereNothingIsKnown(t *testing.T) {
	s := runstore.Store{Dir: t.TempDir()}
	hosts := []runstore.Host{{Name: "a"}, {Name: "b"}}
	lose(t, begin(t, s, runstore.Run{ID: id(1), Principal: "p", Hosts: hosts}))
	w := begin(t, s, runstore.Run{ID: id(2), Principal: "p", Hosts: hosts})
	w.Turns()
	lose(t, w)
	name := filepath.Join(s.Dir, id(2)+".run") // as if the machine had been started again meanwhile
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	require.NoError(t, os.WriteFile(name, []byte(lines[0]+`{"turns":"another start"}`+"\n"), 0o600))
	for _, n := range []int{1, 2} {
		r, err := s.Get("p", id(n))
		require.NoError(t, err)
		assert.Empty(t, pick(t, r, runstore.NotRun), n)
		assert.Equal(t, "a b", pick(t, r, runstore.Failed), n)
	}
}
