# Counts the programs that the shell $0 has in the foreground of its terminal and that SIGINT would have ended; see Unheard. Like
# loader.sh it is sent in one line between single quotes.
#
#= N program_count programs that count
#= K status_key the first word of a line of /proc/PID/status
#= v status_value the rest
#= i is_immune set for one that does not
#= s stat_fields proc_pid_stat(5) behind the name: state, parent, group, session, terminal, the terminal's foreground
@descendants@
list_descendants $0
program_count=0
for child_id in $descendant_ids;do
	is_immune=y
	# SIGINT is bit 1.
	test -r /proc/$child_id/status && {
		is_immune=
		while read -r status_key status_value;do case $status_key$status_value in SigBlk:*[2367abef]|SigIgn:*[2367abef]|SigCgt:*[2367abef]) is_immune=y;; esac;done </proc/$child_id/status
		read -r stat_fields </proc/$child_id/stat&&set -- ${stat_fields##*") "}||is_immune=y
		case $is_immune$1 in Z|X) ;; *) test "$is_immune" || test "$3" != "$6" || program_count=$((program_count+1));; esac
	} 2>/dev/null
done
echo fairlead:$0:$program_count::
