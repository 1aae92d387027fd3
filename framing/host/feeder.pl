# Passes counted pieces of standard input to standard output, the pipe: a length in decimal, a newline, and as many bytes. The length 0
# is the end. See feeder.sh.
#
#= $b $read what has been read and not passed on
#= $i $line where the length ends
#= $n $left what is missing of the piece
#= $m $most what can be passed on at once
#= $d $done how much of that has been

$0 = "fairlead";
$read = "";
for (;;) {
	while (($line = index $read, "\n") < 0) {
		sysread(STDIN, $read, 65536, length $read) or exit
	}
	$left = substr $read, 0, $line;
	substr($read, 0, $line + 1) = "";
	$left > 0 || exit;
	while ($left) {
		$read eq "" and (sysread(STDIN, $read, 65536) or exit);
		$most = length $read < $left ? length $read : $left;
		$done = 0;
		while ($done < $most) {
			$done += syswrite(STDOUT, $read, $most - $done, $done) || exit
		}
		substr($read, 0, $most) = "";
		$left -= $most
	}
}
