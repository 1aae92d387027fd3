# Lists the programs that the end of the shell $0 leaves running, a process id and a name in each line: those of its session that
# ignore the hangup (nohup), and its descendants in sessions of their own (setsid); see Leaves. Like loader.sh it is sent in one line
# between single quotes.
#
#= L stat_line proc_pid_stat(5); behind the name: state, parent, group, session, and the 31st are the signals that it ignores
#= P shell_parent the supervisor
#= S shell_session the session
#= p process_id one process
#= m process_name its name
#= y is_left set where it goes on
@descendants@
list_descendants $0
read -r stat_line </proc/$0/stat && set -- ${stat_line##*") "} && shell_parent=$2 shell_session=$4 || exit
echo fairlead:$0:
for child_file in /proc/[1-9]*/stat;do
	read -r stat_line <$child_file || continue
	process_id=${child_file%/stat}
	process_id=${process_id#/proc/}
	process_name=${stat_line#*"("}
	is_left=
	set -- ${stat_line##*") "}
	# SIGHUP is bit 0. The supervisor has more children where there is no perl.
	case $1:$4 in [ZX]:*);;
	*:$shell_session) case $process_id:$2:${31} in $shell_session:*|*:$shell_parent:*|*[02468]);; *) is_left=y;; esac;;
	*) case " $descendant_ids " in *" $process_id "*) is_left=y;; esac;;
	esac
	case $is_left in y) printf "%s %s\n" $process_id "${process_name%")"*}";; esac
done 2>/dev/null
