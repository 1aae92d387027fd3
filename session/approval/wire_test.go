package approval_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestALineIsWholeAndOfBoundedLength(t *testing.T) {
	const most = 32
	for text, want := range map[string]string{
		"\n":                                  "",
		"x\n":                                 "x",
		"x\ny":                                "x",
		strings.Repeat("x", most-1) + "\n":    strings.Repeat("x", most-1),
		strings.Repeat("x", most-1) + "\nyyy": strings.Repeat("x", most-1),
	} {
		got, err := approval.ReadLine(strings.NewReader(text), most)
		require.NoError(t, err, "%q", text)
		assert.Equal(t, want, string(got), "%q", text)
	}
	for text, want := range map[string]string{
		strings.Repeat("x", most) + "\n": "longer than 32 bytes",
		strings.Repeat("x", 5*most):      "longer than 32 bytes",
		"{}":                             "its line was truncated",
	} {
		got, err := approval.ReadLine(strings.NewReader(text), most)
		require.ErrorIs(t, err, approval.ErrInvalid, "%q", text)
		require.ErrorContains(t, err, want)
		assert.Nil(t, got)
	}
	_, err := approval.ReadLine(strings.NewReader(""), most)
	assert.True(t, errors.Is(err, io.EOF) && !errors.Is(err, approval.ErrInvalid))
}

// Hosts may be reached by a command: what is shown of them names it word by word.
func TestADocumentNamesTheCommandThatReachesAHost(t *testing.T) {
	p := approval.Pending{ID: "a_1", Question: policy.Question{Host: hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"docker", "exec", "-i", "my box\n", "", "sh"}}}}
	assert.Contains(t, string(p.Document()), "argv 6\ndocker\nargv 4\nexec\nargv 2\n-i\nargv 7\nmy box\n\nargv 0\n\nargv 2\nsh\n")
	got, err := approval.Parse(p.Document())
	require.NoError(t, err)
	assert.Equal(t, p, got)
}

// A question whose time is over is not shown, and is not answered, also where its asker has not noticed yet.
func TestAQuestionIsOverAtItsInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := approval.NewDesk(approval.Config{})
		q := question("agent/x")
		q.Asked, q.Expires = time.Now(), time.Now().Add(time.Minute)
		p, err := d.Put(q)
		require.NoError(t, err)
		time.Sleep(time.Minute - time.Nanosecond)
		_, err = d.Get(p.ID)
		require.NoError(t, err)
		assert.Len(t, d.List(), 1)
		time.Sleep(time.Nanosecond)
		_, err = d.Get(p.ID)
		require.ErrorIs(t, err, approval.ErrSettled)
		require.ErrorIs(t, d.Answer(yes(p)), approval.ErrSettled)
		assert.Empty(t, d.List())
	})
}
