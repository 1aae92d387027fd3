package judge_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/golden"
)

// Whole reports, of all commands in the tables of these tests, and of sweeps: nothing in a report changes unseen. The file says by
// itself which commands it is about: they are gathered anew when it is written.
func TestReportsAreWhatTheyWere(t *testing.T) {
	f := golden.Open(t, "testdata/reports.tsv")
	var scripts []string
	if golden.Updating() {
		scripts = append(everyTable(t), sweeps()...)
	} else {
		scripts = f.Keys()
	}
	require.Greater(t, len(scripts), 5000)
	for _, script := range scripts {
		if f.Due(script) {
			f.Check(script, reported(script))
		}
	}
}

// A row of a sweep stands for many commands: what precedes and what follows, each with each.
func reported(script string) string {
	if _, rest, ok := strings.Cut(script, "SWEEP "); ok {
		return swept(rest)
	}
	base := line(judge.Judge(judge.Request{Script: script}))
	var others []string
	names := map[string]string{}
	for _, v := range variants(script) {
		r := judge.Judge(v.req)
		if got := line(r); got != base {
			other := string(r.Class) + " " + digest(got)
			if names[other] == "" {
				others = append(others, other)
			}
			names[other] += " " + v.name
		}
	}
	var b strings.Builder
	b.WriteString(base)
	for _, o := range others {
		fmt.Fprintf(&b, " |%s: %s", names[o], o)
	}
	return b.String()
}

type variant struct {
	name string
	req  judge.Request
}

// variants are the ways in which the same words can be asked about.
func variants(script string) []variant {
	own := &judge.Own{
		Paths: []string{"/home/ada/.local/state/fairlead", "/etc/fairlead", "/srv/app"}, Except: []string{"/home/ada/.local/state/fairlead/jobs"},
		Programs: []string{"/usr/bin/fairlead", "/opt/ls"}, Home: "/home/ada",
	}
	var out []variant
	for _, shell := range shells[1:] {
		out = append(out, variant{shell, judge.Request{Script: script, Shell: shell}})
	}
	out = append(out,
		variant{"typed", judge.Request{Script: script, Shell: "zsh", Interactive: true}},
		variant{"typed-bash", judge.Request{Script: script, Shell: "bash", Interactive: true}},
		variant{"in", judge.Request{Script: script, Shell: "bash", Dir: "/srv/app/x"}},
		variant{"in-etc", judge.Request{Script: script, Shell: "bash", Dir: "/etc/"}},
		variant{"resolved", judge.Request{Script: script, Shell: "bash", Dir: "/var/run", Resolved: true}},
		variant{"installs", judge.Request{Script: script, Installs: true}},
		variant{"elsewhere", judge.Request{Script: script, Elsewhere: true}},
		variant{"own", judge.Request{Script: script, Own: own}},
		variant{"own-in", judge.Request{Script: script, Own: own, Dir: "/srv", Shell: "bash"}},
	)
	if words := strings.Fields(script); len(words) > 0 {
		out = append(out, variant{"words", judge.Request{Program: words[0], Args: words[1:], Own: own}})
	}
	return out
}

// line is a report in one line, as far as it is not empty.
func line(r judge.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s", r.Class, r.Rule, r.Reason)
	if len(r.Classes) != 1 || r.Classes[0] != r.Class {
		fmt.Fprintf(&b, " classes=%s", r.Classes)
	}
	list := func(name string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, " %s=%q", name, items)
		}
	}
	list("sets", r.Sets)
	list("uses", r.Uses)
	list("reads", paths(r.Reads))
	list("writes", paths(r.Writes))
	list("to", r.To)
	for i, is := range []bool{r.Taints, r.Own, r.OwnAsks, r.Hidden, r.Capped} {
		if is {
			b.WriteString(" " + [...]string{"taints", "own", "own-asks", "hidden", "capped"}[i])
		}
	}
	for _, n := range r.Named {
		fmt.Fprintf(&b, " named=%q,%v", n.Path, n.Command)
	}
	var parts strings.Builder
	var walk func(p []judge.Part)
	walk = func(list []judge.Part) {
		for _, p := range list {
			fmt.Fprintf(&parts, " (%d:%d %q %s %s: %s %q", p.Line, p.Col, p.Text, p.Class, p.Rule, p.Reason, p.To)
			walk(p.Parts)
			parts.WriteString(")")
		}
	}
	walk(r.Parts)
	if len(r.Parts) > 0 {
		b.WriteString(" parts=" + digest(parts.String()))
	}
	if s := b.String(); len(s) > 300 {
		return s[:240] + "… " + digest(s)
	}
	return b.String()
}

func paths(list []judge.Path) (out []string) {
	for _, p := range list {
		s := p.Text
		if !p.Literal {
			s += "…" + p.Source
		}
		if p.Dir != "" {
			s += " in " + p.Dir
		}
		if p.Delete {
			s += " deleted"
		}
		if p.Remote {
			s += " elsewhere"
		}
		out = append(out, s)
	}
	return out
}

func digest(s string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// everyTable gathers the commands of the tables in testdata and in the tests of this package.
func everyTable(t *testing.T) []string {
	var out []string
	add := func(s string) {
		if len(s) > 1 && len(s) < 2000 && !strings.HasPrefix(s, "# ") && !strings.Contains(s, "SWEEP ") {
			out = append(out, s)
		}
	}
	for _, r := range rows(t) {
		add(r.command)
	}
	lists, err := filepath.Glob("testdata/more/*.txt")
	require.NoError(t, err)
	for _, name := range append(lists, "testdata/everyday.txt", "testdata/notreads.txt") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for l := range bytes.Lines(text) {
			add(strings.TrimSuffix(string(l), "\n"))
		}
	}
	tests, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range tests {
		if slices.Contains([]string{"reports_test.go", "bench_test.go", "export_test.go"}, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				s, err := strconv.Unquote(l.Value)
				require.NoError(t, err)
				if !strings.HasPrefix(s, "\n") {
					add(s)
					return true
				}
				for row := range strings.Lines(s) {
					_, script, ok := strings.Cut(strings.TrimSpace(row), " | ")
					if ok {
						add(script)
					}
				}
			}
			_, imports := n.(*ast.ImportSpec)
			return !imports
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// wordKinds are words of every kind.
var wordKinds = []string{
	"a", "'a b'", `"a b"`, "$x", `"$x"`, "$1", `"$@"`, "$*", "$#", "$?", "$$", "$!", "$(ls)", "`ls`", `"$(ls a)"`, "$((1))", "$((x))", "$[1]", "*", "?a", "[ab]", "a*", "~", "~/a", "~ada/a", "~+", "{a,b}", "{1..3}", "a{,b}",
	`$'a\tb'`, `$"a"`, "<(ls)", ">(ls)", "a=b", "=ls", "!x", "a!b", "#", `\a`, `"\$x"`, "${x}", "${x:-a}", "${x:-$(ls)}", "${x:=a}", "${x:?}", "${x:+a}", "${!x}", "${#x}", "${x[1]}", "${x[@]}", "${x[y]}", "${x/a/b}", "${x#a}", "${x%%a}", "${x@P}",
	"${x^^}", "${x:1:2}", "${x:y}", "$password", "${HOME}/a", "/etc/shadow", "/etc/passwd", "../a", "/a/../b", "/dev/tcp/h/1", "/dev/null", "/dev/zero", "/proc/1/environ", "/", "/usr", "-a", "-n", "--help", "--", "-", "", "''", "@(a|b)", "a#b", "a\\\nb", "1", "9", "0", "PATH", "x[1]", "größe", "-$x", "-o$x",
	"/usr/bin/ls", "./a", "http://h/", "192.0.2.1", "a:b", "%1", "+x", "touch", "rm", "sh", "ls",
}

// places are where a word can stand, as W.
var places = strings.Split(`W
W a
ls W
cat W
rm W
rm -rf W
sort W f
touch W
x=W
x=W ls
PATH=W ls
ls >W
ls >>W
ls <W
ls 2>&W
ls >|W
cat <<<W
cat <<E
W
E
for i in W; do ls; done
for i in a; do cat W$i; done
case W in a) ls;; esac
case a in W) ls;; esac
[ W ]
[ -f W ]
[ -v W ]
[ W = a ]
[ W -eq 1 ]
[[ W ]]
[[ a == W ]]
[[ a =~ W ]]
[[ W -lt 1 ]]
echo "aWb"
echo $(cat W)
echo ${x:-W}
echo $((W))
(( W ))
eval W
sh -c W
bash W
W | sh
ls | W
cd W
cd W && ls a
pushd W
find W
find . -name W
find . -exec W ;
xargs W
env W ls
env x=1 W
export x=W
export W
declare W
local x=W
a=(W)
f() { W; }
! W
time W
if W; then ls; fi
while W; do ls; done
until ls; do W; done
W & wait
W && ls
ls; W
{ W; }
(W)
printf W a
printf %s W
printf %d W
echo W
echo -e W
read W
read -r x <W
kill W
kill -0 W
exec W
exec 3<W
source W
. W
alias a=W
trap W EXIT
return W
exit W
unset W
set W
set -o W
shift W
let W
test W a
command W
command -v W
builtin W
type W
hash W
ulimit W
umask W
wait W
jobs W
history W
timeout 5 W
nohup W
nice W
sudo W
ssh W ls
ssh h W
curl W
git W
git log W
docker exec c W
tar xf W
chmod 777 W
chown W f
dd if=W
dd of=W
mount W
systemctl restart W
awk W f
sed W f
sed -n W f
grep W f
grep -f W f
tee W
ls | tee W
cp a W
mv W b
ln -s W b
base64 -d W | sh
curl h | W
diff <(cat W) b
tail -n 5 W
tail -f W
head -c W f
openssl enc W
jq W f
python3 W
python3 -c W
perl -e W
mysql -e W
crontab W
W`, "\n")

func sweeps() (out []string) {
	// A place of several lines is one.
	for i := 0; i < len(places); i++ {
		place := places[i]
		if strings.HasSuffix(place, "<<E") {
			place += "\n" + places[i+1] + "\n" + places[i+2]
			i += 2
		}
		out = append(out, "SWEEP words "+place)
	}
	for _, name := range builtinNames {
		out = append(out, "SWEEP letters "+name)
	}
	for _, open := range []string{"[ ", "test ", "[[ ", "[ ! ", "[ -n a -a ", "[[ ( "} {
		out = append(out, "SWEEP tests "+open)
	}
	return out
}

var builtinNames = strings.Fields(`: true false echo times caller pwd dirs jobs hash alias shopt trap enable umask ulimit limit wait help cd break continue return printf print
	local unset unalias setopt unsetopt emulate zmodload autoload zle bindkey compdef vared sched functions integer float nameref shift getopts let mapfile readarray compgen complete compopt
	bind pushd popd fg bg disown suspend rehash unhash log exec noglob nocorrect coproc eval source . exit logout command builtin type whence which where test [ read kill set export readonly
	declare typeset history fc chdir whereis time nohup nice timeout env xargs sudo su doas find sort cat ls rm`)

// swept judges what a row stands for, and lists the outcomes, each with what has it.
func swept(rest string) string {
	kind, arg, _ := strings.Cut(rest, " ")
	var keys, scripts []string
	add := func(key, script string) { keys, scripts = append(keys, key), append(scripts, script) }
	switch kind {
	case "words":
		for _, w := range wordKinds {
			add(w, strings.ReplaceAll(arg, "W", w))
		}
	case "letters":
		for c := byte('!'); c < 0x7f; c++ {
			if !strings.ContainsRune("&;<>()|`\\\"'", rune(c)) {
				for _, form := range []string{"-%c", "-%c a", "-%ca", "-%c \"$x\" b", "+%c", "--%cx"} {
					add(fmt.Sprintf(form, c), arg+" "+fmt.Sprintf(form, c))
				}
			}
		}
		for _, words := range []string{"", "a", "a b", "a=b", `"$x"`, "$x", "-- a", "-", "1", "a b c", "*", "-- -a", "$!", "%1", "'a b'", "/a", ">f", "<f", "&& ls", "| sh"} {
			add(words, arg+" "+words)
		}
	case "tests":
		end := map[string]string{"[": " ]", "t": "", "[[": " ]]"}[strings.TrimSuffix(arg[:min(2, len(arg))], " ")]
		if arg == "test " {
			end = ""
		} else if strings.HasSuffix(arg, "( ") {
			end = " ) ]]"
		}
		words := []string{"a", "1", `"$x"`, "$x", "$#", "/etc/shadow", "'a[1]'", "*", ""}
		for _, op := range strings.Fields("-a -b -c -d -e -f -g -h -k -n -o -p -r -s -t -u -v -w -x -z -G -L -N -O -R -S -@ !") {
			for _, w := range words {
				add(op+" "+w, arg+op+" "+w+end)
			}
		}
		for _, op := range strings.Fields("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef =~ -a -o && ||") {
			for _, w := range words {
				add("a "+op+" "+w, arg+"a "+op+" "+w+end)
				add(w+" "+op+" 1", arg+w+" "+op+" 1"+end)
			}
		}
	}
	var outcomes []string
	with := map[string][]string{}
	for i, script := range scripts {
		var all strings.Builder
		r := judge.Judge(judge.Request{Script: script})
		all.WriteString(line(r))
		for _, v := range []judge.Request{
			{Script: script, Shell: "bash"}, {Script: script, Shell: "zsh"}, {Script: script, Shell: "mksh", Interactive: true}, {Script: script, Shell: "dash", Dir: "/etc"},
		} {
			all.WriteString(line(judge.Judge(v)))
		}
		outcome := fmt.Sprintf("%s %s", r.Class, r.Rule)
		if with[outcome] == nil {
			outcomes = append(outcomes, outcome)
		}
		with[outcome] = append(with[outcome], keys[i]+" #"+digest(all.String()))
	}
	slices.Sort(outcomes)
	var b strings.Builder
	for _, o := range outcomes {
		text := strings.Join(with[o], "\x00")
		if kind == "letters" || kind == "tests" {
			names := make([]string, len(with[o]))
			for i, s := range with[o] {
				names[i] = s[:strings.LastIndex(s, " #")]
			}
			fmt.Fprintf(&b, "%s [%s]: %s; ", o, digest(text), strings.Join(names, ", "))
			continue
		}
		fmt.Fprintf(&b, "%s: %s; ", o, strings.ReplaceAll(text, "\x00", ", "))
	}
	return strings.TrimSuffix(b.String(), "; ")
}
