package programs

// entrypoint: the words behind the image are for the program that --entrypoint names.
func entrypoint(c *call) {
	if a, ok := c.val("--entrypoint"); ok && len(c.ops) > 0 {
		c.nestRemote(append([]Arg{a}, c.ops[1:]...))
	}
}
