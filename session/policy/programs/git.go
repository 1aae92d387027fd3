package programs

import "strings"

// gitConfig: what -c sets may be a command.
func gitConfig(c *call) {
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
	gitPaths(c)
	if c.has("--no-textconv") && c.has("--no-ext-diff") {
		return
	}
	brief := c.has("--stat", "--numstat", "--shortstat", "--name-only", "--name-status", "--no-patch", "--summary", "--dirstat", "--raw", "--compact-summary")
	patch := c.has("--patch", "--patch-with-stat", "--unified", "--color-words", "--word-diff", "--check", "--function-context")
	switch name := c.node.name; {
	case patch:
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
	c.say(unknown, "with a patch runs what the repository's configuration names; --stat, or --no-ext-diff with --no-textconv, does not")
}

// gitFormat: some placeholders start gpg, as the configuration names it.
func gitFormat(c *call) {
	for _, v := range c.vals {
		if !v.arg.certain() {
			c.say(unknown, "has a value that isn't literal")
		} else if s := v.arg.Text; strings.Contains(s, "%G") || strings.Contains(s, "signature") || strings.Contains(s, "describe") {
			c.say(unknown, "has a format that may start a program")
		}
	}
}

// gitPaths names the files that "HEAD:path" shows.
func gitPaths(c *call) {
	for _, a := range c.ops {
		if _, file, ok := strings.Cut(a.Text, ":"); ok && file != "" {
			c.path(Arg{Text: strings.TrimPrefix(file, "./"), Literal: a.Literal, Source: a.Source}, false)
		}
	}
}

func gitSettings(c *call) {
	for _, a := range c.ops {
		if !a.certain() {
			c.say(unknown, "has a word that isn't literal")
		}
	}
	if c.has("--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool") || len(c.ops) == 0 {
		return
	}
	switch c.ops[0].Text {
	case "list", "get":
		return
	case "edit":
		c.say(unknown, "starts an editor")
	case "set", "unset", "rename-section", "remove-section":
		c.say(write, "changes the configuration")
	}
	if len(c.ops) > 1 {
		c.say(write, "changes the configuration")
	}
}
