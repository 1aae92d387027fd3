package programs

import "strings"

func cloud(c *call) {
	for _, a := range c.args {
		s := a.Text
		if !a.certain() {
			c.say(unknown, "has a word that isn't literal")
		}
		for _, verb := range [...]string{"delete", "terminate", "destroy", "remove", "stop", "reboot", "purge", "rb", "rm", "detach", "deregister", "revoke"} {
			if s == verb || strings.HasPrefix(s, verb+"-") {
				c.say(danger, "stops or removes what others rely on")
			}
		}
	}
}
