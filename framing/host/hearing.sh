# Whether a process would hear of SIGURG as the shell does, on Linux: that is bit 22 of what it catches. A command that traps every
# signal there is catches SIGTTOU too, bit 21, which no shell does by itself.
#= U catches_urg y or n, or nothing where that is not known
#= K status_key the first word of a line of /proc/PID/status
#= v status_value the rest
#= h look_at_signals looks at those of a process
look_at_signals() {
	catches_urg=
	test -r /proc/$1/status && while read -r status_key status_value;do case $status_key$status_value in SigCgt:*[45cd]?????) catches_urg=y;; SigCgt:*) catches_urg=n;; esac;done </proc/$1/status
}
