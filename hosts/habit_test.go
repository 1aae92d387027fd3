package hosts_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// What people type who know Ansible's patterns, nodeset or shells is not understood, but the error says what to write.
func TestSelectorsOfOtherProgramsAreAnsweredWithOursInTheError(t *testing.T) {
	for text, want := range map[string]string{
		"web*:!web1":               "unexpected ':' in a name; write web*,!web1",
		"all:&prod":                "unexpected ':' in a name; write all&prod, with @ before the name of a group",
		"web:db:&prod:!slow":       "unexpected ':' in a name; write (web,db)&prod&!slow, with @ before the name of a group",
		"web,db,&prod":             "expected a host, a group or a label, but found '&'; write (web,db)&prod",
		"all:!~web":                "unexpected ':' in a name; for Ansible's a:b, a:&b and a:!b write a,b, a&b and a,!b",
		"web[1:3]":                 `bad range [1:3]: "1:3" is not a number; write web[1-3]`,
		"web[01:12:3].example.com": `bad range [01:12:3]: "01:12:3" is not a number; write web[01-12/3].example.com`,
		"db-[a:f].example.com":     `bad range [a:f]: "a:f" is not a number; write ~^db-[a-f]\.example\.com$`,
		"web[1..3]":                `bad range [1..3]: "1..3" is not a number; write web[1-3]`,
		"web{1..3}":                "unexpected '{' in a name; write web[1-3]",
		"web{1,2}":                 "unexpected '{' in a name; write web[1,2]",
		"@web!web1":                "expected , or & before '!'; write @web,!web1",
		"@web - web1":              "expected , or & before '-'; write @web,!web1",
		"@web-@prod":               `group name "web-@prod" must not contain '@'; write @web,!@prod`,
		"@web^@prod":               `group name "web^@prod" must not contain '^'; write @web,@prod,!(@web&@prod)`,
		"@*":                       `group name "*" must not contain '*'; write all`,
		"@all":                     `group name "all" is a word of selectors: "all" means every host; write all`,
		"@rack[1-3]":               `group name "rack[1-3]" must not contain '['; write @rack1,@rack2,@rack3`,
		"@rack[0]":                 `group name "rack[0]" must not contain '['`, // Ansible's first host of it
		"all and not @prod":        "expected , or & before 'a'; write all,!@prod",
		"web1 or web2":             "expected , or & before 'o'; write web1,web2",
		"@web && @prod":            "expected a host, a group or a label, but found '&'; write @web&@prod",
		"web1 || web2":             "expected a host, a group or a label, but found '|'; write web1,web2",
		"web1 web2":                "expected , or & before 'w'; write web1,web2",
		"'web1'":                   `unexpected '\'' in a name; write web1`,
		"/^web/":                   "unexpected '/' in a name; write ~^web",
		"tier:dev":                 "unexpected ':' in a name; write tier=dev",
		"web1:22":                  "unexpected ':' in a name; give a port with -p, or write user@host:port for a host outside the inventory",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := hosts.ParseSelector(text)
			var pe *hosts.ParseError
			require.ErrorAs(t, err, &pe)
			assert.Equal(t, want, pe.Msg)
		})
	}
}

// overlapping is an inventory with groups that overlap.
func overlapping(t *testing.T) *hosts.Inventory {
	var all []hosts.Host
	for i := range 12 {
		h := hosts.Host{Name: fmt.Sprintf("web%d", i+1), Groups: []string{"web"}}
		if i%3 == 0 {
			h.Groups = append(h.Groups, "prod")
		}
		if i > 7 {
			h.Groups = append(h.Groups, "new-web")
		}
		all = append(all, h)
	}
	groups := []hosts.Group{{Name: "web"}, {Name: "prod"}, {Name: "new-web"}}
	inv, err := hosts.NewInventory(all, groups)
	require.NoError(t, err)
	return inv
}

func TestUnknownNamesThatAreRightElsewhereAreAnsweredWithOurs(t *testing.T) {
	inv := overlapping(t)
	for text, want := range map[string]string{
		"prod":          "hosts: no host named prod (did you mean @prod?)",
		"web1..3":       "hosts: no host named web1..3 (did you mean web[1-3]?)",
		"web1..13":      "hosts: no host named web1..13",
		"@web-web1":     "hosts: no group named @web-web1 (did you mean @web,!web1?)",
		"@new-web-web9": "hosts: no group named @new-web-web9 (did you mean @new-web,!web9?)",
		"@web-prod":     "hosts: no group named @web-prod (did you mean @web,!@prod?)",
		"@web1":         "hosts: no group named @web1 (did you mean web1 or @web?)",
	} {
		t.Run(text, func(t *testing.T) {
			sel, err := hosts.ParseSelector(text)
			require.NoError(t, err)
			_, err = inv.Select(sel)
			assert.EqualError(t, err, want)
		})
	}
}

// instead returns the selector that the error about text says to write.
func instead(t *testing.T, text string) (hosts.Selector, bool) {
	sel, err := hosts.ParseSelector(text)
	if err == nil {
		return sel, false
	}
	_, other, found := strings.Cut(err.Error(), "; write ")
	require.True(t, found, "%s: %v", text, err)
	other, _, _ = strings.Cut(other, ", with @")
	sel, err = hosts.ParseSelector(other)
	require.NoError(t, err, text)
	return sel, true
}

func picked(t *testing.T, inv *hosts.Inventory, sel hosts.Selector) []string {
	require.NoError(t, inv.Check(sel))
	out := []string{}
	for h := range inv.All() {
		if sel.Match(h) {
			out = append(out, h.Name)
		}
	}
	slices.Sort(out)
	return out
}

// What is said to be written instead picks what the other program picks.
func TestSelectorsInErrorsPickWhatNodesetPicks(t *testing.T) {
	nodeset, err := exec.LookPath("nodeset")
	if err != nil {
		needs.Part(t, "nodeset is missing")
	}
	inv := overlapping(t)
	r := rand.New(rand.NewPCG(3, 1))
	terms := []string{"web1", "web[2-5]", "web[1-9/2]", "web7", "web[10-12]", "web[1-12]"}
	for range 20 {
		text := terms[r.IntN(len(terms))]
		op := "!^"[r.IntN(2)] // what is refused; nodeset takes all from left to right, and & and commas here do not
		for range 1 + r.IntN(2) {
			text += string(op) + terms[r.IntN(len(terms))]
			if op == '^' {
				break
			}
			op = "!,&"[r.IntN(3)]
		}
		sel, refused := instead(t, text)
		require.True(t, refused, text)
		out, err := exec.CommandContext(t.Context(), nodeset, "-e", text).Output()
		require.NoError(t, err, text)
		want := strings.Fields(string(out))
		slices.Sort(want)
		assert.Equal(t, append([]string{}, want...), picked(t, inv, sel), "%s became %s", text, sel)
	}
}

func TestSelectorsInErrorsPickWhatAnsiblePicks(t *testing.T) {
	ansible, err := exec.LookPath("ansible")
	if err != nil {
		needs.Part(t, "ansible is missing")
	}
	inv := overlapping(t)
	dir := t.TempDir()
	var ini strings.Builder
	for g := range inv.Groups() {
		fmt.Fprintf(&ini, "[%s]\n", g.Name)
		for h := range inv.All() {
			if slices.Contains(h.Groups, g.Name) {
				ini.WriteString(h.Name + "\n")
			}
		}
	}
	path := filepath.Join(dir, "inv")
	require.NoError(t, os.WriteFile(path, []byte(ini.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ansible.cfg"), []byte("[defaults]\n"), 0o600))
	r := rand.New(rand.NewPCG(3, 2))
	for range 8 {
		var ours, theirs string
		for i := range 2 + r.IntN(3) {
			sign := ""
			if i > 0 {
				sign = []string{"", "&", "!"}[r.IntN(3)]
			}
			term := []string{"web1", "web*", "web4", "web7", "@web", "@prod", "@new-web"}[r.IntN(7)]
			joint := ":"[:min(i, 1)]
			if i > 0 && sign+term[:1] == "w" {
				term = "@prod" // after a group and a colon it might be a group of one of nodeset's sources
			}
			ours, theirs = ours+joint+sign+term, theirs+joint+sign+strings.TrimPrefix(term, "@")
		}
		sel, refused := instead(t, ours)
		if !refused {
			continue // commas alone are the same
		}
		cmd := exec.CommandContext(t.Context(), ansible, "-i", path, theirs, "--list-hosts")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ANSIBLE_CONFIG="+dir+"/ansible.cfg", "HOME="+dir, "LC_ALL=C.UTF-8")
		out, err := cmd.Output()
		require.NoError(t, err, "%s: %s", theirs, out)
		want := []string{}
		for line := range strings.Lines(string(out)) {
			if name := strings.TrimSpace(line); strings.HasPrefix(name, "web") {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		assert.Equal(t, want, picked(t, inv, sel), "%s became %s", theirs, sel)
	}
}
