# Answers the system calls of a held shell as watch.pl does, where there is no perl: what framing.Shell.WatchPython takes. answer.py is the rest of it,
# for when there is a call; watch.pl says why all that is done.
#
#= ar this_arch the processor: 0 is x86-64, 1 is arm64
#= lv landlock_version of Landlock's interface
#= li listener_fd the descriptor
#= sp shell_pid the shell's process id
#= ro room_dir the directory for temporary files
#= ow own_pid the supervisor
#= lt long_type a C long
#= ct char_type a C char
#= ft_ call_type a function of C that sets errno
#= cs_ c_syscall syscall(2)
#= mb_ make_buffer makes memory that the kernel may write to
#= sc system_call makes one
#= ba by_arch the number of this processor
#= ce channel_end the end of the pair over which the listener comes
#= by bytes_text one byte, and the version
#= rg rights_text SCM_RIGHTS
#= pc pieces_text an iovec
#= kr kill_rest kills what the shell has left running
#= pl listener_poll waits for the listener
#= ha hear_all answers the calls that wait
#= ci call_id of a call
#= gd give_device gives a call a device of these
#= in_ instead_fd what it gets
#= pf pinned_fd what lies there
#= of2 open_flags of open(2)
#= cp_ call_pid whose it is
#= hs hear_soon is hear_all where that may not be there yet
#= ks kill_soon is such a kill_rest
#= rn read_answers reads answer.py
import _ctypes, posix as os, select, _struct as struct
class long_type(_ctypes._SimpleCData): _type_ = "l"
class char_type(_ctypes._SimpleCData): _type_ = "c"
# FUNCFLAG_CDECL and FUNCFLAG_USE_ERRNO of ctypes.
class call_type(_ctypes.CFuncPtr): _flags_, _restype_ = 9, long_type
c_syscall = call_type(_ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall"))
def make_buffer(text):
	buffer = (char_type * len(text))()
	buffer.raw = text
	return buffer

def system_call(number, *arguments):
	return c_syscall(long_type(number), *[long_type(value) if isinstance(value, int) else value for value in arguments])

def watch(channel_end, shell_pid, room_dir):
	global this_arch, by_arch, landlock_version, listener_fd, listener_poll, own_pid
	globals().update(shell_pid=shell_pid, room_dir=room_dir)
	with open("/proc/self/exe", "rb") as file:
		this_arch = 1 if struct.unpack("<18xH", file.read(20))[0] == 183 else 0
	by_arch = lambda *numbers: numbers[this_arch]
	own_pid = os.getpid()

	# recvmsg(2) brings one byte, the version of Landlock, and behind a zero; with them the descriptor (SCM_RIGHTS, unix(7)).
	bytes_text = make_buffer(bytes(2))
	rights_text = make_buffer(bytes(24))
	pieces_text = make_buffer(struct.pack("<QQ", _ctypes.addressof(bytes_text), 2))
	message = make_buffer(struct.pack("<16xQQQQ8x", _ctypes.addressof(pieces_text), 1, _ctypes.addressof(rights_text), 24))
	if system_call(by_arch(47, 212), channel_end, message, 0x40000000) != 2:
		raise Exception("no listener came: " + os.strerror(_ctypes.get_errno()))
	landlock_version = bytes_text.raw[1]
	length, listener_fd = struct.unpack("<Q8xl", rights_text.raw[:20])
	if length != 20:
		return ()
	# Without Landlock, a descriptor must be an answer that the kernel knows: for a call that is none it says ENOENT (2). 4 is PR_SET_DUMPABLE.
	if not landlock_version:
		open("/proc/%d/mem" % shell_pid, "rb").close()
		if system_call(by_arch(16, 29), listener_fd, 0x40182103, struct.pack("<QLLLL", 0, 2, 0, 0, 0)) >= 0 or _ctypes.get_errno() != 2:
			raise Exception("no descriptor can be given: " + os.strerror(_ctypes.get_errno()))
		system_call(by_arch(157, 167), 4, 0, 0, 0, 0)
		system_call(by_arch(1, 64), channel_end, b"y", 1)
	# PR_SET_CHILD_SUBREAPER.
	system_call(by_arch(157, 167), 36, 1, 0, 0, 0)

	listener_poll = select.poll()
	listener_poll.register(listener_fd, 1)
	# Reading the rest takes some milliseconds of the shell's start: it is done while the child goes on where every open needs it, else not before
	# there is a call that does.
	if "@first@":
		read_answers()
	return listener_fd, hear_soon, kill_soon

def give_device(call_id, path, open_flags):
	given = pinned_fd = instead_fd = -1
	try:
		pinned_fd = os.open(path, 0x280000)
		# They may be something else here.
		pinned = os.fstat(pinned_fd)
		if pinned.st_mode & 61440 == 8192 and pinned.st_rdev in (0x103, 0x500):
			instead_fd = os.open(b"/proc/self/fd/%d" % pinned_fd, open_flags & ~0xaa2c0 | 0x80100)
			given = system_call(by_arch(16, 29), listener_fd, 0x40182103, struct.pack("<QLLLL", call_id, 2, instead_fd, 0, open_flags & 0x80000))
	except OSError:
		pass
	for file in pinned_fd, instead_fd:
		if file >= 0:
			os.close(file)
	return given >= 0
def hear_soon():
	events = sum(events for file, events in listener_poll.poll(0))
	if not events & 1:
		return [None] if events & 16 else []
	call = make_buffer(bytes(80))
	if system_call(by_arch(16, 29), listener_fd, 0xc0502100, call) < 0:
		return []
	call_id, call_pid, number, *arguments = struct.unpack("<QL4xl12x6Q", call.raw)
	# Every shell opens these to write. Where Landlock judges that, the call goes on; else it gets what is there, as from answer.py. What is read
	# counts only if the call still waits.
	if not "@first@" and number == by_arch(257, 56) and arguments[2] & 3 in (1, 2) and arguments[2] & 0xc0 != 0xc0:
		try:
			file = os.open("/proc/%d/mem" % call_pid, 0x80000)
			path = os.pread(file, 10, arguments[1])
			os.close(file)
		except (OSError, OverflowError):
			path = b""
		path = path.partition(b"\0")[0]
		if path in (b"/dev/null", b"/dev/tty") and system_call(by_arch(16, 29), listener_fd, 0x80082102, struct.pack("<Q", call_id)) == 0:
			if landlock_version:
				system_call(by_arch(16, 29), listener_fd, 0xc0182101, struct.pack("<QqlL", call_id, 0, 0, 1))
				return []
			if give_device(call_id, path, arguments[2]):
				return []
	read_answers()
	return hear_all(call)
def kill_soon():
	if not any(events & 16 for file, events in listener_poll.poll(0)):
		read_answers()
		kill_rest()
def read_answers():
	if "hear_all" not in globals():
		exec(r'''@answer@''', globals())
