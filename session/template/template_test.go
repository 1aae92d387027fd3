package template_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/template"
)

var web = hosts.Host{Name: "web1", Addr: "10.0.0.1", Labels: map[string]string{
	"role": "web", "evil": `a'b $(echo no) "x" \`, "space": "two words", "empty": "", "a/b": "path",
}}

func TestPlacesAreFilledIn(t *testing.T) {
	for text, want := range map[string]string{
		"echo {host} {addr} {n}":         "echo web1 10.0.0.1 7",
		"scp x {host}:/srv/{label.role}": "scp x web1:/srv/web",
		`echo "{host}" '{host}'`:         `echo "web1" 'web1'`,
		"echo {label.space}":             "echo 'two words'",
		`echo "{label.space}"`:           `echo "two words"`,
		"echo {label.a/b}":               "echo path",
		"cat <<X\n{host}\nX":             "cat <<X\nweb1\nX",
		"{host}{n}":                      "web17",
	} {
		assert.True(t, template.Source(text).Used(), text)
		got, err := template.Source(text).Render(web, 7)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	got, err := template.Source("echo {addr}").Render(hosts.Host{Name: "bare"}, 1)
	require.NoError(t, err)
	assert.Equal(t, "echo bare", got, "without an address it is the name")
}

func TestOtherBracesStay(t *testing.T) {
	for _, text := range []string{
		`awk '{print}'`, `awk '{ n }'`, "echo ${host} ${n} ${x}", "docker ps --format '{{host}}'", "docker ps --format '{{ .host }}'", `echo \{host}`,
		"find . -exec rm {} +", "cp a{,.bak}", "echo {a,b} {1..3}", "{ host; }", "{Host} {HOST} {name} {label} {label.}", "echo {host", "sed '/x/{n;d}'",
		"f() { n; }; jq '{host, n}'",
	} {
		assert.False(t, template.Source(text).Used(), text)
		got, err := template.Source(text).Render(web, 1)
		require.NoError(t, err)
		assert.Equal(t, text, got)
	}
}

func TestWordsAreFilledInExactly(t *testing.T) {
	tmpl := template.Words([]string{"printf", "%s", "{label.evil}", "{n}-{host}", "{print}"})
	require.True(t, tmpl.Used())
	got, err := tmpl.Render(web, 3)
	require.NoError(t, err)
	assert.Equal(t, `\printf '%s' 'a'\''b $(echo no) "x" \' 3-web1 '{print}'`, got)
}

func TestWhatCannotBeFilledInIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"echo {label.nope}":             "web1 has no label nope to fill in {label.nope}",
		`echo "{label.evil}"`:           "cannot be quoted where it stands",
		"cat <<X\n{label.space}\nX":     "cannot be quoted where it stands",
		"echo `echo {label.space}`":     "cannot be quoted where it stands",
		`echo "$(echo {label.space})"`:  "cannot be quoted where it stands",
		"# don't\necho '{label.space}'": "cannot be quoted where it stands",
		`echo $'it\'s' '{label.space}'`: "cannot be quoted where it stands",
		"cat <<X\n{label.empty}\nX":     "cannot be quoted where it stands",
	} {
		_, err := template.Source(text).Render(web, 1)
		assert.ErrorContains(t, err, want, text)
	}
	_, err := template.Words([]string{"echo", "{label.nope}"}).Render(web, 1)
	assert.ErrorContains(t, err, "no label nope")
}

// A real shell reads back exactly what was filled in, wherever its place is.
func TestARealShellReadsTheValue(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	values := []string{"web1", "a b", "it's", `"`, "$(echo no)", "`echo no`", `\`, `a\'b`, "*", "~", "-n", "#x", "x\ny", "!", "a;b&c|d", "'$'"}
	for _, text := range []string{
		"printf %s {label.v}", "printf %s '{label.v}'", `printf %s "{label.v}"`, "printf %s x{label.v}y", `printf %s "it"'{label.v}'"s"`,
		"printf %s $(printf %s {label.v})", `printf %s \"{label.v}`, "x=${y:-'}'}; printf %s {label.v}", "echo $# >/dev/null; printf %s {label.v}",
	} {
		plain, err := template.Source(text).Render(hosts.Host{Name: "h", Labels: map[string]string{"v": "MARK"}}, 1)
		require.NoError(t, err)
		out, err := exec.Command(sh, "-c", plain).Output()
		require.NoError(t, err, plain)
		for _, v := range values {
			if strings.Contains(text, "$(") && strings.HasSuffix(v, "\n") {
				continue
			}
			got, err := template.Source(text).Render(hosts.Host{Name: "h", Labels: map[string]string{"v": v}}, 1)
			if err != nil {
				assert.ErrorContains(t, err, "cannot be quoted")
				continue
			}
			back, err := exec.Command(sh, "-c", got).Output()
			require.NoError(t, err, got)
			want := strings.ReplaceAll(string(out), "MARK", v)
			if strings.Contains(text, "$(") { // the shell splits it there, as it would the value itself
				continue
			}
			assert.Equal(t, want, string(back), "%s with %q", text, v)
		}
	}
}

func FuzzRenderKeepsTheRest(f *testing.F) {
	f.Add("echo {host} '{n}'", "a b")
	f.Fuzz(func(t *testing.T, text, v string) {
		h := hosts.Host{Name: "h", Labels: map[string]string{"v": v}}
		got, err := template.Source(text).Render(h, 1)
		if err == nil && !template.Source(text).Used() && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
