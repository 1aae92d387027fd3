package programs

import (
	"path"
	"strings"
)

// zones notes the files that dates name: see zoneFile.
func zones(c *call) {
	for _, name := range [...]string{"-d", "-N"} {
		if c.node.lookup(name) != 0 {
			for _, a := range c.values(name) {
				c.zone(a)
			}
		}
	}
}

// dates is for date, whose operand is a format.
func dates(c *call) {
	zones(c)
	for _, a := range c.ops {
		if awkWide.MatchString(a.Text) {
			c.say(unknown, "may fill pages")
		}
	}
}

func (c *call) zone(date Arg) {
	if file := zoneFile(date.Text); file != "" {
		c.path(Arg{Text: file, Literal: date.Literal, Source: date.Source}, false)
	}
}

// zoneFile is the file that GNU programs open for a date with a time zone of its own, TZ="…", where that is none of the system's
// zones: they take any path.
func zoneFile(date string) string {
	zone, ok := strings.CutPrefix(strings.TrimLeft(date, " \t\n\v\f\r"), `TZ="`)
	if !ok {
		return ""
	}
	zone, _, _ = strings.Cut(zone, `"`)
	zone = strings.ReplaceAll(strings.TrimPrefix(zone, ":"), `\\`, `\`)
	switch {
	case strings.HasPrefix(zone, "/"):
		return zone
	case strings.Contains(zone, ".."):
		return path.Join("/usr/share/zoneinfo", zone)
	}
	return ""
}
