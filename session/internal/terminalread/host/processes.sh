# Reports on the shell $0 and its descendants, one line for each, and the files that each has open; see processesLine. It is sent in
# one line between single quotes, for every login shell.
#
#= l all_ids process ids of the descendants
#= f add_children adds the children of a process, and theirs
#= t child_file a file with the children of a thread
#= c child_ids their process ids
#= k process_id one process
#= s stat_fields proc_pid_stat(5), then its fields behind the name
#= n process_name its name
#= w wait_channel where it sleeps in the kernel
#= y system_call the system call that it is in, and its arguments
exec 2>/dev/null
all_ids=
add_children() {
	for child_file in /proc/$1/task/*/children;do
		read -r child_ids <$child_file
		for process_id in $child_ids;do
			all_ids="$all_ids $process_id"
			add_children $process_id
		done
	done
}
if test -r /proc/$0/task/$0/children;then
	add_children $0
	for process_id in $0 $all_ids;do
		stat_fields=
		read -r stat_fields </proc/$process_id/stat
		process_name=${stat_fields#*\(}
		process_name=${process_name%\)*}
		stat_fields=${stat_fields##*\) }
		set -- $stat_fields
		wait_channel=
		read -r wait_channel </proc/$process_id/wchan
		system_call=
		read -r system_call </proc/$process_id/syscall
		child_ids=
		read -r child_ids </proc/$process_id/task/$process_id/children
		echo "fairlead-process:$process_id:$1:${child_ids:+parent}:$wait_channel:$system_call:$process_name"
		ls -l /proc/$process_id/fd
	done
	echo fairlead-done:
fi
