package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func ids(commands []store.Command) (all []string) {
	for _, c := range commands {
		all = append(all, c.ID)
	}
	return all
}

func TestPagesShowEachCommandOnceAlsoWhenNewOnesCome(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		var want []string
		for i := range 23 {
			n := allowed()
			n.ID = "c_" + strconv.Itoa(100+i)
			_, _, err := s.Create(t.Context(), n)
			require.NoError(t, err)
			want = append([]string{n.ID}, want...)
			if i%4 == 0 { // several share a time
				clock.Add(time.Microsecond)
			}
		}
		var got []string
		p := store.Paging{Limit: 5}
		for pages := 0; ; pages++ {
			require.Less(t, pages, 10)
			page, err := s.Commands(t.Context(), store.CommandFilter{}, p)
			require.NoError(t, err)
			got = append(got, ids(page.Items)...)
			if page.Next == "" {
				break
			}
			assert.Len(t, page.Items, 5)
			p.Cursor = page.Next
			clock.Add(time.Second)
			_, _, err = s.Create(t.Context(), allowed())
			require.NoError(t, err)
		}
		assert.Equal(t, want, got)
		for _, limit := range []int{0, 100000} {
			page, err := s.Commands(t.Context(), store.CommandFilter{}, store.Paging{Limit: limit})
			require.NoError(t, err)
			assert.Len(t, page.Items, 27)
		}
		_, err := s.Commands(t.Context(), store.CommandFilter{}, store.Paging{Limit: -1})
		assert.ErrorIs(t, err, store.ErrInvalid)
		_, err = s.Commands(t.Context(), store.CommandFilter{}, store.Paging{Cursor: "x"})
		assert.ErrorIs(t, err, store.ErrCursor)
		page, err := s.Commands(t.Context(), store.CommandFilter{}, store.Paging{Limit: 1})
		require.NoError(t, err)
		_, err = s.Sandboxes(t.Context(), store.SandboxFilter{}, store.Paging{Cursor: page.Next})
		assert.ErrorIs(t, err, store.ErrCursor, "of another list")
	})
}

func TestCommandsAreFoundByWhatTheyAre(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		_, err := s.CreateSandbox(t.Context(), store.Sandbox{ID: "b_1", Owner: asker, Host: "web01", Active: true})
		require.NoError(t, err)
		keep := func(id string, change func(*store.NewCommand)) {
			n := allowed()
			n.ID = id
			change(&n)
			_, _, err := s.Create(t.Context(), n)
			require.NoError(t, err)
		}
		keep("c_1", func(n *store.NewCommand) { n.Sandbox, n.Session = "b_1", "s_1" })
		keep("c_2", func(n *store.NewCommand) { n.Host, n.Hosts = "", []string{"web02", "web01", "web02"} })
		keep("c_3", func(n *store.NewCommand) { n.RequestedBy, n.Host = ada, "web03" })
		keep("c_4", func(n *store.NewCommand) { n.Status = store.Rejected; n.Sandbox = "b_1" })
		for _, tt := range []struct {
			f    store.CommandFilter
			want []string
		}{
			{store.CommandFilter{}, []string{"c_4", "c_3", "c_2", "c_1"}},
			{store.CommandFilter{Sandbox: "b_1"}, []string{"c_4", "c_1"}},
			{store.CommandFilter{Sandbox: "b_1", Status: store.Rejected}, []string{"c_4"}},
			{store.CommandFilter{Session: "s_1"}, []string{"c_1"}},
			{store.CommandFilter{Principal: ada}, []string{"c_3"}},
			{store.CommandFilter{Host: "web01"}, []string{"c_4", "c_2", "c_1"}},
			{store.CommandFilter{Host: "web02"}, []string{"c_2"}},
			{store.CommandFilter{Status: "nonsense"}, nil},
		} {
			page, err := s.Commands(t.Context(), tt.f, store.Paging{})
			require.NoError(t, err)
			assert.Equal(t, tt.want, ids(page.Items), "%+v", tt.f)
			assert.Empty(t, page.Next)
		}
		c, err := s.Command(t.Context(), "c_2")
		require.NoError(t, err)
		assert.Equal(t, []string{"web02", "web01", "web02"}, c.Hosts)
		assert.Empty(t, c.Host)
		_, err = s.Commands(t.Context(), store.CommandFilter{Host: "a\x00"}, store.Paging{})
		assert.ErrorIs(t, err, store.ErrInvalid)
	})
}

func TestABriefListLeavesOutputsOut(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		c := begun(t, s, keeperID)
		c, err := s.Finish(t.Context(), c.ID, keeperID, store.End{Status: store.Executed, Outcome: "ok", Stdout: "out", Stderr: "err", Exec: []byte(`{}`)})
		require.NoError(t, err)
		page, err := s.Commands(t.Context(), store.CommandFilter{}, store.Paging{})
		require.NoError(t, err)
		assert.Equal(t, []store.Command{c}, page.Items)
		page, err = s.Commands(t.Context(), store.CommandFilter{Brief: true}, store.Paging{})
		require.NoError(t, err)
		c.Stdout, c.Stderr, c.Exec = "", "", nil
		assert.Equal(t, []store.Command{c}, page.Items)
	})
}
