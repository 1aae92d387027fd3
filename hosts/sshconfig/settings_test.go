package sshconfig_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// What every setting is in every spelling of these tests, with the line that it is from, or what is said of a mistake.
func TestSettingsAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/settings.tsv")
	h := newHome(t)
	var texts []string
	texts = append(texts, singleLines...)
	texts = append(texts, broken...)
	for _, key := range keywords {
		for _, v := range values[key] {
			texts = append(texts, key+" "+v, "Host web*\n"+key+" "+v+"\nHost foo\nUser x", key+"="+v+"\n"+strings.ToUpper(key)+" "+values[key][0])
		}
		for _, v := range []string{"", "\"", "a b c", "%", "%u", "%z", "${KEYS}/x", "${EMPTY}x", "${", "${}", "-1", "yes", "none", "99999999999", "'a", "a\\", "\t=\tx", "ä", "#", "~", "~x/y", "*", "!x", ","} {
			texts = append(texts, key+" "+v)
		}
	}
	plain := map[string]sshconfig.Settings{}
	aliases := []string{"foo", "web1.example.com", "BAR"}
	for _, alias := range aliases {
		s, err := h.resolve("", alias)
		require.NoError(t, err)
		plain[alias] = s
	}
	for _, text := range texts {
		for _, alias := range aliases {
			key := alias + " with " + text
			if strings.Contains(text, "~root") || strings.Contains(text, "~nobody") || !f.Due(key) { // those are of the machine
				continue
			}
			s, err := h.resolve(text, alias)
			said := differs(s, plain[alias])
			if err != nil {
				said = err.Error()
			}
			f.Check(key, strings.ReplaceAll(said, h.dir, "DIR"))
		}
	}
}

// differs lists the fields in which two differ.
func differs(s, from sshconfig.Settings) string {
	var list []string
	a, b := reflect.ValueOf(s), reflect.ValueOf(from)
	for i := range a.NumField() {
		if x := fmt.Sprintf("%+v", a.Field(i)); x != fmt.Sprintf("%+v", b.Field(i)) {
			list = append(list, a.Type().Field(i).Name+"="+x)
		}
	}
	return strings.Join(list, " ")
}
