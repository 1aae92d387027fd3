package programs

import "strings"

// kubeGet: secrets and the whole of config maps stay for a human to see first.
func kubeGet(c *call) {
	kubeSecrets(c)
	if a, ok := c.val("-o"); ok {
		if !a.certain() {
			c.say(unknown, "has a format that isn't literal")
		} else if s := a.Text; strings.HasPrefix(s, "go-template-file") || strings.HasPrefix(s, "jsonpath-file") || strings.HasPrefix(s, "custom-columns-file") || strings.HasPrefix(s, "templatefile") {
			_, file, _ := strings.Cut(s, "=")
			c.path(word(file), false)
		}
	}
}

func kubeSecrets(c *call) {
	for i, a := range c.ops {
		s := strings.ToLower(a.Text)
		if !a.certain() {
			c.say(unknown, "has a resource that isn't literal")
			continue
		}
		for kind := range strings.SplitSeq(s, ",") {
			kind, _, _ = strings.Cut(kind, "/")
			kind, _, _ = strings.Cut(kind, ".")
			if kind == "secret" || kind == "secrets" || strings.Contains(kind, "secret") && i == 0 {
				c.say(secret, "shows secrets")
			}
		}
	}
}

// kubeDescribe shows of a secret only its size.
func kubeDescribe(c *call) {
	for _, a := range c.ops {
		if !a.certain() {
			c.say(unknown, "has a resource that isn't literal")
		}
	}
	kubeSecrets(c)
}

// kubeExec: the command follows "--", or the pod.
func kubeExec(c *call) { remote(c) }

// looseTail reports what follows "--" as a command elsewhere, so that what is forbidden is seen.
func looseTail(c *call) {
	for i, a := range c.args {
		if a.certain() && a.Text == "--" && i+1 < len(c.args) {
			c.nestRemote(c.args[i+1:])
			return
		}
	}
}
