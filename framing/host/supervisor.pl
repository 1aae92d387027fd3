# The parent of the shell: it relays the shell's two pipes to the terminal, standard output as it is and standard error in
# records, and says how the shell ended. It makes a fresh token and says it first, so that nothing that the shell runs can print
# a record or an end that counts. It ignores the keyboard's signals, and the one of "kill 0", which a script ends all of its own with.
# supervisor.sh does the same where there is no perl.
#
# Its arguments are the shell's command line; its text comes in the environment, and is taken out of it.
#
#= _fl_p _fl_supervisor_pl this text
#= _fl_e _fl_reader the reader of errors
#= $t $token the shell's token, which marks the records
#= f group_of the session of a process that lives, as far as a hangup would reach it
#= h hang_up ends what is left of the session
#= w write_out writes to the terminal all of a text
#= S STAT_FILE proc_pid_stat(5) of a process
#= D PROC_DIR the directory of processes
#= R RANDOM_SOURCE the system's random source
#= O OUT_END the shell's standard output
#= P OUT_IN the end of it that the shell has
#= E ERR_END the shell's standard error
#= F ERR_IN the end of it that the shell has
#= $p $pid the shell's process id
#= @p @all processes of the session
#= $a $alive whether the shell lived at the hangup
#= $f $foreign by process group: not 0 where it is known to be of another session
#= $y $deaf set when processes that ignore hangups do not count
#= $z $dead set when the dead count too
#= $c $child set when a child's state has changed
#= $s $ended the shell's status once it has ended
#= $u $outs the set of descriptors for select with OUT_END, …
#= $v $errs … and with ERR_END
#= $r $ready those that are ready
#= $h $held a start mark that waits for what may follow at once
#= $o $output output that was read
#= $e $records records of errors that were read
#= $b $bytes errors that were read
#= $n $count how many bytes
#= $m $much how many bytes of errors in one turn
#= $l $limit how much is still read once the shell has ended
#= $d $done how much of a text has been written
#= $q $calls the set of descriptors for select with that of system calls
#= x call_watch what answers the system calls of a shell that is held; see hold_told.pl
#= $M $modes the terminal's modes
#= @i @ignored the signals that it ignores
#= U UPTIME_FILE proc_uptime(5)
#= $A $began when a process did, in hundredths of a second after the machine; 0 if it is dead
#= $B $busy whether it runs, or waits for a processor or a disk
#= $Y $youth what began later than this has just been started
#= @W @pauses the pauses that are left
#= $G $graces how often what has just been started is waited for
#= $w $pause how long to wait for what was told to end

$0 = "fairlead";
delete @ENV{"_fl_supervisor_pl", "_fl_reader"};
$SIG{$_} = "IGNORE" for @ignored = qw(INT QUIT TERM TSTP TTIN TTOU);
open RANDOM_SOURCE, "</dev/urandom";
sysread RANDOM_SOURCE, $token, 22;
close RANDOM_SOURCE;
$token = join "", map { ("A".."Z", "a".."z", 0..9, "_", "-")[$_ & 63] } unpack "C*", $token;

# Bit 0 of the 33rd field is SIGHUP among what a process ignores: what ignores the hangup (nohup) stays, and what left the
# session (setsid). The 22nd says when it began, in hundredths of a second. All of a process group is of one session, so one look at a
# group of another session does for the whole of it: a host has thousands of processes, and a look costs a dozen times what getpgrp
# does.
sub group_of {
	local $/;
	open(STAT_FILE, "</proc/$_[0]/stat")
		&& <STAT_FILE> =~/.*\) (\S+) \S+ (\S+) (\d+) (?:\S+ ){15}(\d+) (?:\S+ ){10}(\d+) /s
		&& (($foreign{$2} = $3 - $$) || 1)
		&& (($busy = $1 =~ tr/RD//), ($began = $1 =~ /[ZX]/ ? 0 : $4), 1)
		&& !($deaf && $5 & 1)
		&& ($dead || $1 !~ /[ZX]/)
		? $3 : 0
}

# When the terminal goes, the kernel tells only its foreground. What is left of the session hears it here, all of it
# stopped meanwhile, the shell first: a process that waits for another would take its end for a reason to go on, before it hears of its
# own. It hears it more than once, as a shell's child forgets what it hears before its exec. What still does not end is
# killed: a bash that was interrupted at a bad moment sends itself SIGINT for ever, and looks at nothing else.
#
# What began a moment ago may be about to leave, and cannot show it yet: a shell's child that is to become nohup or setsid, the daemon
# whose parent has just ended. It gets a moment, in which the shell is stopped, so that it starts nothing more, and up to a second while it
# has work to do and is younger than two: on a busy host a program takes long to begin.
sub hang_up {
	$SIG{HUP} = "IGNORE";
	if (group_of($$) == $$) {
		$dead = 1;
		$alive = group_of($pid);
		$deaf = 1;
		$deaf = !$alive || group_of($pid);
		open UPTIME_FILE, "</proc/uptime";
		my ($youth, @pauses) = (100 * <UPTIME_FILE> - 20, .01, .04, .1, .2, 0);
		my $graces = 19;
		while (@pauses) {
			1 while 0 < waitpid -1, 1;
			opendir PROC_DIR, "/proc";
			my @all = grep { !/\D/ && $_ != $$ && !$foreign{getpgrp $_} && group_of($_) == $$ } readdir PROC_DIR;
			if (grep { $_ != $pid && group_of($_) && $began > $youth - 180 * $busy && $graces > 16 * !$busy } @all) {
				$graces--;
				kill "STOP", $pid;
				select undef, undef, undef, .05;
				next
			}
			$graces = $dead = 0;
			my $pause = shift @pauses;
			@all = sort { ($b == $pid) - ($a == $pid) } @all;
			kill "STOP", @all;
			kill $pause ? "HUP" : "KILL", @all;
			kill "CONT", @all;
			@all || last;
			select undef, undef, undef, $pause
		}
	}
	exit
}

pipe OUT_END, OUT_IN;
pipe ERR_END, ERR_IN;
$SIG{CHLD} = sub { $child = 1 };
$SIG{HUP} = \&hang_up;
@hold_begin@
defined($pid = fork) or exit 126;
if (!$pid) {
	$SIG{$_} = "DEFAULT" for @ignored, "HUP", "CHLD";
	open STDOUT, ">&OUT_IN";
	open STDERR, ">&ERR_IN";
	close $_ for OUT_END, OUT_IN, ERR_END, ERR_IN;
	@hold_child@
	exec { $ARGV[0] } @ARGV;
	exit 127
}
close OUT_IN;
close ERR_IN;

# 4 is EINTR.
sub write_out {
	my $done = 0;
	while ($done < length $_[0]) {
		my $count = syswrite STDOUT, $_[0], length($_[0]) - $done, $done;
		if (defined $count) { $done += $count } elsif ($! != 4) { hang_up() }
	}
}
@hold_told@
write_out "@rs@@nonce1@"."@nonce2@T$token\n";

# A command may leave modes that change what is typed next (stty istrip, susp): at the end of a command they are what they were.
# 21505 is Linux's TCGETS, 21506 its TCSETS, which wakes who reads: so only where they differ.
ioctl STDIN, 21505, $modes = "\0" x 256;
$held = $outs = $errs = $calls = "";
vec($outs, fileno OUT_END, 1) = 1;
vec($errs, fileno ERR_END, 1) = 1;
@call_watch && (vec($calls, $call_watch[0], 1) = 1);
$limit = 4e6;
for (;;) {
	# The wait of 10 s covers a child that ends just before select.
	if (select($ready = $outs | $errs | $calls, undef, undef, $held ne "" ? .002 : $child || defined $ended ? 0 : 10) > 0 && $limit > 0) {
		$output = $records = "";
		@hold_calls@
		if (vec $ready, fileno OUT_END, 1) {
			$count = sysread OUT_END, $output, 65536;
			vec($outs, fileno OUT_END, 1) = 0 if defined $count && !$count;
			# A start mark alone waits 2 ms for what may follow at once: a silent command then costs one packet and not two. It
			# waits awake at first, for some 50 µs: to sleep and be woken takes longer than most builtins.
			if ($count == 24 && $held eq "" && substr($output, 23) eq "S") {
				$held = $output;
				$output = "";
				$count = 0;
				for (1..60) { select($ready = $outs, undef, undef, 0) > 0 and $count = sysread(OUT_END, $output, 65536), last }
				$count || next
			}
		}
		# Between reading output and passing it on, all that waits on the error pipe is read: so errors that were written before
		# a frame's end come before it.
		$much = 0;
		while ($much < 2e6 && vec($errs, fileno ERR_END, 1) && select($ready = $errs, undef, undef, 0) > 0) {
			$count = sysread ERR_END, $bytes, 65536;
			if (!$count) { vec($errs, fileno ERR_END, 1) = 0 if defined $count; last }
			$much += $count;
			$records .= "@rs@$token"."e$count;$bytes"
		}
		ioctl(STDIN, 21505, $bytes = "\0" x 256) && $bytes ne $modes && ioctl STDIN, 21506, $modes if substr($output, -25) =~ /^@rs@.+Z\n/i;
		write_out $records.$held.$output;
		$held = "";
		$limit -= $much + length $output if defined $ended;
		if (!defined $ended && !unpack "%32b*", $outs | $errs) { waitpid $pid, 0; $ended = $? }
	} elsif ($held ne "") {
		write_out $held;
		$held = ""
	} else {
		# After the shell's end, what is left is drained within bounds: a background process may write for ever.
		last if defined $ended;
		$child = 0;
		# 3 is WNOHANG|WUNTRACED. A shell that was stopped goes on, as the terminal's foreground (21520 is Linux's TIOCSPGRP): what
		# stops a shell is job control that was switched on without it, or a command. $? is 0 then, and the process there:
		# 1 is EPERM.
		if (0 < waitpid $pid, 3) {
			if (kill(0, $pid) || $! == 1) { ioctl STDIN, 21520, pack "i", getpgrp $pid; kill CONT, $pid } else { $ended = $? }
		}
	}
}
@hold_over@
write_out sprintf "@rs@%sX%d;%d\n", $token, $ended >> 8, $ended & 127;
# Linux throws away what a terminal still holds when the session leader ends: it stays until the terminal is closed or a minute
# has gone.
alarm 60;
sysread STDIN, $bytes, 1;
exit $ended >> 8
