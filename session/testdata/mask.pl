# Becomes a program on a kernel that lacks what its first argument names: a filter of system calls answers what such a kernel does.
use POSIX ();
my ($lacks, @program) = @ARGV;
my $arm = (POSIX::uname())[4] eq "aarch64" ? 1 : 0;
my ($ENOSYS, $EINVAL, $EOPNOTSUPP) = (38, 22, 95);
# What is lacked: for x86-64 and arm64, the call, half of an argument, its value, and the answer.
my %masks = (
	landlock => [map [$_, $_, undef, undef, $ENOSYS], 444..446],
	"landlock that is switched on" => [map [$_, $_, undef, undef, $EOPNOTSUPP], 444..446],
	listener => [[317, 277, 2, 8, $EINVAL]],
	"descriptors for answers" => [[16, 29, 2, 0x40182103, $EINVAL]],
	seccomp => [[317, 277, undef, undef, $ENOSYS], [157, 167, 0, 22, $EINVAL]],
	no_new_privs => [[157, 167, 0, 38, $EINVAL]],
	close_range => [[436, 436, undef, undef, $ENOSYS]],
);
my @ops;
my $op = sub { push @ops, pack "SCCL", @_ };
for (map @{$masks{$_} || []}, split /, /, $lacks) {
	my ($half, $value, $answer) = @$_[2..4];
	$op->(0x20, 0, 0, 0);
	$op->(0x15, 0, defined $half ? 3 : 1, $_->[$arm]);
	defined $half && ($op->(0x20, 0, 0, 16 + 4 * $half), $op->(0x15, 0, 1, $value));
	$op->(6, 0, 0, 0x50000 | $answer);
}
$op->(6, 0, 0, 0x7fff0000);
my $text = join "", @ops;
my $filter = pack "Sx6P", scalar @ops, $text;
# Root need not give up setuid programs for a filter, and a kernel without that would not take it either.
$lacks =~ /no_new_privs/ || syscall($arm ? 167 : 157, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
syscall($arm ? 277 : 317, 1, 0, $filter) == 0 or die "seccomp: $!";
exec @program or die "$!";
