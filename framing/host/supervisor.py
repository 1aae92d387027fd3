# The parent of a shell that is held, where there is no perl: what supervisor.pl and its parts hold_told.pl, hold_calls.pl and hold_over.pl
# do, in the same order and with the same records. Those files say why. It is read behind hold_begin.py, with what that has made.
#
#= ow own_pid the supervisor's process id
#= tk shell_token marks the records
#= mk start_mark what the bootstrap's marks begin with
#= gr group_of the session of a process that lives, as far as a hangup would reach it
#= fo foreign_groups by process group: not 0 where it is known to be of another session
#= df skip_deaf set when processes that ignore hangups do not count
#= dd count_dead set when the dead count too
#= fi stat_fields proc_pid_stat(5) from its third field on
#= ro room_dir the directory for temporary files; empty without one
#= rr remove_room removes it
#= lv leave_now ends the supervisor and what the shell has left behind
#= cw call_watch what answers system calls: its descriptor and two functions; see framing.Shell.WatchPython
#= hc hear_calls has them answered, and returns records of those that were refused
#= hu hang_up ends what is left of the session
#= wo write_out writes to the terminal all of a text
#= oe out_end the shell's standard output
#= oi out_in the end of it that the shell has
#= ee err_end the shell's standard error
#= ei err_in the end of it that the shell has
#= we wake_end becomes ready with a signal
#= wi wake_in its other end
#= he hold_end where the child says what holds it
#= hi hold_in the end of that which the child has
#= sp shell_pid the shell's process id
#= hs held_words what the child says
#= wf watch_failed why system calls are not answered
#= nm name_space where a text of package held runs
#= wa wait_for waits for a child, if there is one
#= os_ out_set the shell's output, while there is some
#= es_ err_set its errors
#= cs_ call_set its system calls
#= ch child_changed set when a child's state has changed
#= en shell_status the shell's status once it has ended
#= pm pending_mark a start mark that waits for what may follow at once
#= ou output_read output that was read
#= re_ records_read records of errors that were read
#= mu much_read how many bytes of errors in one turn
#= li bytes_left how much is still read once the shell has ended
#= lf left_over how many files and processes the shell leaves behind
#= ct char_type a byte of memory
#= wt watch_text what answers system calls; see framing.Shell.WatchPython
import select
start_mark = b"@rs@@nonce1@" b"@nonce2@"
def stat_fields(pid):
	try:
		with open("/proc/%d/stat" % pid, "rb") as file:
			return file.read().rpartition(b") ")[2].split()
	except OSError:
		return []

# The list of processes has a short line: the arguments, from the 48th field on to the 49th, are overwritten (proc_pid_stat(5)).
try:
	class char_type(_ctypes._SimpleCData): _type_ = "c"
	begin, end = map(int, stat_fields(own_pid)[45:47])
	if end - begin > 9:
		(char_type * (end - begin)).from_address(begin).raw = b"fairlead".ljust(end - begin, b"\0")
	with open("/proc/self/comm", "wb") as file:
		file.write(b"fairlead")
except Exception:
	pass

letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
shell_token = bytes(letters[value & 63] for value in os.urandom(22))
foreign_groups = {}
skip_deaf = False
count_dead = False
call_watch = ()

def group_of(pid):
	fields = stat_fields(pid)
	if len(fields) < 31:
		return 0
	session = int(fields[3])
	foreign_groups[int(fields[2])] = session - own_pid
	if skip_deaf and int(fields[30]) & 1 or not count_dead and fields[0] in b"ZX":
		return 0
	return session

def wait_for(pid, flags):
	try:
		return os.waitpid(pid, flags)
	except OSError:
		return 0, 0

def send_signal(number, pids):
	for pid in pids:
		try:
			os.kill(pid, number)
		except OSError:
			pass

def leave_now(code):
	try:
		if call_watch:
			call_watch[2]()
	finally:
		if room_dir:
			remove_room()
		os._exit(code)

def is_foreign(pid):
	try:
		return foreign_groups.get(os.getpgid(pid))
	except OSError:
		return True

# SIGHUP is 1, SIGKILL 9, SIGCONT 18, SIGSTOP 19.
def hang_up(*ignored):
	global skip_deaf, count_dead
	_signal.signal(1, _signal.SIG_IGN)
	if group_of(own_pid) == own_pid:
		count_dead = True
		alive = group_of(shell_pid)
		skip_deaf = True
		skip_deaf = not alive or bool(group_of(shell_pid))
		for pause in .01, .04, .1, .2, 0:
			while wait_for(-1, 1)[0] > 0:
				pass
			pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
			pids = [pid for pid in pids if pid != own_pid and not is_foreign(pid) and group_of(pid) == own_pid]
			count_dead = False
			pids.sort(key=lambda pid: pid != shell_pid)
			send_signal(19, pids)
			send_signal(1 if pause else 9, pids)
			send_signal(18, pids)
			if not pids:
				break
			select.select([], [], [], pause)
	leave_now(0)

def write_out(text):
	while text:
		try:
			text = text[os.write(1, text):]
		except OSError:
			hang_up()

def hear_calls():
	records = b""
	for text in call_watch[1]():
		if text is None:
			del call_set[:]
		else:
			records += b"@rs@%sr%d;%s" % (shell_token, len(text), text)
	return records

# A signal becomes a byte, as python begins a wait that it interrupted anew (PEP 475).
wake_end, wake_in = os.pipe()
os.set_blocking(wake_in, False)
os.set_blocking(wake_end, False)
_signal.set_wakeup_fd(wake_in)
_signal.signal(17, lambda *ignored: None)
_signal.signal(1, hang_up)
_signal.pthread_sigmask(1, [1])
def begin_watch():
	global call_watch
	name_space = {}
	exec(watch_text, name_space)
	# 2 is MSG_PEEK: a zero announces a descriptor.
	if hold_end.recv(1, 2) == b"\0":
		call_watch = name_space["watch"](hold_end.fileno(), shell_pid, room_dir)

def supervise():
	global call_set
	hold_in.close()
	os.close(out_in)
	os.close(err_in)
	watch_failed = "nothing reads them"
	try:
		begin_watch()
	except Exception as error:
		watch_failed = str(error)
	# A child that waits to hear that its calls are answered hears that they are not.
	if not call_watch:
		hold_end.shutdown(1)
	held_words = b""
	while True:
		try:
			text = hold_end.recv(4096)
		except OSError:
			text = b""
		if not text:
			break
		held_words += text
	hold_end.close()
	if held_words[:1] == b"\0":
		held_words = held_words[2:]
	if not call_watch and held_words[:1] == b"K" and b";" not in held_words:
		held_words += b";" + watch_failed.encode("utf-8", "replace")
	held_words = held_words.replace(b"\n", b" ") or b"Nthe kernel ended it"
	if held_words[:1] != b"K":
		remove_room()
	write_out(start_mark + held_words + b"\n")
	if held_words[:1] != b"K":
		_signal.alarm(60)
		os.read(0, 1)
		os._exit(1)
	write_out(start_mark + b"T" + shell_token + b"\n")

	out_set = [out_end]
	err_set = [err_end]
	call_set = [call_watch[0]] if call_watch else []
	child_changed = True
	shell_status = None
	pending_mark = b""
	bytes_left = 4e6
	while True:
		ready = select.select(out_set + err_set + call_set + [wake_end], [], [], .002 if pending_mark else 0 if child_changed or shell_status is not None else 10)[0]
		if wake_end in ready:
			ready.remove(wake_end)
			os.read(wake_end, 4096)
			child_changed = True
		if ready and bytes_left > 0:
			output_read = records_read = b""
			if call_set and call_set[0] in ready:
				write_out(hear_calls())
				if shell_status is not None:
					bytes_left -= 1e4
			# What lost its parents is the supervisor's to wait for.
			if call_watch and child_changed:
				while True:
					pid, status = wait_for(-1, 1)
					if pid == shell_pid:
						shell_status = status
					elif pid <= 0:
						break
			if out_end in ready:
				output_read = os.read(out_end, 65536)
				if not output_read:
					out_set = []
				# A start mark alone waits for what may follow at once, awake at first.
				if len(output_read) == 24 and not pending_mark and output_read[23:] == b"S":
					pending_mark = output_read
					output_read = b""
					for i in range(40):
						if select.select(out_set, [], [], 0)[0]:
							output_read = os.read(out_end, 65536)
							if not output_read:
								out_set = []
							break
					else:
						continue
			# Errors that were written before a frame's end come before it.
			much_read = 0
			while much_read < 2e6 and err_set and select.select(err_set, [], [], 0)[0]:
				text = os.read(err_end, 65536)
				if not text:
					err_set = []
					break
				much_read += len(text)
				records_read += b"@rs@%se%d;%s" % (shell_token, len(text), text)
			write_out(records_read + pending_mark + output_read)
			pending_mark = b""
			if shell_status is not None:
				bytes_left -= much_read + len(output_read)
			elif not out_set and not err_set:
				shell_status = wait_for(shell_pid, 0)[1]
		elif pending_mark:
			write_out(pending_mark)
			pending_mark = b""
		else:
			if shell_status is not None:
				break
			child_changed = False
			# 3 is WNOHANG|WUNTRACED. A shell that was stopped goes on, as the terminal's foreground.
			pid, status = wait_for(shell_pid, 3)
			if pid > 0 and status & 255 == 127:
				try:
					os.tcsetpgrp(0, os.getpgid(shell_pid))
				except OSError:
					pass
				send_signal(18, [shell_pid])
			elif pid > 0:
				shell_status = status

	if call_watch:
		# What still runs has half a second to end.
		for i in range(25):
			write_out(hear_calls())
			if not call_set:
				break
			select.select([], [], [], .02)
		left_over = b"left;%d;%d" % (len(os.listdir(room_dir)), len(call_set))
		write_out(b"@rs@%sr%d;%s" % (shell_token, len(left_over), left_over))
		call_watch[2]()
	remove_room()
	write_out(b"@rs@%sX%d;%d\n" % (shell_token, shell_status >> 8, shell_status & 127))
	# Linux throws away what a terminal still holds when the session leader ends.
	_signal.alarm(60)
	os.read(0, 1)
	os._exit(shell_status >> 8)

call_set = []
try:
	supervise()
except BaseException:
	leave_now(1)
