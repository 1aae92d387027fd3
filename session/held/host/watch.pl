# Answers the system calls of a held shell that hold.pl has the kernel put to the supervisor: what framing.Shell.Watch takes. Its
# value is the descriptor that brings them, a sub that answers those that wait, and one that kills what the shell has left running.
# The first sub returns what was refused, each as a text that held.Refused reads, and nothing at all once no process is left that
# could make such a call.
#
# A call that Landlock does not judge is refused here, whatever it is about. One that Landlock judges goes on to it where it would not
# change anything: the kernel then answers for itself, and refuses what a thread has put in the place of what was looked at here.
#
# Where everything that is opened is looked at (first), Landlock does not judge what is read. There nothing that opens for reading goes
# on: the supervisor opens what it has looked at, and gives that to the process.
#
# Where the kernel has no Landlock (version 0), nothing goes on that could change anything if a thread changed what was looked at: what
# may be done is done here, by a path of the supervisor's own in the room, or with what was opened and looked at afterwards.
#
#= $a $this_arch the processor: 0 is x86-64, 1 is arm64
#= $v $landlock_version of Landlock's interface
#= $l $listener the descriptor
#= $s $shell_pid the shell's process id
#= $d $own_session the session of the supervisor, in which the shell is
#= $t $own_terminal the device number of its terminal
#= $j $report whether the call is refused
#= k kind_of what a call does, and which of its arguments is the directory's descriptor and which the path
#= $p $pid of the process that makes the call
#= $r $room_dir the directory for temporary files
#= $b $read_at reads the memory of that process
#= $c $read_path reads a path there
#= $w $find_place follows links in a path as that process would
#= $o $stat_of fields of proc_pid_stat(5), from the parent's process id on
#= $i $is_inside whether a process is held with the shell
#= $n $call_number of the system call
#= $e $error_number what the call gets: 0 is whatever the kernel says
#= $x $first_text a path, or an address in hexadecimal
#= $y $second_text where something is moved to
#= $f $open_flags of open(2)
#= $h $parent_dir the directory of a path
#= $q $in_room whether a path is in the room
#= $u $other_pid a process
#= $A $call_id of the notification
#= $B $given whether the process has got its answer
#= $C $open_for opens what a process is to read
#= $D $crossed whether a link on the way has a name that is closed
#= $E $magic_link what of /proc leads to a file without a path; "" is nothing
#= $F $is_closed whether a path is closed for reading
#= $G $is_first whether everything that is opened is looked at
#= $H $give_end gives a process a descriptor instead of what it wants
#= $I $kill_rest kills what the shell has left running
#= $J $filters_of how many filters of system calls a process has
#= $K $pretends whether the call succeeds and does nothing
#= $g $give_pair gives a process one end of a pair of sockets instead of the socket that it wants
#= $P $connect_for connects for the process, to a socket that is open for it
#= $Q $socket_fd a descriptor of the process
#= o open_sockets paths of those sockets
#= $L $stand_in does what may be done, where Landlock does not judge it
#= $M $take_socket takes a descriptor of the process
#= $N $pinned_fd what lies at a path, whatever becomes of that
#= PD PROC_DIR the directory of processes
#= WM PROCESS_MEMORY the memory of a process
#= WS STAT_FILE proc_pid_stat(5)
#= WE PAIR_END the end that the process gets
#= WF PAIR_REST the other one
my ($this_arch, $listener, $own_session, %kind_of, $pid, $call_number, $error_number, $first_text, $second_text, $report, $call_id, $given, $crossed, $magic_link, $pretends);
my $is_first = "@first@";
my (undef, $shell_pid, $room_dir) = @_;
open(PROCESS_MEMORY, "</proc/self/exe") && sysread PROCESS_MEMORY, my $header, 20;
close PROCESS_MEMORY;
$this_arch = unpack("x18v", $header) == 183 ? 1 : 0;

# recvmsg(2) brings one byte, the version of Landlock, and behind a zero; with them the descriptor (SCM_RIGHTS, unix(7)).
my $bytes = pack "x2";
my $rights = pack "x24";
my $pieces = pack "PQ", $bytes, 2;
my $message = pack "x16PQPQx8", $pieces, 1, $rights, 24;
syscall($this_arch ? 212 : 47, $_[0], $message, 0x40000000) == 2 || die "no listener came: $!\n";
my $landlock_version = ord substr $bytes, 1;
(my $length, $listener) = unpack "Qx8l", $rights;
$length == 20 || return;
# Without Landlock it must be possible to read paths, and to give a descriptor as an answer: to a call that is none, ENOENT (2) is said. The
# supervisor's memory is closed (PR_SET_DUMPABLE), which Landlock hides elsewhere.
if (!$landlock_version) {
	open(PROCESS_MEMORY, "</proc/$shell_pid/mem") || die "paths cannot be read: $!\n";
	close PROCESS_MEMORY;
	my $fd = pack "QL4", 0, 2, 0, 0, 0;
	syscall($this_arch ? 29 : 16, $listener, 0x40182103, $fd) < 0 && $! == 2 || die "no descriptor can be given: $!\n";
	syscall 157 + 10 * $this_arch, 4, 0, 0, 0, 0;
	syscall $this_arch ? 64 : 1, $_[0], $bytes, 1
}
# PR_SET_CHILD_SUBREAPER: what loses its parents stays below the supervisor.
syscall 157 + 10 * $this_arch, 36, 1, 0, 0, 0;

# Kinds: o opens, m makes, r removes, t truncates, a changes attributes, k signals, s makes a socket, c connects or binds, d sends to
# an address, l reads a link. Then the arguments: 9 is the working directory.
my @rows = (2, -1, "o90", 257, 56, "o01", 85, -1, "o90", 83, -1, "m90", 258, 34, "m01", 133, -1, "m90", 259, 33, "m01", 88, -1, "m91", 266, 36, "m12",
	86, -1, "m91", 265, 37, "m23", 87, -1, "r90", 263, 35, "r01", 84, -1, "r90", 82, -1, "r9091", 264, 38, "r0123", 316, 276, "r0123", 76, 45, "t90",
	90, -1, "a90", 268, 53, "a01", 452, 452, "a01", 92, -1, "a90", 94, -1, "a90", 260, 54, "a01", 132, -1, "a90", 235, -1, "a90", 261, -1, "a01", 280, 88, "a01",
	188, 5, "a90", 189, 6, "a90", 197, 14, "a90", 198, 15, "a90", 463, 463, "a01", 466, 466, "a01", 469, 469, "a01",
	91, 52, "a0", 93, 55, "a0", 190, 7, "a0", 199, 16, "a0", 73, 32, "a0", 72, 25, "a0", 16, 29, "a0",
	62, 129, "k", 200, 130, "k", 234, 131, "k", 129, 138, "k", 297, 240, "k", 424, 424, "kp", 41, 198, "s", 42, 203, "c12", 49, 200, "b12", 44, 206, "d45", 46, 211, "d", 307, 269, "d",
	89, -1, "l90", 267, 78, "l01");
while (@rows) {
	$kind_of{$rows[$this_arch]} = $rows[2];
	splice @rows, 0, 3
}

my $stat_of = sub {
	local $/;
	open(STAT_FILE, "</proc/$_[0]/stat") || return;
	my @fields = <STAT_FILE> =~/.*\) \S (.*)/s ? split " ", $1 : ();
	close STAT_FILE;
	@fields
};
$own_session = ($stat_of->($$))[2];
my $own_terminal = (stat STDIN)[6];
# A process that has lost its parents is known by its session.
my $is_inside = sub {
	my $other_pid = shift;
	my ($parent, undef, $session) = $stat_of->($other_pid) or return 1;
	$other_pid == $$ && return 0;
	for (1..99) {
		$other_pid == $shell_pid && return 1;
		$other_pid < 2 && return $session == $own_session;
		$other_pid == $$ && return $session == $own_session;
		($other_pid) = $stat_of->($other_pid)
	}
	0
};
# What has lost its parents is below the supervisor all the same.
my $is_below = sub {
	my $other_pid = shift;
	for (1..999) {
		$other_pid == $$ && return 1;
		$other_pid < 2 && return 0;
		($other_pid) = $stat_of->($other_pid)
	}
	0
};
my $read_at = sub {
	my ($address, $count) = @_;
	my $text = "";
	sysopen(PROCESS_MEMORY, "/proc/$pid/mem", 0) && sysseek(PROCESS_MEMORY, $address, 0) && sysread PROCESS_MEMORY, $text, $count;
	close PROCESS_MEMORY;
	$text
};
my $read_path = sub {
	my $text = $read_at->($_[0], 4096);
	my $end = index $text, "\0";
	$end < 0 ? undef : substr $text, 0, $end
};
# What is closed for reading, and what belongs to other processes, which would look empty.
my @closed = map qr"$_", split " ", '@closed@';
my $is_closed = sub {
	my $place = shift;
	$place =~ "^/proc/(\\d+)/(task/\\d+/)?(exe|cwd|root|environ|auxv|fd|fdinfo|maps|map_files|mem|smaps|smaps_rollup|numa_maps|pagemap|ns|io|stack|syscall|wchan|personality)(/|\$)" && !$is_inside->($1) && return 1;
	for (@closed) { $place =~ $_ && return 1 }
	0
};
# Links of /proc that lead to what has no path end it: pipe:[1].
my $find_place = sub {
	my ($at, $path, $follow) = @_;
	$at = unpack "l", pack "L", $at & 0xffffffff;
	$crossed = 0;
	$magic_link = "";
	if ($path !~ "^/") {
		my $dir = readlink($at == -100 ? "/proc/$pid/cwd" : "/proc/$pid/fd/$at");
		defined $dir or return;
		$dir =~ "^/" or return $dir;
		$path = "$dir/$path"
	}
	my ($place, $links, @steps) = ("", 40, split "/", $path);
	while (@steps) {
		my $step = shift @steps;
		$step eq "" || $step eq "." and next;
		if ($step eq "..") { $place =~ "(?s)^(.*)/" and $place = $1; next }
		my $next = "$place/$step";
		$next eq "/proc/self" and $next = "/proc/$pid";
		$next eq "/proc/thread-self" and $next = "/proc/$pid/task/$pid";
		if ((@steps || $follow) && $links-- && defined(my $link = readlink $next)) {
			$is_first && $is_closed->($next) && ($crossed = 1);
			if ($next =~ "^/proc/" && ($link =~ "^[^/]+:|deleted.\$" || !@steps && $link =~ "^/proc/")) { $magic_link = $next; return $link }
			unshift @steps, split "/", $link;
			$link =~ "^/" and $place = "";
			next
		}
		$place = $next
	}
	$place eq "" ? "/" : $place
};
# 2 is SECCOMP_ADDFD_FLAG_SEND, 0x80000 is O_CLOEXEC and SOCK_CLOEXEC.
my $give_end = sub {
	my $fd = pack "QL4", $call_id, 2, $_[0], 0, $_[1] & 0x80000;
	$given = syscall($this_arch ? 29 : 16, $listener, 0x40182103, $fd) >= 0;
	$given && ($report = 0)
};
# What is connected to a closed other end can neither be connected nor send anywhere: EISCONN, EPIPE.
my $give_pair = sub {
	my $type = shift;
	socketpair(PAIR_END, PAIR_REST, 1, 1, 0) || return;
	close PAIR_REST;
	$type & 2048 && fcntl PAIR_END, 4, 2048;
	$give_end->(fileno PAIR_END, $type);
	close PAIR_END
};

# Reads what lies at $first_text for a process, if that may be: no named pipe, which would take what others write, and no device but a few.
# 0x20000 and 0x8000 are O_NOFOLLOW, 0x2000 is O_ASYNC, 0x100 is O_NOCTTY. What was opened is looked at once more, as links may have
# changed; so is what another file system of processes (0x9fa0) shows.
my $open_for = sub {
	my ($path, $open_flags, $follow) = @_;
	$error_number = 13;
	!defined $first_text || $crossed || $is_closed->($first_text) and return;
	my $where = $magic_link ne "" ? $magic_link : $first_text;
	my @stat = $path eq "" ? () : $follow ? stat $where : lstat $where;
	my $type = @stat ? $stat[2] & 61440 : 0;
	if (!@stat) {
		$open_flags & 0x40 && $path ne "" && -d ($where =~ "(?s)^(/.*)/" ? $1 : "/") and return;
		$report = 0;
		$error_number = $path eq "" ? 2 : $! + 0;
		return
	}
	if (($open_flags & 0xc0) == 0xc0) { $report = 0; $error_number = 17; return }
	if ($open_flags & 0x200) { $error_number = 1; return }
	$type == 4096 && $first_text !~ "^pipe:" || $type == 24576 and return;
	$type == 8192 && $where !~ "^/dev/(null|zero|full|tty|random|urandom)\$" && $stat[6] != $own_terminal and return;
	my $fd = syscall $this_arch ? 56 : 257, -100, $where, ($open_flags & ~0x820c0) | 0x100 | ($magic_link ne "" ? 0 : $this_arch ? 0x8000 : 0x20000), 0;
	if ($fd < 0) { $report = 0; $error_number = $! + 0; return }
	my $real = readlink "/proc/self/fd/$fd";
	my $system = pack "x256";
	syscall $this_arch ? 44 : 138, $fd, $system;
	!defined $real || $is_closed->($real) || unpack("Q", $system) == 0x9fa0 && $real !~ "^/proc/" or $give_end->($fd, $open_flags);
	syscall $this_arch ? 57 : 3, $fd
};
# Does what would go on if Landlock judged it. 0x103, 0x105, 0x107 and 0x500 are /dev/null, zero, full and tty, 0x50495045 is the file
# system of pipes that have no names.
my $stand_in = sub {
	my ($kind, $place, $in_room, $type, $missing, $path, $open_flags, $follow, @args) = @_;
	my $fd = -1;
	$pretends = 1;
	if ($kind eq "m") {
		$error_number = $type ? 17 : $missing;
		$in_room && !$type && ($report = 1, $error_number = 13)
	} elsif ($kind eq "r") {
		my $which = $call_number + 1000 * $this_arch;
		$error_number = !$type ? $missing : (
			$second_text ne "" ? syscall $this_arch ? 276 : 316, -100, $place, -100, $second_text, $which =~ "^(316|1276)\$" ? $args[4] : 0
			: syscall $this_arch ? 35 : 263, -100, $place, $which == 84 ? 512 : $which =~ "^(263|1035)\$" ? $args[2] : 0) < 0 ? $! + 0 : 0
	} elsif ($in_room) {
		my $mode = $args[$this_arch || $call_number == 257 ? 3 : $call_number == 2 ? 2 : 1];
		$fd = syscall $this_arch ? 56 : 257, -100, $place, ($open_flags & ~0x82000) | 0x100 | ($this_arch ? 0x8000 : 0x20000), $mode & 438 & ~umask;
		$error_number = $! + 0
	} elsif ($path eq "" || !$type && $magic_link eq "") {
		$error_number = $path eq "" ? 2 : $missing
	} elsif (($open_flags & 0xc0) == 0xc0) {
		$error_number = 17
	} elsif ($type == 16384) {
		$error_number = 21
	} elsif (!($open_flags & 3)) {
		$open_for->($path, $open_flags, $follow)
	} else {
		$report = 1;
		$error_number = 13;
		my $where = $magic_link ne "" ? $magic_link : $place;
		my $pinned_fd = syscall $this_arch ? 56 : 257, -100, $where, 0x200000, 0;
		my $pinned_path = "/proc/self/fd/$pinned_fd";
		my @stat = stat $pinned_path;
		my $system = pack "x256";
		syscall $this_arch ? 44 : 138, $pinned_fd, $system;
		if (@stat && (($stat[2] & 61440) == 8192 ? $stat[6] =~ "^(259|261|263|1280)\$" || $stat[6] == $own_terminal : unpack("Q", $system) == 0x50495045)) {
			# Without O_NOFOLLOW of both processors: what it is of was found.
			$fd = syscall $this_arch ? 56 : 257, -100, $pinned_path, ($open_flags & ~0xaa2c0) | 0x100, 0;
			$fd < 0 && ($report = 0, $error_number = $! + 0)
		}
		# What has a socket there says ENXIO.
		@stat && ($stat[2] & 61440) == 49152 && ($report = 0, $error_number = 6);
		$pinned_fd < 0 || syscall $this_arch ? 57 : 3, $pinned_fd
	}
	if ($fd >= 0) {
		$give_end->($fd, $open_flags);
		syscall $this_arch ? 57 : 3, $fd
	}
};
# What opens, makes, removes or changes something that has a path.
my $judge_path = sub {
	my ($kind, $at, $where, $to_at, $to, @args) = @_;
	my $path = defined $where ? $args[$where] ? $read_path->($args[$where]) : "" : "";
	my $open_flags = $kind ne "o" ? 0 : $call_number == 85 && !$this_arch ? 0x241 : $args[$at == 9 ? 1 : 2];
	my $truncates = ($open_flags & 0x203) =~ "^51[25]\$";
	my $follow = $kind eq "o" ? !($open_flags & ($this_arch ? 0x8000 : 0x20000)) && ($open_flags & 0xc0) != 0xc0 : $kind =~ "[ta]";
	$first_text = defined $path ? $find_place->($at == 9 ? -100 : $args[$at], $path, $follow) : undef;
	if ($is_first && $kind eq "o" && !($open_flags & 3)) {
		defined $path || ($first_text = undef);
		$open_for->($path, $open_flags, $follow);
		return
	}
	# Attributes: whatever they are of, but for the times of temporary files, and modes that make no program of them: that succeeds, and
	# nothing is done.
	if ($kind eq "a") {
		defined $first_text && $first_text =~ "^\Q$room_dir\E/" or return;
		my $which = $call_number + 1000 * $this_arch;
		my $mode = $which =~ "^(90|91|1052)\$" ? $args[1] : $which =~ "^(268|452|1053|1452)\$" ? $args[2] : $which =~ "^(132|235|261|280|1088)\$" ? 0 : 73;
		$mode & 73 || ($report = $error_number = 0, $pretends = 1);
		return
	}
	# What cannot be looked at is Landlock's to judge, where it does.
	defined $first_text || return !$landlock_version || $truncates || $kind eq "t" || ($error_number = 0);
	my $place = $first_text;
	my $parent_dir = $place =~ "(?s)^(/.*)/" ? $1 : "/";
	my $in_room = $parent_dir eq $room_dir;
	my @stat = $kind =~ "[ot]" ? stat $place : lstat $place;
	my $missing = $! + 0;
	my $type = @stat ? $stat[2] & 61440 : 0;
	my $goes_on = 0;
	# ksh93 keeps what $(...) and here-documents hold in a file that it makes in /dev/shm and removes at once: it gets one that never had
	# a name (memfd_create(2)). 0xc2 is O_RDWR|O_CREAT|O_EXCL.
	if ($kind eq "o" && ($open_flags & 0xc3) == 0xc2 && $place =~ "^/dev/shm/sf\\w+[.]\\w+\$" && !@stat) {
		my $program = readlink "/proc/$pid/exe";
		if (defined $program && $program =~ "ksh[^/]*\$" && $program eq readlink "/proc/$shell_pid/exe") {
			my $name = "ksh";
			my $fd = syscall $this_arch ? 279 : 319, $name, 1;
			if ($fd >= 0) {
				$give_end->($fd, $open_flags);
				syscall $this_arch ? 57 : 3, $fd;
				return
			}
		}
	}
	$error_number = $truncates ? 1 : 13;
	if ($kind eq "o") {
		my $makes = $open_flags & 0x40;
		$goes_on = $place =~ "^[^/]|^/memfd:" || $in_room || (@stat
			? $type == 16384 && !($open_flags & 0x400000) || ($open_flags & 0xc0) == 0xc0 || !($open_flags & 0x203) && !$is_closed->($place)
				|| $type == 8192 && ($place =~ "^/dev/(null|zero|full|tty)\$" || $stat[6] == $own_terminal)
			: (!$makes || !-d $parent_dir) && $place !~ "deleted.\$");
		$truncates && ($goes_on = 0)
	} elsif ($kind eq "l") {
		$goes_on = !$crossed && !$is_closed->($place)
	} elsif ($kind eq "m") {
		my $mode = $args[$at == 9 ? 1 : 2] & 61440;
		$goes_on = @stat || !-d $parent_dir || $in_room && $call_number =~ "^(133|259|33)\$" && $mode =~ "^(0|4096|32768)\$"
	} elsif ($kind eq "r") {
		$second_text = defined $to ? $find_place->($to_at == 9 ? -100 : $args[$to_at], $read_path->($args[$to]), 0) : "";
		$goes_on = !@stat || $in_room && (!defined $to || $second_text =~ "^\Q$room_dir\E/[^/]+\$")
	} else {
		# Temporary files are truncated here, up to the size that they may have (27 is EFBIG).
		$in_room || !@stat and $error_number = !@stat ? $missing : $args[1] > 1 << 30 ? 27 : syscall($this_arch ? 45 : 76, $place, $args[1]) && $! + 0, $report = 0, $pretends = 1;
		return
	}
	$goes_on || return;
	$report = $error_number = 0;
	$landlock_version || $kind eq "l" || $stand_in->($kind, $place, $in_room, $type, $missing, $path, $open_flags, $follow, @args)
};
# A descriptor of the process. It is the process's threads' too: 434 is pidfd_open(2), 438 pidfd_getfd(2).
my $take_socket = sub {
	local $/;
	open(STAT_FILE, "</proc/$pid/status") && <STAT_FILE> =~ "Tgid:\\s+(\\d+)" or return -1;
	close STAT_FILE;
	my $of_process = syscall 434, 0 + $1, 0;
	my $taken = syscall 438, $of_process, $_[0] & 0xffffffff, 0;
	$of_process < 0 || syscall $this_arch ? 57 : 3, $of_process;
	$taken
};
# Signals: without Landlock's own bounds for them none is left to the kernel.
my $judge_signal = sub {
	my $other_pid = unpack "l", pack "L", $_[2] & 0xffffffff;
	if (defined $_[1]) {
		local $/;
		open(STAT_FILE, "</proc/$pid/fdinfo/$other_pid") && <STAT_FILE> =~ "Pid:\\s+(\\d+)" and $other_pid = $1;
		close STAT_FILE
	}
	$first_text = $other_pid;
	$landlock_version < 6 && return;
	if ($other_pid == -1) { $error_number = 0 }
	elsif (!$other_pid || $is_inside->(abs $other_pid)) { $report = $error_number = 0 }
};
# Those that are open for the command are connected here, to a path of the supervisor's own, and the connection takes the place of the
# process's dead end (SECCOMP_ADDFD_FLAG_SETFD is 1). So no process gets a socket that it could connect or send elsewhere. Only streams
# are. 4 is F_SETFL, 2048 O_NONBLOCK: where the service takes no more connections, the process hears of it (EAGAIN).
my %open_sockets = map { s/%U/$</; ($_, 1) } split " ", '@sockets@';
my $connect_for = sub {
	my ($socket_fd, $path) = @_;
	$socket_fd = $socket_fd & 0xffffffff;
	$report = 0;
	$error_number = 88;
	my $link = readlink "/proc/$pid/fd/$socket_fd";
	defined $link && $link =~ "^socket:" || return;
	local $/;
	my $open_flags = open(STAT_FILE, "</proc/$pid/fdinfo/$socket_fd") && <STAT_FILE> =~ "flags:\\s+(\\d+)" ? oct $1 : 0;
	close STAT_FILE;
	if (socket(PAIR_END, 1, 1, 0) && fcntl(PAIR_END, 4, 2048) && connect PAIR_END, pack "Sa*x", 1, $path) {
		$open_flags & 2048 || fcntl PAIR_END, 4, 0;
		my $fd = pack "QL4", $call_id, 1, fileno PAIR_END, $socket_fd, $open_flags & 0x80000;
		$error_number = syscall($this_arch ? 29 : 16, $listener, 0x40182103, $fd) < 0 ? $! + 0 : 0;
		$pretends = 1
	} else { $error_number = $! + 0 }
	close PAIR_END
};
# Addresses that something is connected, bound or sent to. The sockets themselves go nowhere: what is said here only names them.
my $judge_address = sub {
	my ($kind, $address, $count, $socket_fd) = @_;
	my $text = $address ? $read_at->($address, $count > 127 ? 128 : $count) : "";
	$first_text = $text ne "" || !$address ? unpack "H*", $text : undef;
	my $family = $text eq "" ? 0 : unpack "S", $text;
	defined $first_text && (!$family || $family == 16) and $report = $error_number = 0;
	# Without Landlock, an address that changes would name a socket in a directory: it is bound here, if it is netlink's (16; 39 is SO_DOMAIN).
	if ($kind eq "b" && !$error_number && !$landlock_version) {
		my $taken = $take_socket->($socket_fd);
		my $domain = pack "l", 0;
		my $size = pack "L", 4;
		$pretends = 1;
		$error_number = syscall($this_arch ? 209 : 55, $taken, 1, 39, $domain, $size) < 0 || unpack("l", $domain) != 16 ? 1
			: syscall($this_arch ? 200 : 49, $taken, $text, length $text) < 0 ? $! + 0 : 0;
		$taken < 0 || syscall $this_arch ? 57 : 3, $taken
	}
	if ($family == 1 && $kind eq "c" && $text =~ "(?s)^..[^\0].") {
		my $path = unpack "x2Z*", $text;
		$open_sockets{$path} and return $connect_for->($socket_fd, $path);
		my $socket = $find_place->(-100, $path, 1);
		# Programs that find no nscd(8) look names up themselves.
		defined $socket && (!-e $socket || $socket eq "/run/nscd/socket") and $report = 0, $error_number = 2
	}
};

# They are those below the supervisor that more filters hold than the supervisor itself. All are stopped before one is killed, so that
# none starts another meanwhile.
my $filters_of = sub {
	local $/;
	open(STAT_FILE, "</proc/$_[0]/status") || return 0;
	my $count = <STAT_FILE> =~ "Seccomp_filters:\\s+(\\d+)" ? $1 : 0;
	close STAT_FILE;
	$count
};
my $kill_rest = sub {
	my $poll = pack "lss", $listener, 1, 0;
	my $now = pack "x16";
	syscall $this_arch ? 73 : 271, $poll, 1, $now, 0, 0;
	16 & unpack "x6s", $poll and return;
	my $own_count = $filters_of->($$);
	my %known;
	for (1..99) {
		opendir(PROC_DIR, "/proc") || return;
		my @all = grep { !/\D/ && $_ != $$ && $filters_of->($_) > $own_count && $is_below->($_) } readdir PROC_DIR;
		closedir PROC_DIR;
		my @new = grep { !$known{$_}++ } @all;
		if (@new) { kill "STOP", @new; next }
		kill "KILL", @all;
		1 while 0 < waitpid -1, 1;
		@all || last;
		%known = ();
		select undef, undef, undef, .01
	}
};

($listener, sub {
	my @told;
	for (1..200) {
		my $poll = pack "lss", $listener, 1, 0;
		my $now = pack "x16";
		syscall $this_arch ? 73 : 271, $poll, 1, $now, 0, 0;
		my $events = unpack "x6s", $poll;
		$events & 1 || return $events & 16 ? (@told, undef) : @told;
		my $call = pack "x80";
		syscall($this_arch ? 29 : 16, $listener, 0xc0502100, $call) < 0 && next;
		($call_id, $pid, $call_number, my @args) = unpack "QLx4lx12Q6", $call;
		my ($kind, @where) = split "", $kind_of{$call_number} || "-";
		($report, $error_number, $first_text, $second_text) = (1, 1, "", "");
		$given = $pretends = 0;
		if ($kind =~ "[omrtal]") {
			$judge_path->($kind, @where[0..3], @args)
		} elsif ($kind eq "k") {
			$judge_signal->($kind, @where[0..0], @args)
		} elsif ($kind eq "s") {
			my ($domain, $type, $protocol) = map { $_ & 0xffffffff } @args;
			$domain == 16 && ($error_number = 93);
			if ($domain =~ "^(1|2|10)\$" && ($type & 15) =~ "^[12]\$" && $protocol =~ "^(0|6|17|262)\$" || $domain == 1 && ($type & 15) == 5) {
				$give_pair->($type)
			}
		} elsif ($kind eq "d" && !@where) {
			$judge_address->($kind, unpack "QL", $read_at->($args[1], 16))
		} elsif ($kind =~ "[bcd]") {
			$judge_address->($kind, $args[$where[0]], $args[$where[1]] & 0xffffffff, $args[0])
		}
		# What was read was the caller's only if the call still waits.
		my $still = pack "Q", $call_id;
		$given || syscall($this_arch ? 29 : 16, $listener, 0x80082102, $still) >= 0 || next;
		$report && push @told, join "\0", join(";", $this_arch, $call_number, @args), map { defined $_ ? "=$_" : "?" } $first_text, $second_text;
		# 1 is SECCOMP_USER_NOTIF_FLAG_CONTINUE.
		my $answer = pack "Qqll", $call_id, 0, -$error_number, !$error_number && !$pretends;
		$given || syscall $this_arch ? 29 : 16, $listener, 0xc0182101, $answer
	}
	@told
}, $kill_rest)
