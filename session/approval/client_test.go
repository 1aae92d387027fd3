package approval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

func TestApprovalsForSessionsAreListedAndRevokedAtAnyServer(t *testing.T) {
	one, two := newDesk(t, approval.Config{}), newDesk(t, approval.Config{})
	dir := place(t)
	serves(t, one, dir)
	serves(t, two, dir)
	c := dial(t, dir)
	id := func(d *approval.Desk) string { return forSession(t, d, inSession("touch x"), approval.Scope{}).ID }
	first, second, third := id(one), id(two), id(one)
	list, err := c.ForSessions(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 3)
	assert.Equal(t, []string{first, second, third}, []string{list[0].ID, list[1].ID, list[2].ID}, "the oldest first")

	_, err = c.Revoke(t.Context(), second, "agent/x", "")
	require.ErrorIs(t, err, approval.ErrForbidden)
	for _, none := range []string{"", "a", "a_", "a_none"} {
		_, err = c.Revoke(t.Context(), none, "", "")
		require.ErrorIs(t, err, approval.ErrUnknown, none)
	}
	got, err := c.Revoke(t.Context(), second[:20], "", "enough")
	require.NoError(t, err)
	assert.Equal(t, second, got)
	got, err = c.Revoke(t.Context(), first, "", "")
	require.NoError(t, err)
	assert.Equal(t, first, got)
	list, err = c.ForSessions(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, third, list[0].ID)

	seen := map[byte]string{third[2]: third}
	for range 33 { // of 33 ids two begin alike
		next := id(two)
		if other := seen[next[2]]; other != "" {
			_, err = c.Revoke(t.Context(), next[:3], "", "")
			require.ErrorIs(t, err, approval.ErrAmbiguous)
			got, err = c.Revoke(t.Context(), next, "", "")
			require.NoError(t, err)
			assert.Equal(t, next, got)
			return
		}
		seen[next[2]] = next
	}
	t.Fatal("no two identifiers begin alike")
}

func TestWhatEveryIdentifierBeginsWithNamesNone(t *testing.T) {
	d, dir := approval.NewDesk(approval.Config{}), place(t)
	serves(t, d, dir)
	c := dial(t, dir)
	p, err := d.Put(question("agent/x"))
	require.NoError(t, err)
	for _, none := range []string{"", "a_", strings.Repeat("a", 257)} {
		_, err = c.Get(t.Context(), none)
		require.ErrorIs(t, err, approval.ErrUnknown, none)
	}
	got, err := c.Get(t.Context(), p.ID[:3])
	require.NoError(t, err)
	assert.Equal(t, p.ID, got.ID)
	_, err = d.Put(question("agent/x"))
	require.NoError(t, err)
	_, err = c.Get(t.Context(), "a_")
	require.ErrorIs(t, err, approval.ErrAmbiguous)
}

// A server that has ended is as if it had never been: whoever asks for what nobody knows hears that, and not of the socket.
func TestAServerThatHasEndedChangesNoAnswer(t *testing.T) {
	d, dir := newDesk(t, approval.Config{}), place(t)
	serves(t, d, dir)
	socket(t, filepath.Join(dir, fmt.Sprintf("%d-7.sock", os.Getppid()))) // of a process that lives, and does not listen
	c := dial(t, dir)
	_, err := c.Get(t.Context(), "a_none")
	require.EqualError(t, err, approval.ErrUnknown.Error())
	_, err = c.Revoke(t.Context(), "a_none", "", "")
	require.EqualError(t, err, approval.ErrUnknown.Error())
	p, err := d.Put(question("agent/x"))
	require.NoError(t, err)
	got, err := c.Get(t.Context(), p.ID)
	require.NoError(t, err)
	require.Equal(t, p.ID, got.ID)
}

func TestAListThatLacksSomethingSaysSo(t *testing.T) {
	d, dir := approval.NewDesk(approval.Config{Unread: func() error { return errors.New("the store is away") }}), place(t)
	serves(t, d, dir)
	p, err := d.Put(question("agent/x"))
	require.NoError(t, err)
	list, err := dial(t, dir).List(t.Context())
	require.ErrorContains(t, err, "the store is away")
	require.Len(t, list, 1)
	assert.Equal(t, p.ID, list[0].ID)
}

func TestOnlySoManyServersAreAsked(t *testing.T) {
	dir := place(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	add := func(i int) { socket(t, filepath.Join(dir, fmt.Sprintf("%d-%d.sock", os.Getpid(), i))) }
	for i := range 256 {
		add(i)
	}
	_, err := dial(t, dir).List(t.Context())
	require.NoError(t, err)
	add(256)
	_, err = dial(t, dir).List(t.Context())
	assert.ErrorContains(t, err, "holds more than 256 sockets; the others were not asked")
}

// shows is a server that says one thing to whoever wants to see something, and nothing to others.
func shows(t *testing.T, path, says string) {
	t.Helper()
	answers(t, path, map[string]string{"show": says, "": "{}"})
}

// Who refuses something knows it: nobody else is asked then.
func TestARefusalIsTheAnswer(t *testing.T) {
	dir := place(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	p := approval.Pending{ID: "a_1", Question: question("agent/x")}
	document, err := json.Marshal(map[string]any{"document": p.Document()})
	require.NoError(t, err)
	shows(t, filepath.Join(dir, "1.sock"), `{"error":{"code":"unknown"}}`)
	shows(t, filepath.Join(dir, "2.sock"), `{"error":{"code":"forbidden"}}`)
	shows(t, filepath.Join(dir, "3.sock"), string(document))
	_, err = dial(t, dir).Get(t.Context(), p.ID)
	require.ErrorIs(t, err, approval.ErrForbidden)
	require.NoError(t, os.Remove(filepath.Join(dir, "2.sock")))
	_, err = dial(t, dir).Get(t.Context(), p.ID)
	require.NoError(t, err)
}

// A server is another process: what it answers is read as strictly as what it is asked.
func TestAServerIsNotBelievedWhateverItSays(t *testing.T) {
	p := approval.Pending{ID: "a_1", Question: question("agent/x")}
	document := func(p approval.Pending) string {
		b, err := json.Marshal(map[string]any{"document": p.Document()})
		require.NoError(t, err)
		return string(b)
	}
	other := p
	other.ID = "a_2"
	for name, tt := range map[string]struct {
		says string
		want string
		is   error
	}{
		"what was asked for":     {document(p), "", nil},
		"another one":            {document(other), "it is about another one", approval.ErrInvalid},
		"no document":            {`{"document":"eA=="}`, "this is not a document", nil},
		"no JSON":                {"hello", "answers in an unknown way", nil},
		"nothing":                {"", "answers in an unknown way", nil},
		"a line without an end":  {strings.Repeat("x", 4<<20), "has not answered", nil},
		"an error":               {`{"error":{"code":"forbidden","message":"go away"}}`, "go away", approval.ErrForbidden},
		"an error without words": {`{"error":{"code":"forbidden"}}`, approval.ErrForbidden.Error(), approval.ErrForbidden},
		"an error of its own":    {`{"error":{"code":"odd","message":"why not"}}`, "approval: why not", nil},
		"an error of neither":    {`{"error":{}}`, "approval: it failed, and does not say why", nil},
		"an error without end":   {`{"error":{"code":"odd","message":"` + strings.Repeat("x", 3000) + `"}}`, "approval: " + strings.Repeat("x", 2045) + "…", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := place(t)
			require.NoError(t, os.Mkdir(dir, 0o700))
			shows(t, filepath.Join(dir, "1.sock"), tt.says)
			got, err := dial(t, dir).Get(t.Context(), p.ID)
			if tt.want == "" {
				require.NoError(t, err)
				assert.Equal(t, p.Digest(), got.Digest())
				return
			}
			require.ErrorContains(t, err, tt.want)
			if tt.is != nil {
				assert.ErrorIs(t, err, tt.is)
			}
			if name == "an error without end" {
				assert.LessOrEqual(t, len(err.Error()), 2100)
			}
		})
	}
}

// What waits at another server is not refused here.
func TestAServerSaysFirstWhatItDoesNotKnow(t *testing.T) {
	s := serves(t, approval.NewDesk(approval.Config{}), place(t))
	for _, by := range []string{"", "agent/x"} {
		said := talk(t, s.Addr(), fmt.Sprintf(`{"op":"answer","id":"a_1","by":%q,"approved":true}`+"\n", by))
		assert.Contains(t, said, `"code":"unknown"`)
	}
}

func TestAConnectionCarriesSoManyRequests(t *testing.T) {
	s := serves(t, approval.NewDesk(approval.Config{}), place(t))
	assert.Equal(t, 64, strings.Count(talk(t, s.Addr(), strings.Repeat(`{"op":"list"}`+"\n", 64)), "\n"))
	assert.Equal(t, 64, strings.Count(talk(t, s.Addr(), strings.Repeat(`{"op":"list"}`+"\n", 65)), "\n"))
}

// A scope on its way is whole seconds, and one that is too long does not become a short one.
func TestAScopeArrivesAsItWasSent(t *testing.T) {
	d, dir := newDesk(t, approval.Config{}), place(t)
	s := serves(t, d, dir)
	c := dial(t, dir)
	scope := &approval.Scope{Prefix: []string{"touch", "x"}, For: 90 * time.Second}
	p, err := d.Put(inSession("touch x y"))
	require.NoError(t, err)
	p.ForSession = scope
	r := yes(p)
	r.ForSession = scope
	require.NoError(t, c.Answer(t.Context(), r))
	list := d.ForSessions()
	require.Len(t, list, 1)
	assert.Equal(t, scope.Prefix, list[0].Prefix)
	assert.Equal(t, 90*time.Second, list[0].Until.Sub(list[0].Given))
	for seconds, ok := range map[string]bool{"0": true, "86400": true, "86401": false, "-1": false, "9223372036854775807": false} {
		p, err := d.Put(inSession("touch x"))
		require.NoError(t, err)
		p.ForSession = &approval.Scope{}
		if seconds == "86400" {
			p.ForSession.For = 24 * time.Hour
		}
		said := talk(t, s.Addr(), fmt.Sprintf(`{"op":"answer","id":%q,"digest":%q,"approved":true,"for_session":{"for_s":%s}}`+"\n", p.ID, p.Digest(), seconds))
		assert.Equal(t, ok, said == "{}\n", "%s: %s", seconds, said)
		if !ok {
			assert.Contains(t, said, "whole seconds")
		}
	}
}
