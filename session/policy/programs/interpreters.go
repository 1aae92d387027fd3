package programs

import "strings"

// interpreters run code. What a shell is told with -c is read like any other command; everything else is not known
// before it runs.
var interpreters = []program{
	{name: "sh|bash|rbash|dash|ash|ksh|ksh93|mksh|lksh|oksh|pdksh|yash|zsh|posh", raw: true, check: shellCall, alone: "--version --help",
		env: "BASH_ENV ENV SHELLOPTS BASHOPTS PS4 ZDOTDIR HOME BASH_FUNC_* BASH_XTRACEFD FPATH"},
	{name: "fish|csh|tcsh|elvish|nu|xonsh|pwsh|powershell|oil|osh|ion", class: unknown, why: "runs source that this reader does not understand", raw: true, check: backdoor, alone: "--version -v"},
	{name: "python|python2|python3|python3.8|python3.9|python3.10|python3.11|python3.12|python3.13|python3.14|pypy|pypy3|ipython|bpython|micropython", class: unknown, why: "runs code", raw: true, check: backdoor,
		env: "PYTHON*", alone: "--version -V -VV --help -h"},
	{name: "perl|perl5|raku", class: unknown, why: "runs code", raw: true, check: backdoor, env: "PERL*", alone: "--version -v"},
	{name: "ruby|irb|jruby", class: unknown, why: "runs code", raw: true, check: backdoor, env: "RUBY*", alone: "--version -v"},
	{name: "node|nodejs|deno|bun|ts-node|tsx|d8|qjs", class: unknown, why: "runs code", raw: true, check: backdoor, env: "NODE_*", alone: "--version -v --help"},
	{name: "php|php8.1|php8.2|php8.3|php8.4|php7.4|php-cgi", class: unknown, why: "runs code", raw: true, check: backdoor, env: "PHP*", alone: "--version -v -m --modules --ini"},
	{name: "lua|lua5.1|lua5.3|lua5.4|luajit|texlua", class: unknown, why: "runs code", raw: true, check: backdoor, env: "LUA_*", alone: "-v"},
	{name: "java|jshell|groovy|kotlin|scala|clojure|clj", class: unknown, why: "runs code", raw: true, check: backdoor, env: "JAVA_* _JAVA_OPTIONS JDK_*", alone: "-version --version"},
	{name: "tclsh|wish|expect|unbuffer|guile|sbcl|clisp|ecl|racket|ghc|ghci|runghc|ocaml|erl|elixir|iex|escript|R|Rscript|julia|octave|gnuplot|m4|osascript|gforth|swipl|mono|wine|crystal|nim|zig|v|gst", class: unknown, why: "runs code", raw: true, check: backdoor, alone: "--version -v"},
	{name: "cc|gcc|g++|c++|clang|clang++|cpp|ld|as|javac|tsc|gfortran|tcc|strip|objcopy|ranlib", class: unknown, why: "writes files, and may run plug-ins", raw: true, check: backdoor, alone: "--version -v -version -dumpversion -dumpmachine -V"},
}

// backdoor: code that opens a socket and starts a shell. What is not recognised here is unknown all the same.
func backdoor(c *call) {
	socket, shell := false, false
	for _, a := range c.args {
		socket = socket || strings.Contains(a.Text, "ocket") || strings.Contains(a.Text, "fsockopen") || strings.Contains(a.Text, "/inet/") ||
			strings.Contains(a.Text, "/dev/tcp/") || strings.Contains(a.Text, "net.connect")
		shell = shell || strings.Contains(a.Text, "/bin/") || strings.Contains(a.Text, "pty.") || strings.Contains(a.Text, "dup2") ||
			strings.Contains(a.Text, "spawn") || strings.Contains(a.Text, "exec(") || strings.Contains(a.Text, "cmd.exe")
	}
	for i, a := range c.args {
		if a.Text == "-m" && i+2 < len(c.args) && listed("pip ensurepip easy_install pipx conda", c.args[i+1].Text) && listed("install download wheel", c.args[i+2].Text) {
			c.say(forbid, "installs packages")
		}
	}
	if socket && shell {
		c.say(forbid, "gives a shell to whoever is on the other side")
	}
}

// shellCall reads a shell's own options. With -c the first operand is source; the others are its arguments, which the
// source may run ("$@", "$0").
func shellCall(c *call) {
	args := c.args
	name := c.node.name
	inline, startFiles := false, false
	i := 0
	for ; i < len(args); i++ {
		a := args[i]
		s := a.Text
		if !a.certain() {
			if a.dash() {
				c.say(unknown, "runs source, and a word that isn't literal could be an option")
			}
			break
		}
		if s == "--" || s == "-" {
			i++
			break
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			break
		}
		if strings.HasPrefix(s, "--") {
			switch s {
			case "--norc", "--noprofile", "--posix", "--verbose", "--restricted", "--noediting", "--no-rcs", "--no-globalrcs":
			case "--login":
				startFiles = true
			case "--rcfile", "--init-file", "--rcs", "--emulate":
				startFiles = true
				i++
			default:
				c.say(unknown, "has an option that no table lists")
			}
			continue
		}
		for _, b := range []byte(s[1:]) {
			switch b {
			case 'c':
				inline = true
			case 'l', 'i':
				startFiles = true
			case 'o', 'O':
				if i++; i < len(args) && !args[i].certain() {
					c.say(unknown, "has an option that isn't literal")
				}
			case 'e', 'u', 'x', 'v', 'f', 'n', 'p', 'a', 'b', 'm', 'B', 'C', 'E', 'H', 'P', 'T', 'h', 'k', 'r', 't':
			default:
				c.say(unknown, "has an option that no table lists")
			}
		}
	}
	if startFiles {
		c.say(unknown, "runs start files, which may change what commands mean")
	}
	if !inline || i >= len(args) {
		c.say(unknown, "runs a file, or what it reads")
		for ; i < len(args); i++ {
			c.path(args[i], false)
			break
		}
		return
	}
	source := args[i]
	c.script(shellName(name), source)
	rest := args[i+1:]
	if strings.Contains(source.Text, "$@") || strings.Contains(source.Text, "$*") || strings.Contains(source.Text, "$0") || strings.Contains(source.Text, "$1") ||
		strings.Contains(source.Text, "${") {
		if len(rest) > 0 {
			c.say(unknown, "passes words to source that may run them")
			c.nest(rest)
			c.nest(rest[1:])
		}
	}
}

// shellName is the name by which the caller knows a shell.
func shellName(name string) string {
	switch name {
	case "rbash":
		return "bash"
	case "lksh", "oksh", "pdksh":
		return "mksh"
	case "ksh93":
		return "ksh"
	case "posh", "yash":
		return "sh"
	}
	return name
}
