# Restricts the process that runs it as hold.pl does, in the same order and with the same numbers, where there is no perl: what
# framing.Shell.HoldPython takes. hold.pl says what each rule is for. A test compares the system calls of both.
#
#= ar this_arch the processor: 0 is x86-64, 1 is arm64
#= lv landlock_version of Landlock's interface
#= fr file_rights those that change files, as far as the version knows them
#= rs rule_set the descriptor of Landlock's rules
#= cn channel_end the end of the pair over which the listener goes
#= ev environment_of the shell's variables
#= lt long_type a C long
#= ct char_type a C char
#= ft_ call_type a function of C that sets errno
#= cs_ c_syscall syscall(2)
#= mb_ make_buffer makes memory that the kernel may write to
#= sc system_call makes one
#= by by_arch the number of this processor
#= fa fail_with ends with the reason
#= ap allow_place lets what lies at a path be written
#= pp place_path what a rule is about; empty is descriptor 0
#= pr place_rights what may be done there
#= pf place_fd its descriptor
#= ao add_op adds one instruction of BPF
#= fo filter_ops instructions of BPF
#= fw filter_rows what the filter consists of
#= kw known_words of rows, and their values
#= cl call_number of this processor
#= ah arg_half which half of an argument, counted from the first one's lower
#= am arg_mask the bits that matter
#= oy only_these whether the values are those that pass
#= vl the_values that are looked for
#= ta to_answer how many instructions to the answer
#= ft filter_text the instructions as the kernel takes them
#= ls listener_fd what brings the calls
#= uw un_watched why it does not
#= hd header_text of capset(2) and of the filter
#= mb what_may capabilities that may stay
#= pc pieces_text an iovec
#= rg rights_text SCM_RIGHTS
#= by2 bytes_text what is sent with the listener
import _ctypes, posix as os, _struct as struct
class long_type(_ctypes._SimpleCData): _type_ = "l"
class char_type(_ctypes._SimpleCData): _type_ = "c"
# FUNCFLAG_CDECL and FUNCFLAG_USE_ERRNO of ctypes.
class call_type(_ctypes.CFuncPtr): _flags_, _restype_ = 9, long_type
c_syscall = call_type(_ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall"))

def system_call(number, *arguments):
	return c_syscall(long_type(number), *[long_type(value) if isinstance(value, int) else value for value in arguments])

def make_buffer(text):
	buffer = (char_type * len(text))()
	buffer.raw = text
	return buffer

def fail_with(reason):
	raise Exception(reason.replace("$!", os.strerror(_ctypes.get_errno())))

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
		file_rights = 0x1ff2 | (0x2000 if landlock_version > 1 else 0)
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
				fail_with("the kernel does not take a rule of Landlock for " + place_path.decode("utf-8", "replace") + ": $!")
			if place_fd > 0:
				os.close(place_fd)
		for place_path in b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/tty":
			try:
				if os.stat(place_path).st_mode & 61440 == 8192:
					allow_place(place_path, 2)
			except OSError:
				pass
		if os.isatty(0):
			allow_place(b"", 2)
		allow_place(environment_of[b"TMPDIR"], 0x522)
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
	what_may = make_buffer(bytes(24))
	if system_call(by_arch(125, 90), header_text, what_may):
		fail_with("its capabilities cannot be read: $!")
	what_may = struct.pack("<6L", *[has & may for has, may in zip(struct.unpack("<6L", what_may.raw), (4, 4, 0, 4, 4, 0))])
	if system_call(by_arch(126, 91), header_text, what_may):
		fail_with("its capabilities cannot be dropped: $!")

	# seccomp (seccomp(2)). The filter is a list of rows, as it takes less time to read than code. A row is what follows, with what is before it
	# where it is only for some: "<6" for versions of Landlock below 6, ">5" for those above 5, "?" for a shell in which commands are tried.
	#
	#   c X86 ARM HALF MASK ANSWER ONLY VALUES...   answers a call by one half of an argument, counted from the first one's lower: by
	#                                               the bits of MASK, where they are one of VALUES, or if ONLY where they are none
	#   p X86 ARM                                   lets a call pass
	#   r ANSWER X86 ARM X86 ARM...                 answers calls whatever their arguments, once "l" has loaded the number
	#
	# R refuses, L has the supervisor look, A is any bit, and P the process.
	filter_ops = []
	add_op = lambda *fields: filter_ops.append(struct.pack("<HBBL", *fields))
	add_op(0x20, 0, 0, 4)
	add_op(0x15, 1, 0, by_arch(0xc000003e, 0xc00000b7))
	add_op(6, 0, 0, 0x80000000)
	add_op(0x20, 0, 0, 0)
	add_op(0x25, 0, 1, 469)
	add_op(6, 0, 0, 0x50026)
	# What opens files.
	filter_rows = "l;? r L 257 56 2 -1 89 -1 267 78;c 257 56 4 0x203 R 0 0x200 0x203;c 257 56 4 0x43 L 1 0;p 257 56;c 2 -1 2 0x203 R 0 0x200 0x203;c 2 -1 2 0x43 L 1 0;p 2 -1;"
	# fcntl, ioctl.
	filter_rows += "c 72 25 2 A R 0 8 10 15 1024 1026 1036 1038 1040;p 72 25;c 16 29 2 A R 1"
	filter_rows += " 0x5401 0x5402 0x5403 0x5404 0x5405 0x5406 0x5407 0x5408 0x5409 0x540a 0x540f 0x5410 0x5411 0x5413 0x5414 0x5415 0x5419 0x541b 0x541e 0x5421 0x5424 0x5429 0x5432 0x5450 0x5451 0x5456 0x545d 0x5460 0x802c542a"
	filter_rows += " 0x402c542b 0x402c542c 0x402c542d 0x80045430 0x80045432 0x80045438 0x80045439 0x8004543a 0x8004543b 0x8004543c 0x8004543d 0x8004543e 0x8004543f 0x80045440 0x80086601 0x80046601"
	filter_rows += " 0x80087601 0x801c581f 0xc020660b 1 2 0x81009431 0x80111500 0x125e 0x1260 0x1263 0x1265 0x1267 0x1268 0x80081270 0x80081272 0x1278 0x1279 0x127a 0x127b 0x127c 0x127e 0x80041284 0x80041285"
	filter_rows += " 0x80081280 0x301 0x30d 0xb701 0xb702 0xb703 0xb704 0x8008b705 0x80247009;p 16 29;"
	# clone and clone3, sockets.
	filter_rows += "c 56 220 0 0x7e020000 R 1 0;c 41 198 0 A R 1 16;c 41 198 4 A 0x7fc0005d 1 0 4 16;c 53 199 0 A R 1 1;c 53 199 2 15 R 1 1 5;c 54 208 2 A 0x50000 0 0 6 17 41;"
	# What succeeds and does nothing, flock, syslog.
	filter_rows += "c 91 52 2 A 0x50000 0 128 256;c 73 32 2 2 R 1 0;c 103 116 0 A R 1 3 9 10;"
	# Priorities, processors and limits.
	filter_rows += "c 203 122 0 A R 1 0;c 144 119 0 A R 1 0;c 142 118 0 A R 1 0;c 314 274 0 A R 1 0;c 141 140 0 A R 1 0;c 141 140 2 A R 1 0;c 251 30 0 A R 1 1;c 251 30 2 A R 1 0;"
	filter_rows += "c 302 261 0 A 0x7fff0000 0 0;c 302 261 4 A R 1 0;c 302 261 5 A R 1 0;<6 c 62 129 0 A 0x7fff0000 0 0 P;<6 c 62 129 2 A R 1 0 17;"
	# Numbers for x86-64, then for arm64; hold.pl has their names.
	filter_rows += "l;r 0x50026 435 435 437 437;r R 90 -1 91 52 268 53 452 452 92 -1 93 55 94 -1 260 54 188 5 189 6 190 7 463 463 197 14 198 15 199 16 466 466 469 469"
	filter_rows += " 132 -1 235 -1 261 -1 280 88 165 40 166 39 155 41 161 51 428 428 467 467 429 429 430 430 431 431 432 432 433 433 442 442"
	filter_rows += " 272 97 308 268 304 265 101 117 310 270 311 271 438 438 440 440 448 448 256 238 279 239"
	filter_rows += " 321 280 298 241 323 282 300 262 425 425 426 426 427 427 248 217 249 218 250 219"
	filter_rows += " 246 104 320 294 175 105 313 273 176 106 169 142 167 224 168 225 163 89 179 60 443 443"
	filter_rows += " 164 170 227 112 170 161 171 162 172 -1 173 -1 154 -1 153 58 134 -1 212 18"
	filter_rows += " 29 194 30 196 31 195 67 197 64 190 65 193 66 191 220 192 68 186 69 189 70 188 71 187"
	filter_rows += " 240 180 241 181 242 182 243 183 244 184 245 185 76 45;<6 r R 200 130 234 131 129 138 297 240 424 424;"
	# What changes directories, what connects, signals.
	filter_rows += "r L 85 -1 83 -1 258 34 133 -1 259 33 88 -1 266 36 86 -1 265 37 87 -1 263 35 84 -1 82 -1 264 38 316 276 76 45;r L 42 203 49 200 307 269;"
	filter_rows += "c 44 206 8 A L 1 0;c 46 211 4 A L 1 0x40c0;l;>5 r L 62 129 200 130 234 131 129 138 297 240 424 424"
	known_words = {"R": 0x7fc00001, "L": 0x7fc00000, "A": 0xffffffff, "P": os.getpid()}
	for row in filter_rows.split(";"):
		kind, *the_values = row.split()
		if kind < "a":
			if kind == "?" and not "@first@" or kind[0] == "<" and landlock_version >= int(kind[1]) or kind[0] == ">" and landlock_version <= int(kind[1]):
				continue
			kind, *the_values = the_values
		the_values = [known_words.get(word) or int(word, 0) for word in the_values]
		if kind == "l":
			add_op(0x20, 0, 0, 0)
		elif kind == "r":
			answer = the_values[0]
			for call_number in the_values[1 + this_arch::2]:
				if call_number >= 0:
					add_op(0x15, 0, 1, call_number)
					add_op(6, 0, 0, answer)
		elif the_values[this_arch] >= 0:
			add_op(0x20, 0, 0, 0)
			call_number = the_values[this_arch]
			if kind == "p":
				add_op(0x15, 0, 1, call_number)
				add_op(6, 0, 0, 0x7fff0000)
				continue
			arg_half, arg_mask, answer, only_these, *the_values = the_values[2:]
			add_op(0x15, 0, len(the_values) + 3, call_number)
			add_op(0x20, 0, 0, 16 + 4 * arg_half)
			add_op(0x54, 0, 0, arg_mask)
			to_answer = len(the_values)
			for value in the_values:
				to_answer -= 1
				if only_these:
					add_op(0x15, to_answer + 1, 0, value)
				else:
					add_op(0x15, to_answer, 0 if to_answer else 1, value)
			add_op(6, 0, 0, answer)
	add_op(6, 0, 0, 0x7fff0000)

	filter_text = make_buffer(b"".join(filter_ops))
	header_text = struct.pack("<H6xQ", len(filter_ops), _ctypes.addressof(filter_text))
	listener_fd = system_call(by_arch(317, 277), 1, int("@listen@"), header_text)
	un_watched = ""
	if listener_fd < 0:
		if not landlock_version:
			fail_with("its kernel has no Landlock (Linux 5.13 or newer has it, where it is switched on), and does not put calls to the supervisor either: $!")
		un_watched = ";" + os.strerror(_ctypes.get_errno())
		for i, text in enumerate(filter_ops):
			fields = struct.unpack("<HBBL", text)
			if fields[0] == 6 and fields[3] >> 16 == 0x7fc0:
				filter_ops[i] = struct.pack("<HBBL", 6, 0, 0, 0x50000 | fields[3] & 0xffff if fields[3] & 0xffff else 0x7fff0000)
		filter_text = make_buffer(b"".join(filter_ops))
		header_text = struct.pack("<H6xQ", len(filter_ops), _ctypes.addressof(filter_text))
		if system_call(by_arch(157, 167), 22, 2, header_text, 0, 0):
			fail_with("the kernel does not take the filter of system calls: $!")
	# The descriptor goes to the supervisor (SCM_RIGHTS, unix(7)), with the version of Landlock. From the filter on, python opens nothing:
	# nobody would answer.
	bytes_text = make_buffer(struct.pack("<BB", 0, landlock_version))
	pieces_text = make_buffer(struct.pack("<QQ", _ctypes.addressof(bytes_text), 2))
	rights_text = make_buffer(struct.pack("<Qlll4x", 20, 1, 1, listener_fd))
	header_text = struct.pack("<16xQQQQ8x", _ctypes.addressof(pieces_text), 1, _ctypes.addressof(rights_text), 0 if listener_fd < 0 else 24)
	if system_call(by_arch(46, 211), channel_end, header_text, 0x40c0) != 2:
		fail_with("the supervisor cannot be told of its calls: $!")
	if not landlock_version and system_call(by_arch(0, 63), channel_end, bytes_text, 1) != 1:
		fail_with("its kernel has no Landlock (Linux 5.13 or newer has it, where it is switched on), and its supervisor cannot stand in for it (5.14 or newer lets it, where a parent may look into its children)")
	if system_call(436, 3, 0xffffffff, 4):
		fail_with("descriptors cannot be closed: $!")
	return ("landlock %d, " % landlock_version if landlock_version else "") + "seccomp" + un_watched
