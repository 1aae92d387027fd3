package programs

import (
	"cmp"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// gitConfig: what -c sets may be a command.
func gitConfig(c *call) {
	if !c.direct {
		c.say(unknown, "may run what the repository's configuration names; called as git, by the session's own shell, it does not")
	}
	for _, v := range c.vals {
		if v.at != c.node.lookup("-c") {
			continue
		}
		if _, text, ok := strings.Cut(v.arg.Text, "="); ok {
			c.script("sh", word(strings.TrimPrefix(text, "!")))
		}
	}
}

// gitPatch: a patch is made by the programs that the repository's attributes and configuration name.
func gitPatch(c *call) {
	gitFormat(c)
	brief := c.has("--stat", "--numstat", "--shortstat", "--name-only", "--name-status", "--no-patch", "--summary", "--dirstat", "--raw", "--compact-summary")
	patch := c.has("--patch", "--patch-with-stat", "--unified", "-U", "--color-words", "--word-diff", "--check", "--function-context", "-S", "-G", "-L", "-c", "--cc", "-m")
	if patch || !brief && c.node.name == "git show" {
		gitPaths(c)
	}
	if patch || !brief && (c.node.name == "git diff" || strings.HasSuffix(c.node.name, " show")) {
		gitTree(c)
	}
	for _, a := range c.ops { // of a path out of the work tree, git diff shows all that is below it
		if c.node.name == "git diff" && a.Text != "" && strings.Contains("/~.", a.Text[:1]) {
			c.find.Trees = append(c.find.Trees, a)
		}
	}
	for _, a := range c.values("-L") {
		_, file, named := strings.Cut(a.Text[max(0, strings.LastIndexByte(a.Text, ':')):], ":")
		if !named || !a.certain() {
			c.say(unknown, "has a value that isn't literal, or names no file")
		}
		c.path(word(file), false)
	}
	if gitAsked(c) || c.has("--no-textconv") && c.has("--no-ext-diff") && c.node.name != "git diff" {
		return
	}
	switch name := c.node.name; {
	case patch:
	case name == "git diff": // a comparison with the work tree runs filters too
	case brief:
		return
	case strings.HasSuffix(name, " log"), name == "git stash list":
		return
	case strings.HasSuffix(name, " show") && name != "git stash show" && len(c.ops) > 0:
		blobs := true
		for _, a := range c.ops {
			blobs = blobs && a.certain() && strings.Contains(a.Text, ":")
		}
		if blobs {
			return
		}
	case name == "git stash show":
		// By default a summary, unless the configuration asks for a patch.
	}
	c.say(unknown, "may run what the repository's configuration names; called as git, by the session's own shell, it does not")
}

// gitWorkTree: to compare a file of the work tree, Git runs the filter that the repository's attributes and configuration name.
func gitWorkTree(c *call) {
	if !gitAsked(c) {
		c.say(unknown, "reads files of the work tree through the filters that the repository's configuration names; called as git, by the session's own shell, it does not")
	}
}

// gitAsked reports whether the function of [policy.AgentPrelude] surely looks at the repository's configuration before Git runs:
// nothing stands before the subcommand that it does not know.
func gitAsked(c *call) bool {
	sub, _, _ := strings.Cut(strings.TrimPrefix(c.node.name, "git "), " ")
	if !c.direct || !listed("status diff show log blame annotate stash", sub) {
		return false
	}
	directory := false // comes next
	for _, a := range c.args {
		switch {
		case !a.certain():
			return false
		case directory:
			directory = false
		case a.Text == "-C":
			directory = true
		case a.Text != "-P" && a.Text != "--no-pager":
			return a.Text == sub
		}
	}
	return false
}

// A placeholder of a signature; before its letter, a sign says what is written around it.
var gitSigned = lazyregexp.New(`%[-+ ]*G`)

// gitFormat: some placeholders start gpg, as the configuration names it, and so may formats that the configuration names.
func gitFormat(c *call) {
	// Where there is --pretty, --format is another name for it; elsewhere it has a language of its own.
	pretty := c.node.lookup("--pretty")
	for _, v := range c.vals {
		if v.at == pretty || pretty != 0 && v.at == c.node.lookup("--format") {
			gitPretty(c, v.arg)
		}
		if !v.arg.certain() {
			c.say(unknown, "has a value that isn't literal")
		} else if s := v.arg.Text; gitSigned.MatchString(s) || strings.Contains(s, "signature") || strings.Contains(s, "describe") {
			c.say(unknown, "has a format that may start a program")
		}
	}
}

// gitPretty: a format is a text with placeholders, or a name that only Git itself gives a meaning.
func gitPretty(c *call, a Arg) {
	if (a.Text != "" || !a.Literal) && !strings.Contains(a.Text, "%") && !strings.HasPrefix(a.Text, "format:") && !strings.HasPrefix(a.Text, "tformat:") &&
		!listed("oneline short medium full fuller reference email mboxrd raw", a.Text) {
		c.say(unknown, "has a format that the repository's configuration may define")
	}
}

// gitDir is the directory that -C names, or "".
func gitDir(c *call) (dir string) {
	for i, a := range c.args {
		if i > 0 && c.args[i-1].Text == "-C" && a.certain() {
			dir = path.Join(dir, a.Text)
			if path.IsAbs(a.Text) {
				dir = a.Text
			}
		}
	}
	return dir
}

// gitTree: what is shown may be of any file that the repository holds.
func gitTree(c *call) {
	dir := cmp.Or(gitDir(c), ".")
	if strings.HasPrefix(dir, "/etc/") { // which may be one repository
		dir = "/etc"
	}
	c.find.Trees = append(c.find.Trees, word(dir))
}

// gitPaths names the files whose content operands show: "HEAD:path", and what may be a path or a revision.
func gitPaths(c *call) {
	dir := gitDir(c)
	for _, a := range c.ops {
		if _, file, ok := strings.Cut(a.Text, ":"); ok && (file != "" || !a.Literal) {
			a.Text = strings.TrimPrefix(file, "./")
		}
		c.path(a, false)
		if dir != "" && a.Literal && !path.IsAbs(a.Text) {
			c.path(word(path.Join(dir, a.Text)), false)
		}
	}
}

// gitBlob names the file in a commit whose settings git config shows.
func gitBlob(c *call) {
	for _, a := range c.values("--blob") {
		if _, file, ok := strings.Cut(a.Text, ":"); ok || !a.certain() {
			a.Text = strings.TrimPrefix(file, "./")
			c.path(a, false)
		}
	}
}

// gitBlame: what it shows is a file's content.
func gitBlame(c *call) {
	gitWorkTree(c)
	gitPaths(c)
}
