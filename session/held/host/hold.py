# Restricts the process that runs it as hold.pl does, in the same order and with the same numbers, where there is no perl: what
# framing.Shell.HoldPython takes. hold.pl says what each rule is for. A test compares the system calls of both.
#
#= ar this_arch the processor: 0 is x86-64, 1 is arm64
#= lv landlock_version of Landlock's interface
#= fr file_rights those that change files, as far as the version knows them
#= rs rule_set the descriptor of Landlock's rules
#= cn channel_end the end of the pair over which the listener goes
#= ev environment_of the shell's variables
#= lc lib_c the library of the system's calls
#= sc system_call makes one
#= by by_arch the number of this processor
#= fa fail_with ends with the reason
#= ap allow_place lets what lies at a path be written
#= pp place_path what a rule is about; empty is descriptor 0
#= pr place_rights what may be done there
#= pf place_fd its descriptor
#= ao add_op adds one instruction of BPF
#= fo filter_ops instructions of BPF
#= ca check_arg answers a call by one half of an argument
#= xn x86_number of a system call
#= an arm_number of a system call
#= cl call_number of this processor
#= ah arg_half which half of an argument, counted from the first one's lower
#= am arg_mask the bits that matter
#= oy only_these whether the values are those that pass
#= vl the_values that are looked for
#= ta to_answer how many instructions to the answer
#= lp let_pass lets a call pass
#= rf add_refusal answers calls whatever their arguments
#= nn call_numbers in pairs, for x86-64 and arm64
#= nw number_words a list of numbers, which is read faster than code
#= rc refused_calls such numbers
#= ab any_bit all of them
#= re_ refuse_it the answer that refuses
#= lk look_first the answer that has the supervisor look
#= ft filter_text the instructions as the kernel takes them
#= ls listener_fd what brings the calls
#= uw un_watched why it does not
#= hd header_text of capset(2) and of the filter
#= mb what_may capabilities that may stay
#= pc pieces_text an iovec
#= rg rights_text SCM_RIGHTS
#= by2 bytes_text what is sent with the listener
import ctypes, os, stat, struct
lib_c = ctypes.CDLL(None, use_errno=True)
lib_c.syscall.restype = ctypes.c_long

def system_call(number, *arguments):
	return lib_c.syscall(ctypes.c_long(number), *[ctypes.c_long(value) if isinstance(value, int) else value for value in arguments])

def fail_with(reason):
	raise Exception(reason.replace("$!", os.strerror(ctypes.get_errno())))

def hold(channel_end, environment_of):
	# python's own ELF header (elf(5)) says whose system calls it makes.
	with open("/proc/self/exe", "rb") as file:
		this_arch = {(258, 62): 0, (258, 183): 1}.get(struct.unpack("<4xH12xH", file.read(20)), -1)
	if this_arch < 0:
		fail_with("its processor is neither x86-64 nor arm64")
	by_arch = lambda *numbers: numbers[this_arch]

	# See package judge for the names.
	if "@first@":
		for name in list(environment_of):
			upper = name.upper()
			if len(name) > 4 and (any(word in upper for word in b"SECRET|TOKEN|PASSW|PASSPHRASE|CREDENTIAL|APIKEY|API_KEY|ACCESS_KEY|PRIVATE_KEY|_PASS|_PWD|AUTH_KEY|DATABASE_URL|_DSN".split(b"|")) or upper[-4:] == b"_KEY" or upper == b"PGPASS"):
				del environment_of[name]
	for number, value in (4, 1), (1, 1 << 30):
		system_call(by_arch(160, 164), number, struct.pack("<2Q", value, value))
	if system_call(by_arch(157, 167), 38, 1, 0, 0, 0):
		fail_with("the kernel does not take no_new_privs: $!")

	# Landlock (landlock(7)).
	landlock_version = min(system_call(444, 0, 0, 1), int("@newest@"))
	if landlock_version > 0:
		file_rights = 0x1ff2 | (0x2000 if landlock_version > 1 else 0) | (0x4000 if landlock_version > 2 else 0)
		header_text = struct.pack("<3Q", file_rights, 3, 3)[:24 if landlock_version > 5 else 16 if landlock_version > 3 else 8]
		rule_set = system_call(444, header_text, len(header_text), 0)
		if rule_set < 0:
			fail_with("the kernel does not take Landlock's rules: $!")
		def allow_place(place_path, place_rights):
			# 0x200000 is O_PATH.
			try:
				place_fd = os.open(place_path, 0x200000) if place_path else 0
			except OSError:
				place_fd = -1
			if system_call(445, rule_set, 1, struct.pack("<Ql", place_rights & file_rights, place_fd), 0):
				fail_with("the kernel does not take a rule of Landlock for " + os.fsdecode(place_path) + ": $!")
			if place_fd > 0:
				os.close(place_fd)
		for place_path in b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/tty":
			try:
				if stat.S_ISCHR(os.stat(place_path).st_mode):
					allow_place(place_path, 0x4002)
			except OSError:
				pass
		if os.isatty(0):
			allow_place(b"", 0x4002)
		allow_place(environment_of[b"TMPDIR"], 0x4522)
		if system_call(446, rule_set, 0):
			fail_with("the kernel does not take Landlock: $!")
	else:
		landlock_version = 0

	# Capabilities (capabilities(7)).
	system_call(by_arch(157, 167), 47, 4, 0, 0, 0)
	for number in range(64):
		if number not in (2, 34):
			system_call(by_arch(157, 167), 24, number, 0, 0, 0)
	header_text = struct.pack("<LL", 0x20080522, 0)
	what_may = ctypes.create_string_buffer(24)
	if system_call(by_arch(125, 90), header_text, what_may):
		fail_with("its capabilities cannot be read: $!")
	what_may = struct.pack("<6L", *[has & may for has, may in zip(struct.unpack("<6L", what_may.raw), (4, 4, 0, 4, 4, 0))])
	if system_call(by_arch(126, 91), header_text, what_may):
		fail_with("its capabilities cannot be dropped: $!")

	# seccomp (seccomp(2)).
	filter_ops = []
	add_op = lambda *fields: filter_ops.append(struct.pack("<HBBL", *fields))
	def check_arg(x86_number, arm_number, arg_half, arg_mask, answer, only_these, *the_values):
		call_number = by_arch(x86_number, arm_number)
		if call_number < 0:
			return
		add_op(0x20, 0, 0, 0)
		add_op(0x15, 0, len(the_values) + 3, call_number)
		add_op(0x20, 0, 0, 16 + 4 * arg_half)
		add_op(0x54, 0, 0, arg_mask)
		for i in range(len(the_values)):
			to_answer = len(the_values) - i - 1
			if only_these:
				add_op(0x15, to_answer + 1, 0, the_values[i])
			else:
				add_op(0x15, to_answer, 0 if to_answer else 1, the_values[i])
		add_op(6, 0, 0, answer)
	def let_pass(*call_numbers):
		if by_arch(*call_numbers) >= 0:
			add_op(0x20, 0, 0, 0)
			add_op(0x15, 0, 1, by_arch(*call_numbers))
			add_op(6, 0, 0, 0x7fff0000)
	def add_refusal(answer, *call_numbers):
		for call_number in call_numbers[this_arch::2]:
			if call_number >= 0:
				add_op(0x15, 0, 1, call_number)
				add_op(6, 0, 0, answer)
	any_bit = 0xffffffff
	refuse_it = 0x7fc00001
	look_first = 0x7fc00000
	add_op(0x20, 0, 0, 4)
	add_op(0x15, 1, 0, by_arch(0xc000003e, 0xc00000b7))
	add_op(6, 0, 0, 0x80000000)
	add_op(0x20, 0, 0, 0)
	add_op(0x25, 0, 1, 469)
	add_op(6, 0, 0, 0x50026)
	# What opens files.
	add_op(0x20, 0, 0, 0)
	if "@first@":
		add_refusal(look_first, 257, 56, 2, -1, 89, -1, 267, 78)
	check_arg(257, 56, 4, 0x203, refuse_it, 0, 0x200, 0x203)
	check_arg(257, 56, 4, 0x43, look_first, 1, 0)
	let_pass(257, 56)
	check_arg(2, -1, 2, 0x203, refuse_it, 0, 0x200, 0x203)
	check_arg(2, -1, 2, 0x43, look_first, 1, 0)
	let_pass(2, -1)
	# fcntl, ioctl.
	check_arg(72, 25, 2, any_bit, refuse_it, 0, 8, 10, 15, 1024, 1026, 1036, 1038, 1040)
	let_pass(72, 25)
	number_words = "5401 5402 5403 5404 5405 5406 5407 5408 5409 540a 540f 5410 5411 5413 5414 5415 5419 541b 541e 5421 5424 5429 5432 5450 5451 5456 545d 5460 802c542a"
	number_words += " 402c542b 402c542c 402c542d 80045430 80045432 80045438 80045439 8004543a 8004543b 8004543c 8004543d 8004543e 8004543f 80045440 80086601 80046601"
	number_words += " 80087601 801c581f c020660b 1 2 81009431 80111500 125e 1260 1263 1265 1267 1268 80081270 80081272 1278 1279 127a 127b 127c 127e 80041284 80041285"
	number_words += " 80081280 301 30d b701 b702 b703 b704 8008b705 80247009"
	the_values = [int(word, 16) for word in number_words.split()]
	check_arg(16, 29, 2, any_bit, refuse_it, 1, *the_values)
	let_pass(16, 29)
	# clone and clone3, sockets.
	check_arg(56, 220, 0, 0x7e020000, refuse_it, 1, 0)
	check_arg(41, 198, 0, any_bit, refuse_it, 1, 16)
	check_arg(41, 198, 4, any_bit, 0x7fc0005d, 1, 0, 4, 16)
	check_arg(53, 199, 0, any_bit, refuse_it, 1, 1)
	check_arg(53, 199, 2, 15, refuse_it, 1, 1, 5)
	check_arg(54, 208, 2, any_bit, 0x50000, 0, 0, 6, 17, 41)
	# What succeeds and does nothing, flock, syslog.
	check_arg(91, 52, 2, any_bit, 0x50000, 0, 128, 256)
	check_arg(73, 32, 2, 2, refuse_it, 1, 0)
	check_arg(103, 116, 0, any_bit, refuse_it, 1, 3, 9, 10)
	# Priorities, processors and limits.
	for call_numbers in (203, 122), (144, 119), (142, 118), (314, 274):
		check_arg(*call_numbers, 0, any_bit, refuse_it, 1, 0)
	check_arg(141, 140, 0, any_bit, refuse_it, 1, 0)
	check_arg(141, 140, 2, any_bit, refuse_it, 1, 0)
	check_arg(251, 30, 0, any_bit, refuse_it, 1, 1)
	check_arg(251, 30, 2, any_bit, refuse_it, 1, 0)
	check_arg(302, 261, 0, any_bit, 0x7fff0000, 0, 0)
	check_arg(302, 261, 4, any_bit, refuse_it, 1, 0)
	check_arg(302, 261, 5, any_bit, refuse_it, 1, 0)
	if landlock_version < 6:
		check_arg(62, 129, 0, any_bit, 0x7fff0000, 0, 0, os.getpid())
		check_arg(62, 129, 2, any_bit, refuse_it, 1, 0, 17)
	# Numbers for x86-64, then for arm64; hold.pl has their names.
	number_words = "90 -1 91 52 268 53 452 452 92 -1 93 55 94 -1 260 54 188 5 189 6 190 7 463 463 197 14 198 15 199 16 466 466 469 469"
	number_words += " 132 -1 235 -1 261 -1 280 88 165 40 166 39 155 41 161 51 428 428 467 467 429 429 430 430 431 431 432 432 433 433 442 442"
	number_words += " 272 97 308 268 304 265 101 117 310 270 311 271 438 438 440 440 448 448 256 238 279 239"
	number_words += " 321 280 298 241 323 282 300 262 425 425 426 426 427 427 248 217 249 218 250 219"
	number_words += " 246 104 320 294 175 105 313 273 176 106 169 142 167 224 168 225 163 89 179 60 443 443"
	number_words += " 164 170 227 112 170 161 171 162 172 -1 173 -1 154 -1 153 58 134 -1 212 18"
	number_words += " 29 194 30 196 31 195 67 197 64 190 65 193 66 191 220 192 68 186 69 189 70 188 71 187"
	number_words += " 240 180 241 181 242 182 243 183 244 184 245 185"
	refused_calls = [int(word) for word in number_words.split()]
	if landlock_version < 3:
		refused_calls += [76, 45]
	if landlock_version < 6:
		refused_calls += [200, 130, 234, 131, 129, 138, 297, 240, 424, 424]
	add_op(0x20, 0, 0, 0)
	add_refusal(0x50026, 435, 435, 437, 437)
	add_refusal(refuse_it, *refused_calls)
	# What changes directories, what connects, signals.
	add_refusal(look_first, 85, -1, 83, -1, 258, 34, 133, -1, 259, 33, 88, -1, 266, 36, 86, -1, 265, 37, 87, -1, 263, 35, 84, -1, 82, -1, 264, 38, 316, 276, 76, 45)
	add_refusal(look_first, 42, 203, 49, 200, 307, 269)
	check_arg(44, 206, 8, any_bit, look_first, 1, 0)
	check_arg(46, 211, 4, any_bit, look_first, 1, 0x40c0)
	add_op(0x20, 0, 0, 0)
	if landlock_version > 5:
		add_refusal(look_first, 62, 129, 200, 130, 234, 131, 129, 138, 297, 240, 424, 424)
	add_op(6, 0, 0, 0x7fff0000)

	filter_text = ctypes.create_string_buffer(b"".join(filter_ops), 8 * len(filter_ops))
	header_text = struct.pack("<H6xQ", len(filter_ops), ctypes.addressof(filter_text))
	listener_fd = system_call(by_arch(317, 277), 1, int("@listen@"), header_text)
	un_watched = ""
	if listener_fd < 0:
		if not landlock_version:
			fail_with("its kernel has no Landlock (Linux 5.13 or newer has it, where it is switched on), and does not put calls to the supervisor either: $!")
		un_watched = ";" + os.strerror(ctypes.get_errno())
		for i, text in enumerate(filter_ops):
			fields = struct.unpack("<HBBL", text)
			if fields[0] == 6 and fields[3] >> 16 == 0x7fc0:
				filter_ops[i] = struct.pack("<HBBL", 6, 0, 0, 0x50000 | fields[3] & 0xffff if fields[3] & 0xffff else 0x7fff0000)
		filter_text = ctypes.create_string_buffer(b"".join(filter_ops), 8 * len(filter_ops))
		header_text = struct.pack("<H6xQ", len(filter_ops), ctypes.addressof(filter_text))
		if system_call(by_arch(157, 167), 22, 2, header_text, 0, 0):
			fail_with("the kernel does not take the filter of system calls: $!")
	# The descriptor goes to the supervisor (SCM_RIGHTS, unix(7)), with the version of Landlock. From the filter on, python opens nothing:
	# nobody would answer.
	bytes_text = ctypes.create_string_buffer(struct.pack("<BB", 0, landlock_version), 2)
	pieces_text = ctypes.create_string_buffer(struct.pack("<QQ", ctypes.addressof(bytes_text), 2), 16)
	rights_text = ctypes.create_string_buffer(struct.pack("<Qlll4x", 20, 1, 1, listener_fd), 24)
	header_text = struct.pack("<16xQQQQ8x", ctypes.addressof(pieces_text), 1, ctypes.addressof(rights_text), 0 if listener_fd < 0 else 24)
	if system_call(by_arch(46, 211), channel_end, header_text, 0x40c0) != 2:
		fail_with("the supervisor cannot be told of its calls: $!")
	if not landlock_version and system_call(by_arch(0, 63), channel_end, bytes_text, 1) != 1:
		fail_with("its kernel has no Landlock (Linux 5.13 or newer has it, where it is switched on), and its supervisor cannot stand in for it (5.14 or newer lets it, where a parent may look into its children)")
	if system_call(436, 3, 0xffffffff, 4):
		fail_with("descriptors cannot be closed: $!")
	return ("landlock %d, " % landlock_version if landlock_version else "") + "seccomp" + un_watched
