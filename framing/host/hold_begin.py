# The parent of a shell that is held and its child, where there is no perl, as far as the child goes: what hold_begin.pl and hold_child.pl do,
# in the same order. Those files say why. hold_pick.sh reads this, and supervisor.py is what the parent becomes.
#
# It is for python3 from 3.6 on, with no more than its standard library. What it starts must not see that it is python: the environment is
# the one that it was started with (python sets LC_CTYPE in its own, PEP 538), and the signals that it ignores are taken back.
#
#= sy system_text the environment as proc_pid_environ(5) has it
#= ev environment_of the shell's variables
#= ow own_pid the supervisor's process id
#= ro room_dir the directory for temporary files; empty without one
#= rr remove_room removes it
#= oe out_end the shell's standard output
#= oi out_in the end of it that the shell has
#= ee err_end the shell's standard error
#= ei err_in the end of it that the shell has
#= he hold_end where the child says what holds it
#= hi hold_in the end of that which the child has
#= sp shell_pid the shell's process id
#= bs be_shell what the child does
#= hs held_words what the child says
#= nm name_space where a text of package held runs
#= ht hold_text what restricts the child; see framing.Shell.HoldPython
#= st supervisor_text of supervisor.py
#= wt watch_text what answers system calls; see framing.Shell.WatchPython
#= _fl_r _fl_read see hold_pick.sh
# posix is what os brings from C, and is there already; so are _struct and _ctypes of struct and ctypes. That saves most of the imports' time.
import posix as os, sys, _signal, _socket
try:
	import _ctypes, _struct
except Exception:
	pass

hold_text, supervisor_text, watch_text = _fl_read(), _fl_read(), _fl_read()
own_pid = os.getpid()
with open("/proc/self/environ", "rb") as file:
	system_text = file.read()
environment_of = dict(text.split(b"=", 1) for text in system_text.split(b"\0") if text.find(b"=") > 0)
# SIGINT SIGQUIT SIGTSTP SIGTTIN SIGTTOU.
for number in 2, 3, 20, 21, 22:
	_signal.signal(number, _signal.SIG_IGN)
# SIGHUP waits for supervisor.py. 0 is SIG_BLOCK, 1 SIG_UNBLOCK.
_signal.pthread_sigmask(0, [1])

def remove_room():
	for i in range(9):
		try:
			for name in os.listdir(room_dir):
				try:
					os.unlink(room_dir + b"/" + name)
				except OSError:
					pass
			os.rmdir(room_dir)
			return
		except OSError:
			pass

out_end, out_in = os.pipe()
err_end, err_in = os.pipe()
name = b"/.fairlead-" + os.urandom(12).hex().encode()
for room_dir in b"/dev/shm", b"/run/user/%d" % os.getuid(), b"/tmp", b"":
	if room_dir:
		try:
			os.mkdir(room_dir + name, 448)
			room_dir += name
			break
		except OSError:
			pass
environment_of[b"TMPDIR"] = room_dir
environment_of[b"TMPPREFIX"] = room_dir + b"/zsh"
hold_end, hold_in = _socket.socketpair(1, 1)

def be_shell():
	# Those from above, and SIGPIPE and SIGXFSZ, which python ignores.
	for number in 2, 3, 20, 21, 22, 13, 25:
		_signal.signal(number, _signal.SIG_DFL)
	_signal.pthread_sigmask(1, [1])
	os.dup2(out_in, 1)
	os.dup2(err_in, 2)
	hold_end.close()
	try:
		if not room_dir:
			raise Exception("it has no place for temporary files")
		name_space = {}
		exec(hold_text, name_space)
		held_words = "K" + name_space["hold"](hold_in.fileno(), environment_of)
	except Exception as error:
		held_words = "N" + (str(error) or "it says nothing")
	os.write(hold_in.fileno(), held_words.encode("utf-8", "replace"))
	if held_words[0] == "K":
		arguments = [word.encode(sys.getfilesystemencoding(), "surrogateescape") for word in sys.argv[1:]]
		try:
			os.execve(arguments[0], arguments, environment_of)
		except OSError:
			os._exit(127)

# The child is at work on its restrictions while its parent reads how to supervise it.
shell_pid = os.fork()
try:
	be_shell() if shell_pid == 0 else exec(supervisor_text)
except BaseException:
	pass
if shell_pid == 0:
	os._exit(126)
remove_room()
os._exit(1)
