package judge

import (
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func isShell(name string) bool { return programs.Is(name, "shell") }

func isInterpreter(name string) bool {
	return isShell(name) || programs.Is(strings.TrimRight(name, "0123456789."), "interpreter")
}

// takesCommands reports whether a call takes commands from its standard input: an interpreter without a script.
func takesCommands(c call) bool {
	if c.name == "at" || c.name == "batch" {
		return !hasShort(c.args, 'f') && !hasShort(c.args, 'l') && !hasShort(c.args, 'r') && !hasShort(c.args, 'd')
	}
	if !isInterpreter(c.name) {
		return false
	}
	shell := isShell(c.name)
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch t := a.Text; {
		case !a.Literal:
			return true
		case t == "-", t == "/dev/stdin", t == "/dev/fd/0", t == "/proc/self/fd/0", t == "-s":
			return true
		case t == "--":
			return i+1 == len(c.args) || c.args[i+1].Text == "/dev/stdin" || c.args[i+1].Text == "-"
		case !strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "+"):
			return false // a script file
		case shell && (t == "-o" || t == "+o" || t == "-O" || t == "+O" || t == "--rcfile" || t == "--init-file"):
			i++
		case strings.HasPrefix(t, "--"):
			if t == "--version" || t == "--help" || t == "--eval" {
				return false
			}
		case shell && strings.IndexByte(t, 'c') > 0, !shell && strings.ContainsAny(t, "cemrV"):
			return !shell && strings.Contains(t, "i") // inline code; python -i reads on
		}
	}
	return true
}

// interpreter forbids code that nobody can have seen: fetched or decoded on the spot.
func (w *walker) interpreter(c call) {
	if strings.HasSuffix(c.name, "awk") {
		for _, a := range c.args {
			if strings.Contains(a.Text, `"/inet`) && strings.ContainsAny(a.Text, "|&") {
				w.raise(policy.Forbidden, "forbidden/reverse-shell", "code that opens a connection and runs what comes from it")
			}
		}
	}
	if programs.Is(c.name, "code") || isInterpreter(c.name) && !isShell(c.name) {
		for _, a := range c.args {
			if a.Literal && len(a.Text) <= maxWord {
				w.inlineCode(a.Text)
			}
		}
	}
	if isInterpreter(c.name) || programs.Is(c.name, "compiler") {
		w.reverseShell(c.args)
	}
	if !isInterpreter(c.name) {
		return
	}
	if w.subst != nil && w.subst.unseen() {
		w.forbidUnseen()
	}
	for _, a := range c.args {
		w.runsFile(a)
	}
}

var (
	codeFetches = []string{"urlopen", "urlretrieve", "requests.get", "urllib", "http.get", "https.get", "file_get_contents(\"http", "file_get_contents('http",
		"open-uri", "lwp::", "net::http", "fetch(", "httpclient", "http::tiny", "curl_exec", "httplib"}
	codeDecodes = []string{"b64decode", "decode_base64", "base64", "fromhex", "unhexlify", "unpack", "rot13", "rot_13", "decompress", "marshal.loads",
		"pickle.loads", "fromcharcode", "atob(", "gzinflate", "str_rot13", "hex2bin", "pack(", "reverse(", "[::-1]", "chr("}
	codeRuns = []string{"exec(", "exec (", "eval(", "eval (", "eval ", "system(", "system ", "popen", "subprocess", "instance_eval", "assert(", "runpy",
		"execsync", "spawn", "new function(", "loadstring", "load("}
	codeRemoves = lazyregexp.New(`(?i)(?:rmtree|rm_rf|rm_r|rmsync|rmdirsync|rmdir_r|remove_tree|remove_entry|unlinksync|fs\.rm|deltree|remove-item)[\s(]*['"]([^'"]{1,200})['"]`)
	// A loop without end that does nothing first but fork, or forks as its condition; and the same the other way round.
	codeForks = lazyregexp.New(`(?i)(?:\b(?:while|until)[\s(]*(?:1|true|!0|!1|0|false)\b|\bloop\b|\bfor\s*\(\s*;\s*;)[\s:;(){]*(?:do\b[\s|]*)?(?:\w+\.)?fork\b` +
		`|\bwhile[\s(]*(?:\w+\.)?fork\b|\bfork[\s()]*(?:while[\s(]*(?:1|true)|until[\s(]*(?:0|false))\b`)
	codeTexts = lazyregexp.New("'((?:[^'\\\\]|\\\\.){4,})'|\"((?:[^\"\\\\]|\\\\.){4,})\"|`([^`]{4,})`|(?:qx|%x)[{(\\[/|!]([^})\\]/|!]{4,})")
)

// inlineCode forbids code in another language that does plainly what a command may not: it fetches or decodes what it
// runs, removes the system, or holds a command that is forbidden. What is not recognised here is unknown all the same.
func (w *walker) inlineCode(code string) {
	if codeForks.MatchString(code) {
		w.raise(policy.Forbidden, "forbidden/fork-bomb", "code that starts copies of itself without end")
	}
	lower := strings.ToLower(code)
	if (containsAny(lower, codeFetches...) || containsAny(lower, codeDecodes...)) && containsAny(lower, codeRuns...) {
		w.forbidUnseen()
	}
	for _, m := range codeRemoves.FindAllStringSubmatch(code, maxTexts) {
		if isCatastrophic(m[1], "") {
			w.raise(policy.Forbidden, "forbidden/catastrophic-delete", "it removes, moves or opens up the system itself")
		}
	}
	texts := []string{strings.TrimLeft(code, ":! ")}
	if _, rest, ok := strings.Cut(code, ";"); ok {
		texts = append(texts, rest)
	}
	for _, m := range codeTexts.FindAllStringSubmatch(code, maxTexts) {
		texts = append(texts, m[1]+m[2]+m[3]+m[4])
	}
	for _, t := range texts {
		// Only what looks as if it could be forbidden is worth being read as a command.
		if containsAny(t, "rm ", "mkfs", "dd ", "/dev/", "nc ", "curl", "wget", "chmod", "kill", "find ", "shred", "wipefs", "base64") {
			w.script(t, "")
		}
	}
}

// reverseShell forbids code that opens a connection and starts a shell, in one word or several.
func (w *walker) reverseShell(args []programs.Arg) {
	text, _ := joinLiteral(args)
	code := strings.ToLower(text)
	if containsAny(code, "socket", "sockopen", "/inet/", "/dev/tcp/", "net.connect", "createconnection", "'net'", `"net"`, "tcpclient") &&
		containsAny(code, "/bin/", "subprocess", "pty.", "cmd.exe", "exec", "dup2", "system", "spawn", "popen", "child_process") {
		w.raise(policy.Forbidden, "forbidden/reverse-shell", "code that opens a connection and hands it a shell")
	}
}

func containsAny(s string, list ...string) bool {
	for _, x := range list {
		if strings.Contains(s, x) {
			return true
		}
	}
	return false
}

func (w *walker) forbidUnseen() {
	w.raise(policy.Forbidden, "forbidden/unseen-code", "it runs code that it fetches or decodes itself, which cannot be reviewed")
}

// runsFile forbids running a file that an earlier command of the script may have fetched.
func (w *walker) runsFile(a programs.Arg) {
	text := w.shapeOf(a).likely
	if !strings.HasPrefix(text, "-") && slices.Contains(w.fetched, path.Base(text)) {
		w.forbidUnseen()
	}
}

// keeps notes a file in which something fetched or decoded may lie.
func (w *walker) keeps(a programs.Arg) {
	text := w.shapeOf(a).likely
	if strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "=")
	}
	name := path.Base(strings.TrimPrefix(strings.TrimPrefix(text, "-O"), "-o"))
	if name != "." && name != "/" && text != "/dev/null" && w.room(len(w.fetched)) {
		w.fetched = append(w.fetched, name)
	}
}

// netcat forbids the options with which network tools hand a connection to a program.
func (w *walker) netcat(c call) {
	forbid := func() {
		w.raise(policy.Forbidden, "forbidden/reverse-shell", "it hands a network connection to a program")
	}
	switch c.name {
	case "cryptcat": // the others have a table
		for _, a := range c.args {
			if hasShort([]programs.Arg{a}, 'e') || hasShort([]programs.Arg{a}, 'c') ||
				strings.HasPrefix(a.Text, "--exec") || strings.HasPrefix(a.Text, "--sh-exec") || strings.HasPrefix(a.Text, "--lua-exec") {
				forbid()
			}
		}
	case "socat":
		for _, a := range c.args {
			t := strings.ToLower(a.Text)
			if strings.Contains(t, "exec:") || strings.Contains(t, "system:") || strings.Contains(t, "shell:") {
				forbid()
			}
		}
	}
}
