package programs

import "strings"

// entrypoint: the words behind the image are for the program that --entrypoint names.
func entrypoint(c *call) {
	if a, ok := c.val("--entrypoint"); ok && len(c.ops) > 0 {
		c.nestRemote(append([]Arg{a}, c.ops[1:]...))
	}
}

// template lets through the formats of inspect that show no environment, arguments or labels.
func template(c *call) {
	a, _ := c.val("-f")
	if !a.certain() || !harmlessTemplate(a.Text) {
		c.say(secret, "shows the environment of containers, which may hold secrets")
	}
}

func harmlessTemplate(s string) bool {
	if !strings.Contains(s, "{{") {
		return false
	}
	for s != "" {
		_, code, open := strings.Cut(s, "{{")
		if !open {
			return true
		}
		code, s, open = strings.Cut(code, "}}")
		if !open || strings.Trim(code, identifier+". ()-") != "" {
			return false
		}
		for word := range strings.FieldsFuncSeq(code, func(r rune) bool { return strings.ContainsRune(" ()", r) }) {
			if listed("json len lower upper title println end if else not range -", word) {
				continue
			}
			root, _, _ := strings.Cut(strings.TrimPrefix(word, "."), ".")
			if word[0] != '.' || !listed(".Config.Image .Config.Hostname .HostConfig.RestartPolicy .HostConfig.RestartPolicy.Name .HostConfig.NetworkMode .HostConfig.Memory", word) &&
				!listed("State Name Id ID Created Image RestartCount NetworkSettings Driver Platform SizeRw SizeRootFs IPAddress Gateway MacAddress NetworkID RepoTags RepoDigests Architecture Os Size Mounts Source Destination Status", root) {
				return false
			}
		}
	}
	return true
}
