// Package held knows how a shell is held to reading by the host's own kernel, and which programs do not tell the truth there.
//
// [Program] is what a framing.Shell that is held takes. Such a shell, and all that it runs, changes no file,
// attribute, mount, device or setting of the kernel. It opens no connection, neither of the network nor to a program on the
// host, signals and traces nothing outside of itself, and gains no privilege. That holds for root too. Nothing is installed, and a
// command costs nothing more.
//
// # By what
//
// Landlock, whatever its version, keeps files, and from its sixth version on signals. A filter of seccomp keeps the system calls
// that Landlock does not know, with numbers for x86-64 and arm64. Privileges are dropped, and no_new_privs keeps setuid programs
// from giving any. perl does that on the host, or python3 (3.6 or newer, with what ctypes is made of) where there is no perl. Where one of these cannot be
// had, or neither perl nor python3, the shell does not start and says why.
//
// Where the kernel has no Landlock, or has it switched off, the filter puts what that would judge to the supervisor, from Linux 5.14
// on. The supervisor does by itself what may be done: it opens what lies in the temporary directory, /dev/null and the like, and pipes
// without names, looks at what it has opened, and passes that on. Nothing goes on to the kernel: no thread can change a path meanwhile.
// Mount namespaces are not used for that. They make untrue what is read: mount says that all is read-only, and in the user namespace
// that an ordinary account needs, other owners are called nobody. Named pipes and devices could be written to all the same.
//
// # Local sockets
//
// Some programs ask a service through a local socket: [Sockets] has them, and [Program] opens just these for a command. A socket of a
// held shell is a dead end. Where it is to be connected to one of those paths, to the byte, the supervisor connects a stream of its own, and
// puts that in the place of the dead end: there is never a socket that could be connected or send elsewhere. The service sees the
// same account, and the supervisor as the process. sssd's socket for the names of accounts is always open; an nscd is as if it were not
// there, so that programs look names up themselves. Where the account's variables or files lead a program elsewhere ([Elsewhere]), to a
// cluster say, it is not held, as kubectl never is: where it would connect to stands in files that nobody has judged. Options that were set before are lost; copies that were made before stay dead ends.
//
// # What it does not cover
//
// What a service does for whoever asks it through an open socket, and what it passes on there, descriptors too: that is judged.
// Reading itself: secrets, and what acts when it is read (a named pipe, another terminal of the same account, /proc/kmsg, a watchdog).
// Access times, shared locks, load and memory, and processes without end. A core handler still sees a crash where the account may have
// no cores at all. The shell's own terminal, with which it could spoil its session, and its temporary directory, in which a
// file has 1 GiB at most. Errors of the kernel.
//
// Where Landlock is missing or older than its sixth version, a held command can signal its own group and its shell only: its background
// processes go on until the shell ends. ksh93 keeps what $(…) and here-documents hold in memory without a name instead of /dev/shm;
// where the kernel does not report its calls, it is not held.
// Without Landlock, memory and variables of other processes of the account can be read, as elsewhere; and named pipes cannot be made.
// Owners are numbers where their names come from a service that is not sssd's, as nslcd's or winbind's, and the call is refused and told.
//
// [Trial] also keeps a command that is only tried from reading secrets, by their paths: not by another hard link, and not where they stand
// in files with other names. Programs that are started are read by the kernel, whatever they are called. A file system that does not
// answer holds up the supervisor of such a command.
//
// It also hides: from a held shell, what other processes have open, run and stand in cannot be seen, without an error. [Unfit]
// names the programs whose answers that makes untrue.
package held

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

//go:embed host/hold.pl
var holdSource string

//go:embed host/watch.pl
var watchSource string

//go:embed host/hold.py
var holdPythonSource string

//go:embed host/watch.py
var watchPythonSource string

//go:embed host/answer.py
var answerPythonSource string

var (
	holdText        = sync.OnceValue(func() string { return hostcode.Perl(holdSource) })
	watchText       = sync.OnceValue(func() string { return hostcode.Perl(watchSource) })
	holdPythonText  = sync.OnceValue(func() string { return hostcode.Python(holdPythonSource) })
	watchPythonText = sync.OnceValue(func() string { return hostcode.Python(watchPythonSource) })

	answerPythonText = sync.OnceValue(func() string { return hostcode.Python(answerPythonSource) })
)

const (
	// newest is more than any version of Landlock that there is: what is known of newer ones is what is asked of them.
	newest = 99
	// listen is SECCOMP_FILTER_FLAG_NEW_LISTENER (seccomp(2)).
	listen = 8
)

// Texts are what runs on a host to hold a shell: framing.Shell has fields of these names.
type Texts struct{ Hold, Watch, HoldPython, WatchPython string }

// Program returns the texts for a shell that is held to reading, by perl or else by python3. It may connect to the local sockets at these
// paths, which [Sockets] has, to sssd's for names, and to nothing else.
func Program(sockets ...string) Texts { return program(newest, listen, nil, sockets...) }

// accountNames is the socket at which sssd(8) tells the names of accounts, and does nothing else: without it ls and ps would print numbers.
const accountNames = "/var/lib/sss/pipes/nss"

// program is Program for kernels whose Landlock has at most a version. With other flags than listen no calls are told. Where there are
// closed places, everything that is opened is looked at.
func program(version, flags int, closed []string, sockets ...string) Texts {
	first := ""
	if closed != nil {
		first = "1"
	}
	// Where they stand, a quote would end them.
	sockets = slices.DeleteFunc(append([]string{accountNames}, sockets...), func(path string) bool {
		return strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`'"\`, r) })
	})
	values := []string{"newest", strconv.Itoa(version), "listen", strconv.Itoa(flags), "first", first}
	places := []string{"closed", strings.Join(closed, " "), "first", first, "sockets", strings.Join(sockets, " ")}
	return Texts{
		Hold: hostcode.Fill(holdText(), values...), Watch: hostcode.Fill(watchText(), places...),
		HoldPython: hostcode.Fill(holdPythonText(), values...), WatchPython: hostcode.Fill(watchPythonText(), "first", first, "answer", hostcode.Fill(answerPythonText(), places...)),
	}
}
