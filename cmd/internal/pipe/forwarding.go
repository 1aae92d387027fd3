package pipe

import (
	"strconv"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// ForwardScript is shell source that does the same on the host, which is judged; "" where that is known with each connection only.
func ForwardScript(f hosts.Forward) string {
	switch {
	case f.Option == "-L":
		return Ask{Host: f.Host, Port: f.To}.Script()
	case f.Option == "-D":
		return ""
	case hosts.IsSocket(f.Bind):
		return "nc -l -U " + quote(f.Bind)
	case f.Bind == "":
		return "nc -l " + strconv.Itoa(int(f.Port))
	}
	return "nc -l " + quote(f.Bind) + " " + strconv.Itoa(int(f.Port))
}
