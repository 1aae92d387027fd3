package programs

import "strings"

// remote: what exec runs, it runs in a container.
func remote(c *call) {
	for i := range c.find.Nested {
		c.find.Nested[i].Remote = true
	}
}

// dockerRuns: a container that sees the root of the host can do what root can.
func dockerRuns(c *call) {
	remote(c)
	for _, a := range c.args {
		if s := a.Text; strings.HasPrefix(s, "/:") || strings.Contains(s, "=/:") || strings.Contains(s, "source=/,") || strings.Contains(s, "src=/,") {
			c.say(danger, "shows the whole host to a container")
		}
	}
	if a, ok := c.val("--entrypoint"); ok && len(c.ops) > 0 {
		c.nestRemote(append([]Arg{a}, c.ops[1:]...))
	}
}

func noStream(c *call) {
	if !c.has("--no-stream") {
		c.say(unknown, "never ends without --no-stream")
	}
}
