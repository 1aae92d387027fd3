# Asks a service through the socket that is open for it, prints the answers, and tries to get further: it prints the name of each way
# that went through. Its arguments are a directory with the sockets open, other and datagrams and a link to the first one, and the name of
# an abstract socket.
use Fcntl;
use POSIX ();
use Socket;
my ($dir, $abstract) = @ARGV;
my $arm = (POSIX::uname())[4] eq "aarch64";
my $at = sub { pack_sockaddr_un("$dir/$_[0]") };
my ($ways, @in) = 0;
sub way {
	my ($name, $try) = @_;
	$ways++;
	eval { $try->() } and push @in, $name
}
sub stream { my ($s, $type) = (undef, shift || SOCK_STREAM); socket($s, AF_UNIX, $type, 0) or die; $s }
sub ask { my $s = shift; syswrite $s, "hello\n"; my $said = ""; sysread $s, $said, 100; $said }
# Not sleeping, reads what comes.
sub wait_for { my $set = ""; vec($set, fileno $_[0], 1) = 1; select $set, undef, undef, 10 }

my $s = stream();
connect($s, $at->("open")) || print "refused: $!\n";
print "stream: ", ask($s);
my $open = $s;
$s = stream(SOCK_STREAM | 2048);
connect($s, $at->("open")) || print "refused: $!\n";
fcntl($s, F_GETFL, 0) & O_NONBLOCK or print "it blocks\n";
syswrite $s, "hello\n";
wait_for($s);
sysread $s, my $said, 100;
print "not blocking: $said";
# Close-on-exec stays as it was.
fcntl($s, F_GETFD, 0) & FD_CLOEXEC or print "it stays open\n";
$s = stream();
fcntl $s, F_SETFD, 0;
connect($s, $at->("open"));
fcntl($s, F_GETFD, 0) & FD_CLOEXEC and print "it closes\n";
print "none: ", connect(stream(), pack_sockaddr_un("/nowhere/socket")) ? "connected" : $! + 0, "\n";

way "another socket", sub { connect(stream(), $at->("other")) };
way "another path of the same socket", sub { connect(stream(), $at->("link")) };
way "another spelling", sub { connect(stream(), $at->("./open")) };
way "a link to it that is not there yet", sub { symlink "$dir/other", "$dir/swapped"; connect(stream(), $at->("swapped")) };
way "an abstract socket", sub { connect(stream(), pack("Sa*", AF_UNIX, "\0$abstract")) };
way "an abstract socket with that name", sub { connect(stream(), pack("Sa*", AF_UNIX, "\0$dir/open")) };
way "a longer path", sub { connect(stream(), pack("Sa*", AF_UNIX, "$dir/openx")) };
way "a shorter path", sub { connect(stream(), pack("Sa*", AF_UNIX, "$dir/ope")) };
way "a second connection of the same descriptor", sub { connect($open, $at->("other")) };
way "none of what is connected", sub { connect($open, pack("Sx14", 0)) && connect($open, $at->("other")) };
way "an address to send to", sub { send($open, "x\n", 0, $at->("other")); send(stream(), "x\n", 0, $at->("other")) };
way "an address to send to, of a connection", sub { send($open, "", 0, $at->("other")) && 0 };
way "datagrams", sub { connect(stream(SOCK_DGRAM), $at->("datagrams")) };
way "a datagram", sub { send(stream(SOCK_DGRAM), "x", 0, $at->("datagrams")) };
way "a pair", sub { socketpair(my $p, my $q, AF_UNIX, SOCK_STREAM, 0); connect($p, $at->("other")) };
way "a pair of datagrams", sub { socketpair(my $p, my $q, AF_UNIX, SOCK_DGRAM, 0) && send($p, "x", 0, $at->("datagrams")) };
way "TCP", sub { socket(my $t, AF_INET, SOCK_STREAM, 0) && connect($t, pack_sockaddr_in(22, INADDR_LOOPBACK)) };
way "another family with that path", sub { connect(stream(), pack("Sa*", AF_INET, "$dir/open")) };
way "bind", sub { bind(stream(), $at->("made")) || -e "$dir/made" };
way "what is no socket", sub { open my $f, "<", "$dir/sockets.pl"; my $a = $at->("open"); syscall($arm ? 203 : 42, fileno $f, $a, length $a) >= 0 };
way "what is not open", sub { my $a = $at->("open"); syscall($arm ? 203 : 42, 99, $a, length $a) >= 0 };
# Memory that another process changes between the two paths.
way "a race", sub {
	my $memory = syscall $arm ? 222 : 9, 0, 4096, 3, 0x21, -1, 0;
	open my $f, "+>", "$ENV{TMPDIR}/race" or return 0;
	my ($good, $bad) = map { pack "a110", $at->($_) } "open", "other";
	syswrite $f, pack "a256a256", $good, $bad;
	my $change = sub { syscall $arm ? 67 : 17, fileno $f, $memory, 256, $_[0] };
	$change->(0);
	my $child = fork;
	if (!$child) { my $i = 0; 1 while $change->(($i = !$i) * 256) > 0; POSIX::_exit(0) }
	my $won = 0;
	for (1..300) {
		my $s = stream();
		syscall($arm ? 203 : 42, fileno $s, $memory, 110) >= 0 or next;
		my $peer = getpeername $s;
		$won = 1 if defined $peer && (unpack_sockaddr_un($peer))[0] =~ /other/;
	}
	truncate $f, 0;
	waitpid $child, 0;
	$won
};
print "IN $_\n" for @in;
print "$ways ways\n";
