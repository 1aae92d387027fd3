package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestASandboxIsKeptChangedAndHiddenForGood(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		b, err := s.CreateSandbox(t.Context(), store.Sandbox{Owner: asker, Host: "web01", Label: "app\x00", Path: "/srv/\xff", Active: true, Network: store.NetworkNone})
		require.NoError(t, err)
		assert.Equal(t, clock.Now(), b.Created)
		clock.Add(time.Second)
		label, off := "new", false
		b, err = s.UpdateSandbox(t.Context(), b.ID, store.SandboxChange{Label: &label, Active: &off})
		require.NoError(t, err)
		kept, err := s.Sandbox(t.Context(), b.ID)
		require.NoError(t, err)
		assert.Equal(t, b, kept)
		assert.Equal(t, "/srv/\xff", kept.Path)
		assert.Equal(t, time.Second, kept.Updated.Sub(kept.Created))

		n := pending()
		n.Sandbox = b.ID
		_, _, err = s.Create(t.Context(), n)
		require.ErrorIs(t, err, store.ErrInactive)
		n.Status = store.Rejected
		_, _, err = s.Create(t.Context(), n)
		require.NoError(t, err, "that it was refused is kept")

		require.NoError(t, s.DeleteSandbox(t.Context(), b.ID))
		for _, err := range []error{
			s.DeleteSandbox(t.Context(), b.ID),
			second(s.Sandbox(t.Context(), b.ID)),
			second(s.UpdateSandbox(t.Context(), b.ID, store.SandboxChange{})),
		} {
			assert.ErrorIs(t, err, store.ErrNotFound)
		}
		_, _, err = s.Create(t.Context(), n)
		assert.ErrorIs(t, err, store.ErrNotFound)
		page, err := s.Sandboxes(t.Context(), store.SandboxFilter{}, store.Paging{})
		require.NoError(t, err)
		assert.Empty(t, page.Items)
		commands, err := s.Commands(t.Context(), store.CommandFilter{Sandbox: b.ID}, store.Paging{})
		require.NoError(t, err)
		assert.Len(t, commands.Items, 1, "its commands stay")
	})
}

func second[T any](_ T, err error) error { return err }

func TestSandboxesAreFoundByOwnerHostAndWhetherTheyAreActive(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		for _, b := range []store.Sandbox{
			{ID: "b_1", Owner: asker, Host: "web01", Active: true},
			{ID: "b_2", Owner: asker, Host: "web02"},
			{ID: "b_3", Owner: ada, Host: "web01", Active: true},
		} {
			_, err := s.CreateSandbox(t.Context(), b)
			require.NoError(t, err)
		}
		for _, tt := range []struct {
			f    store.SandboxFilter
			want []string
		}{
			{store.SandboxFilter{}, []string{"b_3", "b_2", "b_1"}},
			{store.SandboxFilter{Owner: asker}, []string{"b_2", "b_1"}},
			{store.SandboxFilter{Host: "web01", Active: true}, []string{"b_3", "b_1"}},
			{store.SandboxFilter{Owner: ada, Host: "web02"}, nil},
		} {
			page, err := s.Sandboxes(t.Context(), tt.f, store.Paging{})
			require.NoError(t, err)
			var got []string
			for _, b := range page.Items {
				got = append(got, b.ID)
			}
			assert.Equal(t, tt.want, got, "%+v", tt.f)
		}
		_, err := s.CreateSandbox(t.Context(), store.Sandbox{ID: "b_1", Owner: asker, Host: "web01"})
		assert.ErrorIs(t, err, store.ErrExists)
		_, err = s.CreateSandbox(t.Context(), store.Sandbox{Owner: asker})
		assert.ErrorIs(t, err, store.ErrInvalid)
	})
}

func TestASessionIsRememberedUntilAndAfterItsEnd(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		n, err := s.OpenSession(t.Context(), store.Session{ID: "s_1", Name: "deploy", Principal: asker, Host: "web01", Keeper: keeperID, Cwd: "/srv/\xff"})
		require.NoError(t, err)
		clock.Add(time.Second)
		n, err = s.EndSession(t.Context(), "s_1", "closed by ada")
		require.NoError(t, err)
		assert.Equal(t, "/srv/\xff", n.Cwd)
		assert.Equal(t, clock.Now(), n.Ended)
		clock.Add(time.Second)
		again, err := s.EndSession(t.Context(), "s_1", "idle")
		require.NoError(t, err)
		assert.Equal(t, n, again, "the first reason stays")
		e, err := s.Since(t.Context(), 0, 0)
		require.NoError(t, err)
		require.Len(t, e.Items, 1, "it ended once")
		assert.JSONEq(t, `{"session_id":"s_1","name":"deploy","host":"web01"}`, string(e.Items[0].Payload))
		_, err = s.EndSession(t.Context(), "s_2", "")
		assert.ErrorIs(t, err, store.ErrNotFound)

		_, err = s.OpenSession(t.Context(), store.Session{ID: "s_2", Principal: asker, Host: "web02", Keeper: keeperID})
		require.NoError(t, err)
		page, err := s.Sessions(t.Context(), store.SessionFilter{Open: true, Principal: asker}, store.Paging{})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		assert.Equal(t, "s_2", page.Items[0].ID)
		page, err = s.Sessions(t.Context(), store.SessionFilter{Name: "deploy"}, store.Paging{})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		assert.Equal(t, n, page.Items[0])
	})
}

func TestATokenIsFoundByItsSecretWhileItIsValid(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		s := open(t, cfg)
		const secret = "fl_0123456789abcdef"
		token, err := s.CreateToken(t.Context(), store.Token{
			Name: "ci", Principal: "program/ci", Role: "program", Scopes: []string{"run", "read"}, Hosts: "tier=dev", CreatedBy: ada, Expires: clock.Now().Add(time.Hour),
		}, secret)
		require.NoError(t, err)
		_, err = s.CreateToken(t.Context(), store.Token{Principal: ada}, secret)
		assert.ErrorIs(t, err, store.ErrExists)
		_, err = s.CreateToken(t.Context(), store.Token{Principal: ada}, "short")
		assert.ErrorIs(t, err, store.ErrInvalid)

		clock.Add(time.Minute)
		used, err := s.UseToken(t.Context(), secret)
		require.NoError(t, err)
		assert.Equal(t, clock.Now(), used.Used)
		clock.Add(time.Second)
		again, err := s.UseToken(t.Context(), secret)
		require.NoError(t, err)
		assert.Equal(t, used, again, "kept to the minute")
		used.Used = time.Time{}
		assert.Equal(t, token, used)

		_, err = s.UseToken(t.Context(), secret+"x")
		assert.ErrorIs(t, err, store.ErrToken)
		clock.Add(time.Hour)
		_, err = s.UseToken(t.Context(), secret)
		assert.ErrorIs(t, err, store.ErrToken, "expired")

		token, err = s.CreateToken(t.Context(), store.Token{Principal: ada}, secret+"forever")
		require.NoError(t, err)
		require.NoError(t, s.RevokeToken(t.Context(), token.ID))
		require.NoError(t, s.RevokeToken(t.Context(), token.ID))
		_, err = s.UseToken(t.Context(), secret+"forever")
		assert.ErrorIs(t, err, store.ErrToken, "revoked")
		assert.ErrorIs(t, s.RevokeToken(t.Context(), "t_none"), store.ErrNotFound)
		gone, err := s.Token(t.Context(), token.ID)
		require.NoError(t, err)
		assert.Equal(t, token.Principal, gone.Principal)
		assert.False(t, gone.Revoked.IsZero())
		_, err = s.Token(t.Context(), "t_none")
		assert.ErrorIs(t, err, store.ErrNotFound)
		all, err := s.Tokens(t.Context())
		require.NoError(t, err)
		assert.Len(t, all, 2)
	})
}
