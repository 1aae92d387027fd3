# Restricts the process that runs it, and all that it becomes and starts, to reading: what framing.Shell.Hold takes. Its value says
# what holds it; it dies with the reason where something cannot be had, and then nothing may run.
#
# It may still write to /dev/null and the like, to its own terminal, and into the directory that TMPDIR names.
#
#= $a $this_arch the processor: 0 is x86-64, 1 is arm64
#= $v $landlock_version of Landlock's interface
#= $f $file_rights those that change files, as far as the version knows them
#= $s $rule_set the descriptor of Landlock's rules
#= $w $allow_place lets what lies at a path be written
#= $o $add_op adds one instruction of BPF
#= $c $check_arg answers a call by one half of an argument
#= @p @filter_ops instructions of BPF
#= $n $call_number of a system call
#= $l $filter_text the instructions as the kernel takes them
#= $d $header_text of capset(2) and of the filter
#= $m $what_may_be of a rule of Landlock
#= $q $place_path what a rule is about; "" is descriptor 0
#= $g $place_rights what may be done there
#= $e $elf_class of perl: 258 is 64 bits, little-endian
#= $k $elf_machine of perl
#= $h $arg_half which half of an argument, counted from the first one's lower
#= $b $arg_mask the bits that matter
#= $u $any_bit all of them
#= $y $to_answer how many instructions to the answer
#= $z $is_last for the last value
#= $j $x86_number of a system call
#= $t $arm_number of a system call
#= $A $let_pass lets a call pass
#= @r @refused_calls numbers of system calls
#= $x $add_refusal answers calls whatever their arguments
#= P PLACE_FILE what a rule is about
my ($this_arch, $landlock_version, $file_rights, $rule_set, @filter_ops);

# perl's own ELF header (elf(5)) says whose system calls it makes: 64 bits, little-endian, x86-64 (62) or AArch64 (183).
open(PLACE_FILE, "</proc/self/exe") && sysread PLACE_FILE, my $header_text, 20;
close PLACE_FILE;
my ($elf_class, $elf_machine) = unpack "x4vx12v", $header_text;
$this_arch = $elf_class != 258 ? -1 : $elf_machine == 62 ? 0 : $elf_machine == 183 ? 1 : -1;
$this_arch < 0 && die "its processor is neither x86-64 nor arm64\n";

# Variables that may hold secrets are left out where a command is only tried; see package judge for the names.
if ("@first@") { delete $ENV{$_} for grep { length > 4 && (uc) =~ "SECRET|TOKEN|PASSW|PASSPHRASE|CREDENTIAL|APIKEY|API_KEY|ACCESS_KEY|PRIVATE_KEY|_PASS|_PWD|AUTH_KEY|DATABASE_URL|_DSN|_KEY\$|^PGPASS\$" } keys %ENV }
# No core is written and none is handed to a program (1, not 0: core(5)); files in TMPDIR have 1 GiB at most.
for ([4, 1], [1, 1 << 30]) { syscall $this_arch ? 164 : 160, $_->[0], pack "Q2", $_->[1], $_->[1] }
syscall(157 + 10 * $this_arch, 38, 1, 0, 0, 0) && die "the kernel does not take no_new_privs: $!\n";

# Landlock (landlock(7)): its numbers are the same everywhere. Version 2 knows moves between directories, 4 TCP, 6 signals and
# abstract sockets. Version 3 knows truncation too, but would walk up to the root for each file that is read: the filter judges that.
$landlock_version = syscall 444, 0, 0, 1;
$landlock_version = 0 + "@newest@" if $landlock_version > 0 + "@newest@";
# Without it, what it would judge is the supervisor's to do: see watch.pl.
if ($landlock_version > 0) {
	$file_rights = 0x1ff2 | ($landlock_version > 1 && 0x2000);
	$header_text = substr pack("Q3", $file_rights, 3, 3), 0, $landlock_version > 5 ? 24 : $landlock_version > 3 ? 16 : 8;
	$rule_set = syscall 444, $header_text, length $header_text, 0;
	$rule_set < 0 && die "the kernel does not take Landlock's rules: $!\n";
	# 0x200000 is O_PATH.
	my $allow_place = sub {
		my ($place_path, $place_rights) = @_;
		my $what_may_be = pack "Ql", $place_rights & $file_rights, $place_path eq "" ? 0 : sysopen(PLACE_FILE, $place_path, 0x200000) ? fileno PLACE_FILE : -1;
		syscall(445, $rule_set, 1, $what_may_be, 0) && die "the kernel does not take a rule of Landlock for $place_path: $!\n";
		close PLACE_FILE
	};
	for ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty") { -c $_ && $allow_place->($_, 2) }
	# Descriptor 0, the terminal.
	-t STDIN && $allow_place->("", 2);
	# Beneath TMPDIR: files and named pipes, made, written, removed. No directories, links, sockets, devices.
	$allow_place->($ENV{TMPDIR}, 0x522);
	syscall(446, $rule_set, 0) && die "the kernel does not take Landlock: $!\n"
} else { $landlock_version = 0 }

# Capabilities (capabilities(7)): of root's, CAP_DAC_READ_SEARCH and CAP_SYSLOG stay, which read.
syscall 157 + 10 * $this_arch, 47, 4, 0, 0, 0;
for (0..63) { $_ == 2 || $_ == 34 || syscall 157 + 10 * $this_arch, 24, $_, 0, 0, 0 }
$header_text = pack "LL", 0x20080522, 0;
my $what_may_be = pack "x24";
syscall(125 - 35 * $this_arch, $header_text, $what_may_be) && die "its capabilities cannot be read: $!\n";
$what_may_be = $what_may_be & pack "L6", 4, 4, 0, 4, 4, 0;
syscall(126 - 35 * $this_arch, $header_text, $what_may_be) && die "its capabilities cannot be dropped: $!\n";

# seccomp (seccomp(2)): a program of BPF that looks at a call's number at 0, the processor at 4 and the halves of its
# arguments from 16 on. It answers ENOSYS (0x50026), or has watch.pl in the supervisor answer: a refusal whatever that says (EPERM,
# 0x7fc00001; EPROTONOSUPPORT, 0x7fc0005d), or what Landlock judges beneath (0x7fc00000).
my $add_op = sub { push @filter_ops, pack "SCCL", @_ };
# What a call gets when half number $_[2] of its arguments, and $_[3], is one of those from $_[5] on, or none where $_[4].
my $check_arg = sub {
	my ($x86_number, $arm_number, $arg_half, $arg_mask, $answer, $only, @values) = @_;
	my $call_number = $this_arch ? $arm_number : $x86_number;
	$call_number < 0 && return;
	$add_op->(0x20, 0, 0, 0);
	$add_op->(0x15, 0, @values + 3, $call_number);
	$add_op->(0x20, 0, 0, 16 + 4 * $arg_half);
	$add_op->(0x54, 0, 0, $arg_mask);
	for my $i (1..@values) {
		my $to_answer = @values - $i;
		my $is_last = $i == @values;
		$only ? $add_op->(0x15, $to_answer + 1, 0, $values[$i - 1]) : $add_op->(0x15, $to_answer, $is_last ? 1 : 0, $values[$i - 1])
	}
	$add_op->(6, 0, 0, $answer)
};
# Lets the rest of a call's arguments be what they may: it is called often, and need not pass the list below.
my $let_pass = sub {
	$_[$this_arch] < 0 && return;
	$add_op->(0x20, 0, 0, 0);
	$add_op->(0x15, 0, 1, $_[$this_arch]);
	$add_op->(6, 0, 0, 0x7fff0000)
};
my $any_bit = 0xffffffff;
my $refuse = 0x7fc00001;
my $look = 0x7fc00000;

# Other processors' system calls have other numbers. What is newer than file_setattr is not known.
$add_op->(0x20, 0, 0, 4);
$add_op->(0x15, 1, 0, $this_arch ? 0xc00000b7 : 0xc000003e);
$add_op->(6, 0, 0, 0x80000000);
$add_op->(0x20, 0, 0, 0);
$add_op->(0x25, 0, 1, 469);
$add_op->(6, 0, 0, 0x50026);

my $add_refusal = sub {
	my $answer = shift;
	while (@_) {
		my $call_number = $_[$this_arch];
		splice @_, 0, 2;
		$call_number < 0 || ($add_op->(0x15, 0, 1, $call_number), $add_op->(6, 0, 0, $answer))
	}
};
# What opens files is looked at where it may change them, or all of it: then readlink and readlinkat too.
$add_op->(0x20, 0, 0, 0);
"@first@" && $add_refusal->($look, 257, 56, 2, -1, 89, -1, 267, 78);
# open and openat with O_TRUNC but not for writing empty a file all the same.
$check_arg->(257, 56, 4, 0x203, $refuse, 0, 0x200, 0x203);
$check_arg->(257, 56, 4, 0x43, $look, 1, 0);
$let_pass->(257, 56);
$check_arg->(2, -1, 2, 0x203, $refuse, 0, 0x200, 0x203);
$check_arg->(2, -1, 2, 0x43, $look, 1, 0);
$let_pass->(2, -1);
# fcntl: owners of signals, leases, notices, hints.
$check_arg->(72, 25, 2, $any_bit, $refuse, 0, 8, 10, 15, 1024, 1026, 1036, 1038, 1040);
$let_pass->(72, 25);
# ioctl, by what is asked for: terminals but for typing into them, then files, disks, name spaces and the clock.
$check_arg->(16, 29, 2, $any_bit, $refuse, 1, 0x5401..0x540a, 0x540f..0x5411, 0x5413..0x5415, 0x5419, 0x541b, 0x541e, 0x5421, 0x5424, 0x5429,
	0x5432, 0x5450, 0x5451, 0x5456, 0x545d, 0x5460, 0x802c542a, 0x402c542b..0x402c542d, 0x80045430, 0x80045432, 0x80045438..0x80045440,
	0x80086601, 0x80046601, 0x80087601, 0x801c581f, 0xc020660b, 1, 2, 0x81009431, 0x80111500,
	0x125e, 0x1260, 0x1263, 0x1265, 0x1267, 0x1268, 0x80081270, 0x80081272, 0x1278..0x127c, 0x127e, 0x80041284, 0x80041285, 0x80081280,
	0x301, 0x30d, 0xb701..0xb704, 0x8008b705, 0x80247009);
$let_pass->(16, 29);
# clone and clone3: no name spaces.
$check_arg->(56, 220, 0, 0x7e020000, $refuse, 1, 0);
# Sockets: netlink's for routes, sockets and generic; pairs, but not of datagrams, which can be sent elsewhere.
$check_arg->(41, 198, 0, $any_bit, $refuse, 1, 16);
$check_arg->(41, 198, 4, $any_bit, 0x7fc0005d, 1, 0, 4, 16);
$check_arg->(53, 199, 0, $any_bit, $refuse, 1, 1);
$check_arg->(53, 199, 2, 15, $refuse, 1, 1, 5);
# Options of IP, TCP, UDP and IPv6 are set on what watch.pl gives instead of a socket: it succeeds, and nothing is done.
$check_arg->(54, 208, 2, $any_bit, 0x50000, 0, 0, 6, 17, 41);
# ksh93 does this to the pairs that it makes its pipelines of: it succeeds, and nothing is done.
$check_arg->(91, 52, 2, $any_bit, 0x50000, 0, 128, 256);
# flock: shared locks only. syslog: reads only.
$check_arg->(73, 32, 2, 2, $refuse, 1, 0);
$check_arg->(103, 116, 0, $any_bit, $refuse, 1, 3, 9, 10);
# Priorities, processors and limits: of the caller alone. 0x7fff0000 allows.
for ([203, 122], [144, 119], [142, 118], [314, 274]) { $check_arg->(@$_, 0, $any_bit, $refuse, 1, 0) }
$check_arg->(141, 140, 0, $any_bit, $refuse, 1, 0);
$check_arg->(141, 140, 2, $any_bit, $refuse, 1, 0);
$check_arg->(251, 30, 0, $any_bit, $refuse, 1, 1);
$check_arg->(251, 30, 2, $any_bit, $refuse, 1, 0);
$check_arg->(302, 261, 0, $any_bit, 0x7fff0000, 0, 0);
$check_arg->(302, 261, 4, $any_bit, $refuse, 1, 0);
$check_arg->(302, 261, 5, $any_bit, $refuse, 1, 0);
# Without Landlock's own bounds for signals, only the shell and the caller's own group get any; but SIGCHLD (17), which mksh sends to
# itself, does nothing to others.
if ($landlock_version < 6) {
	$check_arg->(62, 129, 0, $any_bit, 0x7fff0000, 0, 0, $$);
	$check_arg->(62, 129, 2, $any_bit, $refuse, 1, 0, 17)
}

# Numbers for x86-64, then for arm64. -1 is on no processor. Programs use what clone3 and openat2 replaced where they are missing,
# and that has its arguments in sight.
my @refused_calls = (
	# chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat
	90, -1, 91, 52, 268, 53, 452, 452, 92, -1, 93, 55, 94, -1, 260, 54,
	# setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr
	188, 5, 189, 6, 190, 7, 463, 463, 197, 14, 198, 15, 199, 16, 466, 466, 469, 469,
	# utime utimes futimesat utimensat
	132, -1, 235, -1, 261, -1, 280, 88,
	# mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr
	165, 40, 166, 39, 155, 41, 161, 51, 428, 428, 467, 467, 429, 429, 430, 430, 431, 431, 432, 432, 433, 433, 442, 442,
	# unshare setns open_by_handle_at ptrace process_vm_readv process_vm_writev
	272, 97, 308, 268, 304, 265, 101, 117, 310, 270, 311, 271,
	# pidfd_getfd process_madvise process_mrelease migrate_pages move_pages
	438, 438, 440, 440, 448, 448, 256, 238, 279, 239,
	# bpf perf_event_open userfaultfd fanotify_init io_uring_setup io_uring_enter io_uring_register
	321, 280, 298, 241, 323, 282, 300, 262, 425, 425, 426, 426, 427, 427,
	# add_key request_key keyctl
	248, 217, 249, 218, 250, 219,
	# kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct quotactl quotactl_fd
	246, 104, 320, 294, 175, 105, 313, 273, 176, 106, 169, 142, 167, 224, 168, 225, 163, 89, 179, 60, 443, 443,
	# settimeofday clock_settime sethostname setdomainname iopl ioperm modify_ldt vhangup uselib lookup_dcookie
	164, 170, 227, 112, 170, 161, 171, 162, 172, -1, 173, -1, 154, -1, 153, 58, 134, -1, 212, 18,
	# shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl
	29, 194, 30, 196, 31, 195, 67, 197, 64, 190, 65, 193, 66, 191, 220, 192, 68, 186, 69, 189, 70, 188, 71, 187,
	# mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
	240, 180, 241, 181, 242, 182, 243, 183, 244, 184, 245, 185,
	# truncate
	76, 45,
	# tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal
	$landlock_version < 6 ? (200, 130, 234, 131, 129, 138, 297, 240, 424, 424) : ()
);
$add_op->(0x20, 0, 0, 0);
$add_refusal->(0x50026, 435, 435, 437, 437);
$add_refusal->($refuse, @refused_calls);
# What changes directories: creat mkdir mkdirat mknod mknodat symlink symlinkat link linkat unlink unlinkat rmdir rename renameat
# renameat2 truncate.
$add_refusal->($look, 85, -1, 83, -1, 258, 34, 133, -1, 259, 33, 88, -1, 266, 36, 86, -1, 265, 37, 87, -1, 263, 35, 84, -1, 82, -1, 264, 38, 316, 276, 76, 45);
# What connects: connect bind sendmmsg, sendto with an address, sendmsg but with the flags that are used below.
$add_refusal->($look, 42, 203, 49, 200, 307, 269);
$check_arg->(44, 206, 8, $any_bit, $look, 1, 0);
$check_arg->(46, 211, 4, $any_bit, $look, 1, 0x40c0);
# Signals, where Landlock bounds them: kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal.
$add_op->(0x20, 0, 0, 0);
$landlock_version > 5 && $add_refusal->($look, 62, 129, 200, 130, 234, 131, 129, 138, 297, 240, 424, 424);
$add_op->(6, 0, 0, 0x7fff0000);
my $filter_text = join "", @filter_ops;
$header_text = pack "Sx6P", scalar @filter_ops, $filter_text;
# 8 is SECCOMP_FILTER_FLAG_NEW_LISTENER.
my $listener = syscall $this_arch ? 277 : 317, 1, 0 + "@listen@", $header_text;
my $unwatched = "";
if ($listener < 0) {
	$landlock_version || die "its kernel has no Landlock (Linux 5.13 or newer has it, where it is switched on), and does not put calls to the supervisor either: $!\n";
	# Then the kernel answers by itself, and nothing is told.
	$unwatched = ";$!";
	$filter_text = join "", map {
		my @op = unpack "SCCL", $_;
		$op[0] == 6 && $op[3] >> 16 == 0x7fc0 && ($op[3] = $op[3] & 0xffff ? 0x50000 | $op[3] & 0xffff : 0x7fff0000);
		pack "SCCL", @op
	} @filter_ops;
	$header_text = pack "Sx6P", scalar @filter_ops, $filter_text;
	syscall(157 + 10 * $this_arch, 22, 2, $header_text, 0, 0) && die "the kernel does not take the filter of system calls: $!\n"
}
# The descriptor goes to the supervisor (SCM_RIGHTS, unix(7)), with the version of Landlock.
my $bytes = pack "CC", 0, $landlock_version;
my $pieces = pack "PQ", $bytes, 2;
my $rights = pack "Qlllx4", 20, 1, 1, $listener;
my $message = pack "x16PQPQx8", $pieces, 1, $rights, $listener < 0 ? 0 : 24;
syscall($this_arch ? 211 : 46, $_[0], $message, 0x40c0) == 2 || die "the supervisor cannot be told of its calls: $!\n";
# Without Landlock the supervisor says that it can do what it must (5.14).
$landlock_version || syscall($this_arch ? 63 : 0, $_[0], $bytes, 1) == 1 || die "its kernel has no Landlock (Linux 5.13 or newer has it, where it is switched on), and its supervisor cannot stand in for it (5.14 or newer lets it, where a parent may look into its children)\n";
# What came open from elsewhere is not the shell's: 4 is CLOSE_RANGE_CLOEXEC.
syscall(436, 3, 0xffffffff, 4) && die "descriptors cannot be closed: $!\n";
($landlock_version ? "landlock $landlock_version, " : "")."seccomp$unwatched"
