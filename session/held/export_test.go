package held

// ProgramFor is Program as if Landlock had at most a version; 0 is none. Without told the kernel puts no calls to the supervisor: it knows
// no such flag.
func ProgramFor(version int, told bool, sockets ...string) Texts {
	if !told {
		return program(version, 1<<30, nil, sockets...)
	}
	return program(version, listen, nil, sockets...)
}

// TrialFor is Trial as if Landlock had at most a version.
func TrialFor(version int, closed []string) Texts {
	return program(version, listen, append([]string{always}, closed...))
}

// HostFile is a file of package held, and what is sent of it.
type HostFile struct {
	Name, Source string
	Text         func() string
}

// HostFiles are all of them.
var HostFiles = []HostFile{
	{"hold.pl", holdSource, holdText},
	{"watch.pl", watchSource, watchText},
	{"hold.py", holdPythonSource, holdPythonText},
	{"watch.py", watchPythonSource, watchPythonText},
	{"answer.py", answerPythonSource, answerPythonText},
}
