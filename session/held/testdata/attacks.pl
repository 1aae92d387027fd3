# Tries to get out of a held shell, and prints the name of each way that went through. Its arguments are a directory of its
# account with files to spoil, the process id of a victim of the same account, the port of a listener on loopback, the name of an
# abstract socket, and an expression that names of ways match: those are tried.
use Errno;
use POSIX ();
use Socket;
my ($dir, $pid, $port, $abstract, $only) = @ARGV;
open(my $exe, "<", "/proc/self/exe") or die;
sysread $exe, my $header, 20;
my $arm = unpack("x18v", $header) == 183;

# Numbers of x86-64 and arm64; -1 is none.
my %number = (
	open => [2, -1], openat => [257, 56], openat2 => [437, 437], creat => [85, -1], truncate => [76, 45], ftruncate => [77, 46],
	fallocate => [285, 47], copy_file_range => [326, 285], sendfile => [40, 71], chmod => [90, -1], fchmod => [91, 52], fchmodat => [268, 53],
	fchmodat2 => [452, 452], chown => [92, -1], fchown => [93, 55], lchown => [94, -1], fchownat => [260, 54], setxattr => [188, 5],
	lsetxattr => [189, 6], fsetxattr => [190, 7], setxattrat => [463, 463], removexattr => [197, 14], file_setattr => [469, 469],
	utimensat => [280, 88], utimes => [235, -1], mknodat => [259, 33], linkat => [265, 37], symlinkat => [266, 36], renameat2 => [316, 276],
	unlinkat => [263, 35], mkdirat => [258, 34], memfd_create => [319, 279], ioctl => [16, 29], fcntl => [72, 25], flock => [73, 32],
	mount => [165, 40], umount2 => [166, 39], pivot_root => [155, 41], chroot => [161, 51], open_tree => [428, 428], fsopen => [430, 430],
	fspick => [433, 433], move_mount => [429, 429], mount_setattr => [442, 442], open_tree_attr => [467, 467], unshare => [272, 97], setns => [308, 268],
	clone => [56, 220], clone3 => [435, 435], open_by_handle_at => [304, 265], quotactl => [179, 60], swapon => [167, 224], swapoff => [168, 225],
	acct => [163, 89], settimeofday => [164, 170], clock_settime => [227, 112], sethostname => [170, 161], setdomainname => [171, 162],
	iopl => [172, -1], ioperm => [173, -1], reboot => [169, 142], init_module => [175, 105], finit_module => [313, 273], delete_module => [176, 106],
	kexec_load => [246, 104], kexec_file_load => [320, 294], ptrace => [101, 117], process_vm_readv => [310, 270], process_vm_writev => [311, 271],
	pidfd_open => [434, 434], pidfd_getfd => [438, 438], pidfd_send_signal => [424, 424], process_madvise => [440, 440], process_mrelease => [448, 448],
	kill => [62, 129], tkill => [200, 130], tgkill => [234, 131], rt_sigqueueinfo => [129, 138], setpriority => [141, 140], ioprio_set => [251, 30],
	sched_setaffinity => [203, 122], sched_setscheduler => [144, 119], sched_setparam => [142, 118], sched_setattr => [314, 274],
	prlimit64 => [302, 261], migrate_pages => [256, 238], move_pages => [279, 239], bpf => [321, 280], perf_event_open => [298, 241],
	userfaultfd => [323, 282], fanotify_init => [300, 262], io_uring_setup => [425, 425], io_uring_enter => [426, 426], io_uring_register => [427, 427],
	add_key => [248, 217], request_key => [249, 218], keyctl => [250, 219], shmget => [29, 194], semget => [64, 190], msgget => [68, 186],
	mq_open => [240, 180], mq_unlink => [241, 181], syslog => [103, 116], setuid => [105, 146], setgid => [106, 144], setgroups => [116, 159],
	capset => [126, 91], prctl => [157, 167], vhangup => [153, 58], uselib => [134, -1], modify_ldt => [154, -1], lookup_dcookie => [212, 18],
	x32_mkdir => [0x40000000 + 83, -1], fsconfig => [431, 431], fsmount => [432, 432], removexattrat => [466, 466], lremovexattr => [198, 15],
	fremovexattr => [199, 16], quotactl_fd => [443, 443], rt_tgsigqueueinfo => [297, 240], clock_adjtime => [305, 266], adjtimex => [159, 171],
	splice => [275, 76], tee => [276, 77], vmsplice => [278, 75], mmap => [9, 222], mprotect => [10, 226], madvise => [28, 233], timer_create => [222, 107],
	shmat => [30, 196], shmctl => [31, 195], shmdt => [67, 197], semop => [65, 193], semctl => [66, 191], semtimedop => [220, 192], msgsnd => [69, 189],
	msgrcv => [70, 188], msgctl => [71, 187], mq_timedsend => [242, 182], mq_timedreceive => [243, 183], mq_notify => [244, 184], mq_getsetattr => [245, 185],
	setfsuid => [122, 151], setresuid => [117, 147], setreuid => [113, 145], personality => [135, 92], listns => [470, 470], sendmmsg => [307, 269],
	execveat => [322, 281], statmount => [457, 457], lsm_set_self_attr => [460, 460], name_to_handle_at => [303, 264],
	landlock_create_ruleset => [444, 444], landlock_add_rule => [445, 445], landlock_restrict_self => [446, 446], seccomp => [317, 277],
);
sub call {
	my $n = $number{+shift}[$arm];
	if ($n < 0) { $! = Errno::ENOSYS(); return -1 }
	syscall $n, @_
}
my %ways;
my @order;
sub way {
	my ($name, $try) = @_;
	$name =~ /$only/ && push @order, $name;
	$ways{$name} = $try
}
# went reports whether a call succeeded; past whether it got further than to be refused.
sub went { my $name = shift; call($name, @_) >= 0 }
sub past { my $name = shift; call($name, @_) >= 0 || !($! == Errno::EPERM() || $! == Errno::EACCES() || $! == Errno::ENOSYS()) }
sub text { my $s = shift; "$s\0" }
my $file = "$dir/file";
my $at = -100;
sub fd { my ($path, $flags) = @_; call("openat", $at, text($path), $flags, 0644) }
sub reading { my $fd = fd($file, 0); $fd < 0 and die "cannot even read $file: $!"; $fd }

# Files.
my %flags = (write => 1, readwrite => 2, append => 1 | 02000, truncate => 1 | 01000, "read and truncate" => 01000, "three and truncate" => 3 | 01000,
	create => 0100 | 1, "read and create" => 0100);
for my $how (sort keys %flags) {
	my $path = $how =~ /create/ ? "$dir/new" : $file;
	way "openat to $how", sub { fd($path, $flags{$how}) >= 0 };
	way "open to $how", sub { went("open", text($path), $flags{$how}, 0644) };
	way "openat2 to $how", sub { went("openat2", $at, text($path), pack("QQQ", $flags{$how}, $how =~ /create/ ? 0644 : 0, 0), 24) };
}
for my $resolve (1, 2, 4, 8, 16, 32) {
	way "openat2 to write, resolved by $resolve", sub { my $dir_fd = fd($dir, 0); went("openat2", $dir_fd, text("file"), pack("QQQ", 1, 0, $resolve), 24) };
}
way "openat2 of a longer structure", sub { went("openat2", $at, text($file), pack("QQQx64", 1, 0, 0), 88) };
way "an unnamed file", sub { fd($dir, 020000000 | ($arm ? 040000 : 0200000) | 2) >= 0 };
way "a file in /dev/shm", sub { fd("/dev/shm/fairlead-test-$$", 0101) >= 0 };
way "a file in /tmp", sub { fd("/tmp/fairlead-test-$$", 0101) >= 0 };
way "creat", sub { went("creat", text($file), 0644) };
way "truncate", sub { went("truncate", text($file), 0) };
way "ftruncate for reading", sub { went("ftruncate", reading(), 0) };
way "fallocate for reading", sub { went("fallocate", reading(), 3, 0, 1) };
way "copy_file_range", sub { went("copy_file_range", reading(), pack("Q", 0), reading(), pack("Q", 0), 1, 0) };
way "sendfile", sub { went("sendfile", reading(), reading(), 0, 1) };
way "again through /proc/self/fd", sub { my $fd = reading(); fd("/proc/self/fd/$fd", 1) >= 0 };
way "again from O_PATH", sub { my $fd = fd($file, 010000000); fd("/proc/self/fd/$fd", 1) >= 0 };
way "the victim's descriptor", sub { fd("/proc/$pid/fd/3", 1) >= 0 };
for my $link ("root", "cwd") {
	my $there = "/proc/$pid/$link$dir";
	way "the victim's $link: to write", sub { fd("$there/file", 1) >= 0 };
	way "the victim's $link: to make", sub { fd("$there/new", 0101) >= 0 };
	way "the victim's $link: to remove", sub { unlink "$there/spare" };
	way "the victim's $link: a directory", sub { mkdir "$there/made" };
	way "the victim's $link: to move", sub { rename "$there/spare", "$there/renamed" };
}
way "an inherited descriptor", sub { my $f; open($f, ">&=3") && syswrite($f, "x") };
way "splice into an inherited descriptor", sub { pipe(my $r, my $w); syswrite $w, "x"; went("splice", fileno $r, 0, 3, 0, 1, 0) };
way "tee into an inherited descriptor", sub { pipe(my $r, my $w); syswrite $w, "x"; went("tee", fileno $r, 3, 1, 0) };
way "vmsplice into an inherited descriptor", sub { my $x = "x"; went("vmsplice", 3, pack("PQ", $x, 1), 1, 0) };
way "copy_file_range into an inherited descriptor", sub { went("copy_file_range", reading(), pack("Q", 0), 3, pack("Q", 0), 1, 0) };
way "sendfile into an inherited descriptor", sub { went("sendfile", 3, reading(), 0, 1) };
way "splice into what is open for reading", sub { pipe(my $r, my $w); syswrite $w, "x"; went("splice", fileno $r, 0, reading(), pack("Q", 0), 1, 0) };
# 1 is MAP_SHARED, 9 is MADV_REMOVE.
way "memory of a file, to write", sub { went("mmap", 0, 4096, 3, 1, reading(), 0) };
way "memory of a file, made writable", sub { my $at = call("mmap", 0, 4096, 1, 1, reading(), 0); $at > 0 && went("mprotect", $at, 4096, 3) };
way "memory of a file, taken out of it", sub { my $at = call("mmap", 0, 4096, 1, 1, reading(), 0); $at > 0 && went("madvise", $at, 4096, 9) };
way "an inherited descriptor, by name", sub { fd("/dev/fd/3", 1) >= 0 && -s $file };
way "rename", sub { rename "$dir/spare", "$dir/renamed" };
way "exchange", sub { went("renameat2", $at, text($file), $at, text("$dir/spare"), 2) };
way "link", sub { link $file, "$dir/linked" };
way "link into TMPDIR", sub { link $file, "$ENV{TMPDIR}/linked" };
way "linkat of a descriptor", sub { went("linkat", reading(), text(""), $at, text("$dir/linked"), 0x1000) };
way "symlink", sub { symlink $file, "$dir/symlinked" };
way "symlink in TMPDIR", sub { symlink $file, "$ENV{TMPDIR}/symlinked" };
way "unlink", sub { unlink "$dir/spare" };
way "mkdir", sub { mkdir "$dir/made" };
way "mkdir in TMPDIR", sub { mkdir "$ENV{TMPDIR}/made" };
way "rmdir", sub { rmdir "$dir/empty" };
way "mkfifo", sub { went("mknodat", $at, text("$dir/pipe"), 0010644, 0) };
way "mknod of a socket", sub { went("mknodat", $at, text("$dir/socket"), 0140644, 0) };
way "mknod of a device", sub { went("mknodat", $at, text("$dir/device"), 0020644, 259) };
way "mknod of a device in TMPDIR", sub { went("mknodat", $at, text("$ENV{TMPDIR}/device"), 0020644, 259) };
way "move into TMPDIR", sub { rename "$dir/spare", "$ENV{TMPDIR}/spare" };
way "move out of TMPDIR", sub { open my $f, ">", "$ENV{TMPDIR}/mine"; rename "$ENV{TMPDIR}/mine", "$dir/mine" };
way "rename TMPDIR", sub { rename $ENV{TMPDIR}, "$ENV{TMPDIR}x" };
way "a named pipe of another's", sub { fd("$dir/fifo", 04001) >= 0 };
way "chmod", sub { went("chmod", text($file), 0777) };
way "fchmod", sub { went("fchmod", reading(), 0777) };
way "fchmod 0400", sub { call("fchmod", reading(), 0400); ((stat $file)[2] & 0777) == 0400 };
way "fchmod 0200", sub { call("fchmod", reading(), 0200); ((stat $file)[2] & 0777) == 0200 };
way "fchmodat", sub { went("fchmodat", $at, text($file), 0777) };
way "fchmodat2", sub { went("fchmodat2", $at, text($file), 0777, 0) };
way "chown", sub { went("chown", text($file), $<, -1) };
way "fchown", sub { went("fchown", reading(), $<, -1) };
way "lchown", sub { went("lchown", text($file), $<, -1) };
way "fchownat", sub { went("fchownat", $at, text($file), $<, -1, 0) };
way "setxattr", sub { past("setxattr", text($file), text("user.a"), "b", 1, 0) };
way "lsetxattr", sub { past("lsetxattr", text($file), text("user.a"), "b", 1, 0) };
way "fsetxattr", sub { past("fsetxattr", reading(), text("user.a"), "b", 1, 0) };
way "setxattrat", sub { past("setxattrat", $at, text($file), 0, text("user.a"), pack("QLL", 0, 0, 0), 16) };
way "removexattr", sub { past("removexattr", text($file), text("user.a")) };
way "file_setattr", sub { past("file_setattr", $at, text($file), pack("x32"), 24, 0) };
way "utimensat", sub { went("utimensat", $at, text($file), pack("q4", 1, 0, 1, 0), 0) };
way "futimens", sub { went("utimensat", reading(), 0, pack("q4", 1, 0, 1, 0), 0) };
way "utimensat through /proc/self/fd", sub { my $fd = reading(); went("utimensat", $at, text("/proc/self/fd/$fd"), pack("q4", 1, 0, 1, 0), 0) };
way "chmod through /proc/self/fd", sub { my $fd = reading(); went("fchmodat", $at, text("/proc/self/fd/$fd"), 0777) };
way "fchmodat2 of a descriptor", sub { went("fchmodat2", reading(), text(""), 0777, 0x1000) };
way "fchownat of a descriptor", sub { went("fchownat", reading(), text(""), $<, -1, 0x1000) };
way "truncate through /proc/self/fd", sub { my $fd = reading(); went("truncate", text("/proc/self/fd/$fd"), 0) };
way "setxattr through /proc/self/fd", sub { my $fd = reading(); past("setxattr", text("/proc/self/fd/$fd"), text("user.a"), "b", 1, 0) };
way "an access list", sub { past("setxattr", text($file), text("system.posix_acl_access"), pack("L", 2), 4, 0) };
way "a file's capability", sub { past("setxattr", text($file), text("security.capability"), pack("L5", 0x2000000, 0, 0, 0, 0), 20, 0) };
way "lremovexattr", sub { past("lremovexattr", text($file), text("user.a")) };
way "fremovexattr", sub { past("fremovexattr", reading(), text("user.a")) };
way "removexattrat", sub { past("removexattrat", $at, text($file), 0, text("user.a")) };
way "utimes", sub { went("utimes", text($file), pack("q4", 1, 0, 1, 0)) };
for (["chattr", 0x40086602, pack("q", 0)], ["FS_IOC_FSSETXATTR", 0x401c5820, pack("x28")], ["FS_IOC_SETVERSION", 0x40087602, pack("q", 7)],
	["FICLONE", 0x40049409, 0], ["a label", 0x41009432, pack("x256")], ["FITRIM", 0xc0185879, pack("x24")], ["FIFREEZE", 0xc0045877, 0],
	["btrfs's subvolumes", 0x5000940e, pack("x4096")], ["BLKFLSBUF", 0x1261, 0], ["BLKDISCARD", 0x1277, pack("Q2", 0, 0)], ["SG_IO", 0x2285, pack("x88")],
	["FIOSETOWN", 0x8901, pack("i", $pid)], ["TIOCSTI", 0x5412, "x"], ["TIOCLINUX", 0x541c, "\2"], ["TIOCCONS", 0x541d, 0], ["TIOCSCTTY", 0x540e, 1],
	["TIOCSETD", 0x5423, pack("i", 0)], ["TIOCVHANGUP", 0x5437, 0], ["TIOCSIG", 0x40045436, 2], ["TIOCNOTTY", 0x5422, 0],
	["SIOCSPGRP", 0x8902, pack("i", $pid)], ["TIOCEXCL", 0x540c, 0], ["TIOCMSET", 0x5418, pack("i", 0)], ["TIOCSSERIAL", 0x541f, pack("x128")], ["TIOCPKT", 0x5420, pack("i", 1)],
	["FIOASYNC", 0x5452, pack("i", 1)], ["TIOCSLCKTRMIOS", 0x5457, pack("x64")], ["TIOCGPTPEER", 0x5441, 2], ["TIOCSERCONFIG", 0x5453, 0], ["TIOCSRS485", 0xc020542f, pack("x32")],
	["KDFONTOP", 0x4b72, pack("x32")], ["KDSKBENT", 0x4b47, pack("x4")], ["KDSETMODE", 0x4b3a, 1], ["VT_ACTIVATE", 0x5606, 1], ["VT_LOCKSWITCH", 0x560b, 0],
	["FICLONERANGE", 0x4020940d, pack("x32")], ["FIDEDUPERANGE", 0xc0189436, pack("x24")], ["FITHAW", 0xc0045878, 0], ["EXT4_IOC_MOVE_EXT", 0xc028660f, pack("x40")],
	["FS_IOC_SHUTDOWN", 0x8004587d, pack("x4")], ["FS_IOC_SET_ENCRYPTION_POLICY", 0x800c6613, pack("x12")], ["FS_IOC_ADD_ENCRYPTION_KEY", 0xc0506617, pack("x80")],
	["FS_IOC_ENABLE_VERITY", 0x40806685, pack("x128")], ["BLKROSET", 0x125d, pack("i", 0)], ["BLKRRPART", 0x125f, 0], ["BLKZEROOUT", 0x127f, pack("Q2", 0, 0)],
	["LOOP_CTL_GET_FREE", 0x4c82, 0], ["LOOP_SET_FD", 0x4c00, 0], ["CDROMEJECT", 0x5309, 0], ["USBDEVFS_RESET", 0x5514, 0], ["EVIOCGRAB", 0x40044590, 1], ["TUNSETIFF", 0x400454ca, pack("x40")],
	["KVM_CREATE_VM", 0xae01, 0], ["SIOCSIFFLAGS", 0x8914, pack("x40")], ["RTC_SET_TIME", 0x4024700a, pack("x36")], ["WDIOC_SETOPTIONS", 0x80045704, pack("i", 1)],
	["NVME_IOCTL_ADMIN_CMD", 0xc0484e41, pack("x72")], ["USERFAULTFD_IOC_NEW", 0xaa00, 0], ["PERF_EVENT_IOC_ENABLE", 0x2400, 0], ["NS_MNT_GET_NEXT", 0x8010b70b, pack("x16")]) {
	my ($name, $what, $arg) = @$_;
	way "ioctl: $name", sub { past("ioctl", reading(), $what, $arg) };
	way "ioctl on the terminal: $name", sub { my $fd = fd("/dev/tty", 2); $fd < 0 ? 0 : past("ioctl", $fd, $what, $arg) };
	way "ioctl with more bits: $name", sub { my $fd = fd("/dev/tty", 2); past("ioctl", $fd < 0 ? reading() : $fd, $what + (1 << 32), $arg) };
}
way "a lease", sub { past("fcntl", reading(), 1024, 1) };
way "an owner of signals", sub { past("fcntl", reading(), 8, $pid) };
way "an owner of signals, by its kind", sub { past("fcntl", reading(), 15, pack("ii", 1, $pid)) };
way "a signal of one's choice", sub { past("fcntl", reading(), 10, 9) };
way "notices of a directory", sub { past("fcntl", fd($dir, 0), 1026, 0x80000000 | 2) };
way "an exclusive lock", sub { went("flock", reading(), 2 | 4) };
for my $path ("/proc/self/mem", "/proc/self/comm", "/proc/self/oom_score_adj", "/proc/$pid/mem", "/proc/$pid/oom_score_adj", "/proc/$pid/comm",
	"/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/dev/kmsg", "/dev/console", "/dev/mem", "/dev/fuse",
	"/dev/uinput", "/dev/net/tun", "/dev/ptmx", "/sys/power/state", "/sys/fs/cgroup/cgroup.procs", "/proc/$pid/timerslack_ns", "/proc/$pid/clear_refs",
	"/proc/$pid/coredump_filter", "/proc/$pid/attr/current", "/proc/$pid/uid_map", "/proc/$pid/task/$pid/comm", "/proc/self/attr/exec", "/proc/self/loginuid", "/proc/mtrr",
	"/proc/irq/0/smp_affinity", "/proc/sys/kernel/core_pattern", "/proc/sys/fs/binfmt_misc/register", "/dev/loop-control", "/dev/kvm", "/dev/vhost-net", "/dev/userfaultfd",
	"/dev/watchdog", "/dev/rtc0", "/dev/port", "/dev/tty0", "/dev/vcs", "/dev/snapshot", "/dev/mapper/control", "/dev/hpet", "/dev/ttyS0", "/dev/vda", "/dev/loop0", "/dev/pts/ptmx",
	"/sys/kernel/tracing/trace_marker", "/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled") {
	way "write $path", sub { fd($path, 1 | 0400) >= 0 };
}
way "another terminal", sub {
	open my $stat, "<", "/proc/self/stat";
	my $own = (split / /, (<$stat> =~ s/.*\) //r))[4]; # proc_pid_stat(5): tty_nr
	$own = $own & 0xff | $own >> 12 & 0xfff00;
	for (glob "/dev/pts/[0-9]*") { return 1 if $_ ne "/dev/pts/$own" && -o $_ && fd($_, 1 | 0400) >= 0 }
	0
};

# Other processes.
for my $signal (1, 2, 9, 10, 15, 18, 19) {
	way "kill $signal", sub { went("kill", $pid, $signal) };
	way "tkill $signal", sub { went("tkill", $pid, $signal) };
	way "tgkill $signal", sub { went("tgkill", $pid, $pid, $signal) };
	way "rt_sigqueueinfo $signal", sub { went("rt_sigqueueinfo", $pid, $signal, pack("iiix116", $signal, 0, -1)) };
	way "rt_tgsigqueueinfo $signal", sub { went("rt_tgsigqueueinfo", $pid, $pid, $signal, pack("iiix116", $signal, 0, -1)) };
	way "pidfd_send_signal $signal by /proc", sub { my $fd = fd("/proc/$pid", 0); $fd >= 0 && went("pidfd_send_signal", $fd, $signal, 0, 0) };
	way "pidfd_send_signal $signal to the group", sub { my $fd = call("pidfd_open", $pid, 0); $fd >= 0 && went("pidfd_send_signal", $fd, $signal, 0, 4) };
	way "pidfd_send_signal $signal of a thread", sub { my $fd = call("pidfd_open", $pid, 0200); $fd >= 0 && went("pidfd_send_signal", $fd, $signal, 0, 1) };
	way "pidfd_send_signal $signal", sub { my $fd = call("pidfd_open", $pid, 0); $fd >= 0 && went("pidfd_send_signal", $fd, $signal, 0, 0) };
}
way "kill of a group", sub { went("kill", -$pid, 10) };
# SIGCONT, which the shell and this do not mind.
way "all processes", sub { call("kill", -1, 18); 0 };
way "a timer's signal to another", sub { my $id = "\0" x 8; went("timer_create", 1, pack("Qiiix44", 0, 10, 4, $pid), $id) };
way "an owner of a pipe's signals", sub { pipe(my $r, my $w); past("fcntl", fileno $r, 8, $pid) };
way "an owner of a pair's signals", sub { socketpair(my $p, my $q, AF_UNIX, SOCK_STREAM, 0) && past("ioctl", fileno $p, 0x8902, pack("i", $pid)) };
way "kill with more bits", sub { went("kill", $pid + (1 << 32), 10) };
way "ptrace: attach", sub { went("ptrace", 16, $pid, 0, 0) };
way "ptrace: seize", sub { went("ptrace", 0x4206, $pid, 0, 0) };
way "ptrace: trace me", sub { went("ptrace", 0, 0, 0, 0) };
my $buffer = "x" x 8;
way "process_vm_readv", sub { past("process_vm_readv", $pid, pack("PQ", $buffer, 8), 1, pack("QQ", 4096, 8), 1, 0) };
way "process_vm_writev", sub { past("process_vm_writev", $pid, pack("PQ", $buffer, 8), 1, pack("QQ", 4096, 8), 1, 0) };
way "pidfd_getfd", sub { my $fd = call("pidfd_open", $pid, 0); $fd >= 0 && past("pidfd_getfd", $fd, 0, 0) };
way "process_madvise", sub { my $fd = call("pidfd_open", $pid, 0); $fd >= 0 && past("process_madvise", $fd, pack("QQ", 4096, 4096), 1, 21, 0) };
way "process_mrelease", sub { my $fd = call("pidfd_open", $pid, 0); $fd >= 0 && past("process_mrelease", $fd, 0) };
way "the victim's environment", sub { fd("/proc/$pid/environ", 0) >= 0 };
way "the victim's memory", sub { fd("/proc/$pid/mem", 0) >= 0 };
way "setpriority", sub { went("setpriority", 0, $pid, 5) };
way "setpriority of a group", sub { went("setpriority", 1, $pid, 5) };
way "setpriority of an account", sub { went("setpriority", 2, 0, 5) };
way "ioprio_set", sub { went("ioprio_set", 1, $pid, 3 << 13) };
way "ioprio_set of an account", sub { went("ioprio_set", 3, $<, 3 << 13) };
way "sched_setaffinity", sub { went("sched_setaffinity", $pid, 8, pack("Q", 1)) };
way "sched_setscheduler", sub { went("sched_setscheduler", $pid, 3, pack("i", 0)) };
way "sched_setparam", sub { went("sched_setparam", $pid, pack("i", 0)) };
way "sched_setattr", sub { went("sched_setattr", $pid, pack("LLQlLQQQ", 48, 3, 0, 0, 0, 0, 0, 0), 0) };
way "prlimit64", sub { went("prlimit64", $pid, 7, pack("QQ", 99, 99), 0) };
way "prlimit64 with more bits", sub { went("prlimit64", $pid + (1 << 32), 7, pack("QQ", 99, 99), 0) };
way "migrate_pages", sub { past("migrate_pages", $pid, 1, pack("Q", 0), pack("Q", 0)) };
way "move_pages", sub { past("move_pages", $pid, 0, 0, 0, 0, 0) };

# Connections.
my $sun = sub { pack_sockaddr_un($_[0]) };
way "a local socket", sub { my $s; socket($s, AF_UNIX, SOCK_STREAM, 0) && connect($s, $sun->("$dir/listener")) };
way "a local datagram", sub { my $s; socket($s, AF_UNIX, SOCK_DGRAM, 0) && send($s, "x", 0, $sun->("$dir/datagrams")) };
way "an abstract socket", sub { my $s; socket($s, AF_UNIX, SOCK_STREAM, 0) && connect($s, pack("Sa*", AF_UNIX, "\0$abstract")) };
way "a pair of datagrams sent elsewhere", sub { my ($p, $q); socketpair($p, $q, AF_UNIX, SOCK_DGRAM, 0) && send($p, "x", 0, $sun->("$dir/datagrams")) };
way "a pair of datagrams, connected anew", sub { my ($p, $q); socketpair($p, $q, AF_UNIX, SOCK_DGRAM, 0) && connect($p, $sun->("$dir/datagrams")) && send($p, "x", 0) };
way "a pair of streams, connected anew", sub { my ($p, $q); socketpair($p, $q, AF_UNIX, SOCK_STREAM, 0) && connect($p, $sun->("$dir/listener")) };
way "a pair of packets, connected anew", sub { my ($p, $q); socketpair($p, $q, AF_UNIX, SOCK_SEQPACKET, 0) && connect($p, $sun->("$dir/listener")) };
way "TCP", sub { my $s; socket($s, AF_INET, SOCK_STREAM, 0) && connect($s, pack_sockaddr_in($port, INADDR_LOOPBACK)) };
way "TCP, to listen", sub { my $s; socket($s, AF_INET, SOCK_STREAM, 0) && bind($s, pack_sockaddr_in(0, INADDR_LOOPBACK)) };
way "UDP", sub { my $s; socket($s, AF_INET, SOCK_DGRAM, 0) && send($s, "x", 0, pack_sockaddr_in($port, INADDR_LOOPBACK)) };
for (["TCP over IPv6", 10, 1, 0], ["UDP over IPv6", 10, 2, 0], ["MPTCP", 2, 1, 262], ["ping", 2, 2, 1], ["raw", 2, 3, 1], ["packets", 17, 3, 0], ["vsock", 40, 1, 0],
	["the kernel's ciphers", 38, 5, 0], ["keys", 15, 3, 2], ["TIPC", 30, 1, 0], ["CAN", 29, 3, 1], ["bluetooth", 31, 3, 1], ["XDP", 44, 3, 0], ["SMC", 43, 1, 0],
	["netlink: uevents", 16, 3, 15], ["netlink: audit", 16, 3, 9], ["netlink: netfilter", 16, 3, 12], ["netlink: xfrm", 16, 3, 6], ["netlink: users", 16, 3, 2],
	["netlink: connector", 16, 3, 11], ["local, more bits", 1 + (1 << 32), 1, 0]) {
	my ($name, @args) = @$_;
	# Where calls are told, there is a dead end instead of a socket: one of a pair whose other end is closed.
	way "socket: $name", sub {
		my $fd = syscall $arm ? 198 : 41, @args;
		$fd >= 0 && open(my $s, "+<&=$fd") or return 0;
		my $domain = unpack "i", getsockopt $s, 1, 39; # SO_DOMAIN
		!($domain == 1 && getpeername $s)
	};
}
way "netlink: set a link down", sub {
	my $fd = syscall $arm ? 198 : 41, 16, 3, 0;
	$fd >= 0 or return 0;
	# RTM_NEWLINK of lo with its flags as they are, acknowledged.
	my $ask = pack("LSSLL CCSlLL", 32, 16, 5, 1, 0, 0, 0, 0, 1, 0x8, 0x8);
	my $to = pack("SSLL", 16, 0, 0, 0);
	syscall($arm ? 206 : 44, $fd, $ask, length $ask, 0, $to, 12) > 0 or return 0;
	my $said = "\0" x 4096;
	my $n = syscall $arm ? 207 : 45, $fd, $said, 4096, 0, 0, 0;
	$n >= 20 && unpack("x16l", $said) == 0
};
# A message to another's netlink socket would be refused a connection, if anything.
for my $protocol (0, 4, 16) {
	way "netlink: a message to another of $protocol", sub {
		my $fd = syscall $arm ? 198 : 41, 16, 3, $protocol;
		my ($text, $to) = (pack("LSSLL", 16, 16, 0, 1, 0), pack("SSLL", 16, 0, $pid, 0));
		$fd >= 0 && (syscall($arm ? 206 : 44, $fd, $text, 16, 0, $to, 12) >= 0 || !($! == Errno::EPERM() || $! == Errno::EACCES()))
	};
}
# SOCK_DESTROY of the listener, acknowledged.
way "netlink: the end of another's socket", sub {
	my $fd = syscall $arm ? 198 : 41, 16, 3, 4;
	my $ask = pack("LSSLL CCCCL na2a4x12x16LLL", 72, 21, 5, 1, 0, 2, 6, 0, 0, 0xfff, $port, "", INADDR_LOOPBACK, 0, 0xffffffff, 0xffffffff);
	my $to = pack("SSLL", 16, 0, 0, 0);
	$fd >= 0 && syscall($arm ? 206 : 44, $fd, $ask, length $ask, 0, $to, 12) > 0 or return 0;
	my $said = "\0" x 4096;
	my $n = syscall $arm ? 207 : 45, $fd, $said, 4096, 0, 0, 0;
	$n >= 20 && unpack("x16l", $said) == 0
};
way "shared memory", sub { went("shmget", 0x46414952, 4096, 01600) };
way "semaphores", sub { went("semget", 0x46414952, 1, 01600) };
way "messages", sub { went("msgget", 0x46414952, 01600) };
way "a queue of messages", sub { went("mq_open", text("fairlead-test"), 0102, 0600, 0) };
way "$_->[0] of what there is", do { my ($name, @args) = @$_; sub { past($name, @args) } }
	for ["shmat", 0, 0, 0], ["shmctl", 0, 0, 0], ["shmdt", 4096], ["semop", 0, 0, 0], ["semctl", 0, 0, 0, 0], ["semtimedop", 0, 0, 0, 0], ["msgsnd", 0, 0, 0, 0],
	["msgrcv", 0, 0, 0, 0, 04000], ["msgctl", 0, 0, 0], ["mq_timedsend", -1, 0, 0, 0, 0], ["mq_timedreceive", -1, 0, 0, 0, 0], ["mq_notify", -1, 0], ["mq_getsetattr", -1, 0, 0];
way "the end of a queue", sub { past("mq_unlink", text("fairlead-test")) };

# What the supervisor looks at while another process changes it: memory that both share says /dev/null and a victim in turn.
sub race {
	my ($first, $second, $try) = @_;
	my $size = 256;
	my $memory = syscall $arm ? 222 : 9, 0, 4096, 3, 0x21, -1, 0;
	open my $f, "+>", "$ENV{TMPDIR}/race-$$" or return 0;
	syswrite $f, pack("a${size}a$size", $first, $second);
	my $change = sub { syscall $arm ? 67 : 17, fileno $f, $memory, $size, $_[0] };
	$change->(0);
	my $child = fork;
	if (!$child) { my $i = 0; 1 while $change->(($i = !$i) * $size) > 0; POSIX::_exit(0) }
	my $won = 0;
	for (1..1e6) { last if unpack("P$size", pack "Q", $memory) ne pack "a$size", $first } # it has begun
	for (1..400) { $try->($memory) and $won = 1 }
	truncate $f, 0; # ends it
	waitpid $child, 0;
	unlink "$ENV{TMPDIR}/race-$$";
	$won
}
my $kept = -s $file;
for (["open", 1], ["open to truncate", 1 | 01000], ["open to read and truncate", 01000], ["create", 0102]) {
	my ($name, $flags) = @$_;
	way "a race: $name", sub { race(text("/dev/null"), text($flags & 0100 ? "$dir/new" : $file), sub { my $fd = call("openat", $at, shift, $flags, 0644); POSIX::close($fd) if $fd >= 0; -s $file != $kept || -e "$dir/new" }) };
}
way "a race: unlink", sub { race(text("$dir/none"), text("$dir/spare"), sub { call("unlinkat", $at, shift, 0); !-e "$dir/spare" }) };
way "a race: mkdir", sub { race(text("/etc"), text("$dir/made"), sub { call("mkdirat", $at, shift, 0755); -e "$dir/made" }) };
way "a race: a link into TMPDIR", sub { race(text("$ENV{TMPDIR}/l"), text("$dir/l"), sub { open my $l, ">", "$ENV{TMPDIR}/l"; call("renameat2", $at, text("$ENV{TMPDIR}/l"), $at, shift, 0); -e "$dir/l" }) };
way "a race: a directory", sub { race(text("$ENV{TMPDIR}/l"), text("$dir/new"), sub { my $fd = call("openat", $at, shift, 0101, 0644); POSIX::close($fd) if $fd >= 0; unlink "$ENV{TMPDIR}/l"; -e "$dir/new" }) };
way "a race: a move out of TMPDIR", sub { race(text("$ENV{TMPDIR}/l"), text("$dir/l"), sub { open my $l, ">", "$ENV{TMPDIR}/m"; call("renameat2", $at, text("$ENV{TMPDIR}/m"), $at, shift, 0); -e "$dir/l" }) };
way "a race: a named pipe", sub { race(text("/dev/null"), text("$dir/fifo"), sub { my $fd = call("openat", $at, shift, 04001, 0); my $won = $fd >= 0 && -p "/proc/self/fd/$fd"; POSIX::close($fd) if $fd >= 0; $won }) };
way "a race: bind", sub {
	socketpair(my $p, my $q, AF_UNIX, SOCK_STREAM, 0) or return 0;
	race(pack("Sx108", 16), pack("SZ108", 1, "$dir/s"), sub { syscall $arm ? 200 : 49, fileno $p, shift, 110; -e "$dir/s" })
};
# Another process with the same descriptors changes what one is of: a pipe and a victim in turn.
way "a race: a descriptor", sub {
	pipe(my $out, my $in) or return 0;
	my ($file_fd, $pipe_fd) = (reading(), fileno $in);
	my $n = POSIX::dup($pipe_fd);
	my $child = call("clone", 0x400 | 17, 0, 0, 0, 0); # CLONE_FILES
	if ($child == 0) { for (1..30000) { POSIX::dup2($file_fd, $n); POSIX::dup2($pipe_fd, $n) } POSIX::_exit(0) }
	my $won = 0;
	until (waitpid($child, 1) > 0) {
		my $fd = fd("/proc/self/fd/$n", 1);
		$fd >= 0 or next;
		-f "/proc/self/fd/$fd" and $won = 1;
		POSIX::close($fd)
	}
	$won
};
way "a race: connect", sub {
	race(pack("Sx14", 16), pack_sockaddr_in($port, INADDR_LOOPBACK), sub {
		my $fd = syscall $arm ? 198 : 41, 2, 1, 0;
		my $won = $fd >= 0 && syscall($arm ? 203 : 42, $fd, shift, 16) >= 0;
		POSIX::close($fd) if $fd >= 0;
		$won
	})
};
way "a race: a datagram", sub {
	race(pack("Sx14", 16), pack_sockaddr_in($port, INADDR_LOOPBACK), sub {
		my $fd = syscall $arm ? 198 : 41, 2, 2, 0;
		my $text = "x";
		my $won = $fd >= 0 && syscall($arm ? 206 : 44, $fd, $text, 1, 0, shift, 16) >= 0;
		POSIX::close($fd) if $fd >= 0;
		$won
	})
};
way "the listener", sub { grep { (readlink($_) // "") =~ /seccomp/ } glob "/proc/self/fd/*" };
way "the supervisor's memory", sub { my $p = getppid; for (1..3) { return 1 if fd("/proc/$p/mem", 2) >= 0; open my $s, "<", "/proc/$p/stat" or last; $p = (split / /, (<$s> =~ s/.*\) //r))[1] } 0 };
way "many calls at once", sub { for (1..20) { fork or do { for (1..50) { unlink "$dir/spare"; kill 10, $pid } POSIX::_exit(0) } } 1 while wait > 0; !-e "$dir/spare" };

# The kernel.
way "name spaces: $_->[0]", do { my $flag = $_->[1]; sub { went("unshare", $flag) } }
	for ["users", 0x10000000], ["mounts", 0x20000], ["network", 0x40000000], ["processes", 0x20000000], ["names", 0x4000000], ["IPC", 0x8000000], ["cgroups", 0x2000000];
way "clone into name spaces", sub { my $child = call("clone", 0x10000000 | 17, 0, 0, 0, 0); $child == 0 && POSIX::_exit(0); $child > 0 };
way "clone3", sub { past("clone3", pack("x88"), 88) };
way "setns", sub { past("setns", fd("/proc/self/ns/uts", 0), 0) };
way "mount", sub { past("mount", text("none"), text($dir), text("tmpfs"), 0, 0) };
way "remount", sub { past("mount", text("none"), text("/"), 0, 0x20 | 0x1000, 0) };
way "umount", sub { past("umount2", text($dir), 0) };
way "pivot_root", sub { past("pivot_root", text($dir), text($dir)) };
way "chroot", sub { past("chroot", text("/")) };
way "open_tree", sub { past("open_tree", $at, text($dir), 1) };
way "open_tree_attr", sub { past("open_tree_attr", $at, text($dir), 1, pack("x32"), 32) };
way "fsopen", sub { past("fsopen", text("tmpfs"), 0) };
way "fspick", sub { past("fspick", $at, text("/"), 0) };
way "move_mount", sub { past("move_mount", $at, text($dir), $at, text($dir), 0) };
way "mount_setattr", sub { past("mount_setattr", $at, text($dir), 0, pack("x32"), 32) };
way "open_by_handle_at", sub { past("open_by_handle_at", reading(), pack("LLx128", 8, 1), 0) };
way "$_->[0]", do { my ($name, @args) = @$_; sub { past($name, @args) } }
	for ["quotactl", 0x80000100, 0, 0, 0], ["swapon", 0, 0], ["swapoff", 0], ["acct", 0], ["settimeofday", 0, 0], ["clock_settime", 0, 0], ["sethostname", 0, 0],
	["setdomainname", 0, 0], ["iopl", 3], ["ioperm", 0x80, 1, 1], ["reboot", 0, 0, 0, 0], ["init_module", 0, 0, 0], ["finit_module", -1, 0, 0],
	["delete_module", 0, 0], ["kexec_load", 0, 0, 0, 0], ["kexec_file_load", -1, -1, 0, 0, 0], ["bpf", 0, 0, 0], ["perf_event_open", 0, 0, -1, -1, 0],
	["fsconfig", -1, 0, 0, 0, 0], ["fsmount", -1, 0, 0], ["quotactl_fd", -1, 0x80000100, 0, 0],
	["userfaultfd", 1], ["fanotify_init", 0x200, 0], ["io_uring_setup", 1, 0], ["io_uring_enter", -1, 0, 0, 0, 0, 0], ["io_uring_register", -1, 0, 0, 0],
	["request_key", 0, 0, 0, 0], ["vhangup"], ["uselib", 0], ["modify_ldt", 0, 0, 0], ["lookup_dcookie", 0, 0, 0];
way "add_key", sub { past("add_key", text("user"), text("fairlead-test"), "x", 1, -3) };
way "keyctl", sub { past("keyctl", 0, -3, 0) };
way "syslog: clear", sub { past("syslog", 5, 0, 0) };
way "syslog: read and clear", sub { past("syslog", 4, $buffer, 0) };
way "syslog: console level", sub { past("syslog", 8, 0, 7) };
# 0x2000 is ADJ_SETOFFSET, 0x4000 ADJ_TICK.
way "clock_adjtime", sub { my $t = pack("Lx204", 0x4000); went("clock_adjtime", 0, $t) };
way "adjtimex", sub { my $t = pack("Lx204", 0x4000); went("adjtimex", $t) };
way "a call that is newer than the filter", sub { past("listns", 0, 0, 0, 0) };
way "a call that no kernel has", sub { syscall(999, 0) >= 0 || $! != Errno::ENOSYS() };
way "Landlock taken back by more of it", sub {
	my $set = call("landlock_create_ruleset", pack("Q", 0x1ff2), 8, 0);
	$set >= 0 or return 0;
	my $dir_fd = fd($dir, 010000000);
	call("landlock_add_rule", $set, 1, pack("Ql", 0x1ff2, $dir_fd), 0);
	call("landlock_restrict_self", $set, 0);
	fd($file, 1) >= 0
};
way "a filter that allows all", sub {
	my $allow = pack("SCCL", 6, 0, 0, 0x7fff0000);
	call("seccomp", 1, 0, pack("Sx6P", 1, $allow));
	went("fchmodat", $at, text($file), 0777) || fd($file, 1) >= 0
};
way "a listener of its own", sub { my $allow = pack("SCCL", 6, 0, 0, 0x7fff0000); went("seccomp", 1, 8, pack("Sx6P", 1, $allow)) && (went("fchmodat", $at, text($file), 0777) || fd($file, 1) >= 0) };
way "a handle of a file", sub { my $handle = pack("LLx128", 128, 0); my $id = pack("L", 0); went("name_to_handle_at", $at, text($file), $handle, $id, 0) && past("open_by_handle_at", $at, $handle, 2) };
way "x32's mkdir", sub { went("x32_mkdir", text("$dir/x32"), 0755) };

# More rights.
way "setuid", sub { $< != 0 && went("setuid", 0) };
way "setuid from root", sub { $< == 0 && went("setuid", 1) };
way "setreuid", sub { my $to = $< ? 0 : 1; went("setreuid", $to, $to) };
way "setresuid", sub { my $to = $< ? 0 : 1; went("setresuid", $to, $to, $to) };
way "setfsuid", sub { my $to = $< ? 0 : 1; call("setfsuid", $to); my $now = call("setfsuid", -1); call("setfsuid", $<); $now == $to };
way "a bounding set", sub { $< == 0 && grep { $_ != 2 && $_ != 34 && call("prctl", 23, $_, 0, 0, 0) > 0 } 0..40 };
way "secure bits", sub { went("prctl", 28, 1, 0, 0, 0) };
way "speculation of another", sub { went("prctl", 62, 1, $pid, 0, 0) };
way "memory layout", sub { went("prctl", 35, 1, 4096, 0, 0) };
way "setgid", sub { $( + 0 != 3 && went("setgid", 3) };
way "setgroups", sub { went("setgroups", 1, pack("L", 3)) };
way "capset", sub { went("capset", pack("LL", 0x20080522, 0), pack("L6", 2, 2, 0, 0, 0, 0)) };
way "an ambient capability", sub { went("prctl", 47, 2, 1, 0, 0) };
way "no_new_privs taken back", sub { went("prctl", 38, 0, 0, 0, 0) };
way "seccomp switched off", sub { went("prctl", 22, 0, 0, 0, 0) };
way "a setuid program", sub { -u "$dir/setuid" && $< != 0 && `$dir/setuid -p -c 'id -u' 2>/dev/null` =~ /^0$/m };
way "sudo", sub { $< != 0 && `sudo -n id -u 2>/dev/null` =~ /^0$/m };
way "a program in memory", sub {
	my $fd = call("memfd_create", text("x"), 0);
	$fd < 0 and return 0;
	open(my $f, ">&=$fd");
	syswrite $f, "#!/bin/sh\necho x >$dir/new\n";
	system "/proc/$$/fd/$fd";
	-e "$dir/new"
};
way "a child of its own session", sub { my $p = fork; if (!$p) { setpgrp; exec "/bin/sh", "-c", "echo x >$dir/new" } waitpid $p, 0; -e "$dir/new" };
way "at the end of the shell", sub { system "trap 'echo x >$dir/new' EXIT; exit"; -e "$dir/new" };

for my $name (@order) { print "IN $name\n" if eval { $ways{$name}->() } }
unlink "/tmp/fairlead-test-$$", "/dev/shm/fairlead-test-$$";
print scalar(@order), " ways\n";
