package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/held"
)

// Of a thousand hosts on which sed makes up a name for its temporary file, that is one line.
func TestNamesThatProgramsMakeUpAreOneLine(t *testing.T) {
	var c undone
	for i := range 1000 {
		c.add(fmt.Sprintf("node%04d", i+1), session.Result{Refused: []held.Refusal{
			{Call: "open for writing", Path: fmt.Sprintf("/etc/sed%c%c%04d", 'a'+i%26, 'A'+i%26, i)},
			{Call: "remove", Path: "/run/pid"},
		}})
	}
	assert.Equal(t, "Refused by the kernel, so not done:\n  node[0001-1000]: open for writing /etc/sedXXXXXX\n  node[0001-1000]: remove /run/pid\n", c.text())
}

// Some of the names that are made up look like words.
func TestAMadeUpNameMayLookLikeAWord(t *testing.T) {
	for _, first := range [][]string{{"xvzeeh", "Ab12cd", "kopbDO", "1wmqMq"}, {"Ab12cd", "kopbDO", "1wmqMq", "xvzeeh"}} {
		var c undone
		for i, end := range first {
			c.add(fmt.Sprint("h", i), session.Result{Refused: []held.Refusal{{Call: "open for writing", Path: "/etc/sed" + end}}})
		}
		want := "Refused by the kernel, so not done:\n  h[0-3]: open for writing /etc/sedXXXXXX\n"
		assert.Equal(t, want, c.text())
		c.add("h4", session.Result{Refused: []held.Refusal{{Call: "open for writing", Path: "/etc/sedabcdef"}}})
		assert.Equal(t, strings.Replace(want, "0-3", "0-4", 1), c.text(), "nor does one that comes later differ")
	}
}

func TestNamesThatProgramsDoNotMakeUpStay(t *testing.T) {
	for name, paths := range map[string][]string{
		"one ends alike":    {"/srv/release1", "/srv/release2", "/srv/release3"},
		"two hosts":         {"/etc/sedAb12cd", "/etc/sedXy34zw"},
		"words":             {"/srv/oldname", "/srv/newname", "/srv/anyname"},
		"other directories": {"/a/sedAb12cd", "/b/sedXy34zw", "/c/sedQq56qq"},
		"dots":              {"/etc/a.b1c2", "/etc/a.b3c4", "/etc/a.b5c6"},
		"short":             {"Ab12cd", "Xy34zw", "Qq56qq"},
	} {
		var c undone
		for i, path := range paths {
			c.add(fmt.Sprint("h", i), session.Result{Refused: []held.Refusal{{Call: "remove", Path: path}}})
		}
		assert.Equal(t, 1+len(paths), strings.Count(c.text(), "\n"), "%s: %s", name, c.text())
	}
	var c undone
	for _, host := range []string{"a", "b", "c"} {
		c.add(host, session.Result{Refused: []held.Refusal{{Call: "remove", Path: "/srv/release2"}, {Call: "remove", Path: "/srv/release1"}, {Call: "remove", Path: "/srv/release3"}}})
	}
	assert.Equal(t, 4, strings.Count(c.text(), "\n"), "what hosts name alike: %s", c.text())
}
