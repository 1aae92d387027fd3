# Evaluates what holds a shell with system calls that only print what they were given. Its arguments are the text, and what
# landlock_create_ruleset says of its version.
my ($text, $version, $told) = @ARGV;
sub value {
	my $value = shift;
	$value =~ /^-?\d{1,19}\z/ ? $value : unpack "H*", $value
}
sub filter {
	my ($count, $ops) = unpack "Sx6Q", $_[0];
	$ops = unpack "P" . 8 * $count, pack "Q", $ops;
	# It is compared with the shell's process id behind a zero; other values may be the same by chance.
	my $before = -1;
	join "", map { my @op = unpack "SCCL", $_; my $is = $before == 0 && $op[3] == $$; $before = $op[3]; $is and $op[3] = "PID"; "@op\n" } $ops =~ /.{8}/gs
}
BEGIN {
	*CORE::GLOBAL::syscall = sub ($@) {
		my ($number, @args) = @_;
		print "$number ";
		if ($number == 317 || $number == 277) { print "$args[0] $args[1]\n", filter($args[2]); $! = 22; return $told ? 9 : -1 }
		if ($args[0] eq 22) { print "$args[0] $args[1]\n", filter($args[2]); return 0 }
		if ($number == 46 || $number == 211) { print "$args[0] $args[2]\n"; return 2 }
		if ($number == 0 || $number == 63) { print "$args[0] $args[2]\n"; return 1 }
		$number == 445 and $args[2] = unpack "Q", $args[2];
		$number == 125 || $number == 90 and $args[1] = $_[2] = pack "L6", (0xffffffff) x 6;
		print join(" ", map value($_), @args), "\n";
		$number == 444 ? $args[0] eq 0 ? $version : 3 : 0
	}
}
@_ = (5);
my $by = eval $text;
my $why = $@;
chomp $why;
print "$by$why\n", map "$_\n", sort keys %ENV;
