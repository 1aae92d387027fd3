# Whether the shell $0 would hear of SIGURG, on Linux: that is bit 22 of what it catches. A command that traps every signal there
# is catches SIGTTOU too, bit 21, which no shell does by itself.
#= d is_deaf d where the shell would not end its command
#= K status_key the first word of a line of /proc/PID/status
#= v status_value the rest
test -r /proc/$0/status && while read -r status_key status_value;do case $status_key$status_value in SigCgt:*[45cd]?????) ;; SigCgt:*) is_deaf=d;; esac;done </proc/$0/status
