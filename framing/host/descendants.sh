# Lists in descendants those of the process $1: through /proc where Linux lists children there (proc(5), task/TID/children), else
# through ps.
#= l descendant_ids process ids
#= f add_children adds the children of a process, and theirs
#= w list_descendants lists those of a process
#= t child_file a file with the children of a thread
#= c child_ids their process ids
#= k child_id one of them
#= q known_ids process ids that are descendants, or the shell
#= a all_pairs what ps prints
#= n found_more set while a turn has found more
descendant_ids=
add_children() {
	for child_file in /proc/$1/task/*/children;do
		read -r child_ids <$child_file
		for child_id in $child_ids;do
			descendant_ids="$descendant_ids $child_id"
			add_children $child_id
		done
	done
}
list_descendants() {
	if test -r /proc/$1/task/$1/children;then
		add_children $1
	else
		known_ids=" $1 "
		all_pairs=$(ps -A -o pid= -o ppid=)
		found_more=y
		while test "$found_more";do
			found_more=
			set -- $all_pairs
			while test "$2";do
				case $known_ids in *" $1 "*);;
				*) case $known_ids in *" $2 "*) known_ids="$known_ids$1 ";descendant_ids="$descendant_ids $1";found_more=y;; esac;;
				esac
				shift 2
			done
		done
	fi
}
