# A function that resolves its argument name by name, as follow does, and prints it with a NUL behind it; an empty one when it cannot
# be resolved. Everything is in a subshell, which the caller closes, and needs no variable of the host's.
#
#= _fl_r _fl_resolve the function
#= _fl_t _fl_todo what is left of the path
#= _fl_c _fl_current what is resolved
#= _fl_h _fl_head the next name
#= _fl_n _fl_link_count how many links have been followed
#= _fl_l _fl_target where a link leads
#= _fl_x _fl_listed the same, as ls prints it
PATH=/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin:$PATH QUOTING_STYLE=literal
_fl_resolve() {
	_fl_todo=$1 _fl_current= _fl_link_count=0
	while :; do
		case $_fl_todo in ('') break;; (*/*) _fl_head=${_fl_todo%%/*} _fl_todo=${_fl_todo#*/};; (*) _fl_head=$_fl_todo _fl_todo=;; esac
		case $_fl_head in (''|.) continue;; (..) _fl_current=${_fl_current%/*}; continue;; esac
		# What is in there differs from process to process.
		case $_fl_current/$_fl_head in (/proc|/dev/fd) printf '%s\0' "$_fl_current/$_fl_head/$_fl_todo"; return;; esac
		if test -h "$_fl_current/$_fl_head"; then
			_fl_link_count=$((_fl_link_count+1))
			if test "$_fl_link_count" -gt 40; then printf '\0'; return; fi
			# The full stop keeps newlines at the end of a target.
			_fl_target=$(readlink -n "$_fl_current/$_fl_head" 2>/dev/null && printf .) || {
				_fl_target=$(ls -ld "$_fl_current/$_fl_head" 2>/dev/null; printf .)
				_fl_listed=${_fl_target#*"$_fl_current/$_fl_head -> "}
				case $_fl_listed in ("$_fl_target") printf '\0'; return;; esac
				_fl_target=${_fl_listed%??}.
			}
			_fl_target=${_fl_target%.}
			case $_fl_target in ('') printf '\0'; return;; (/*) _fl_current=;; esac
			_fl_todo=$_fl_target/$_fl_todo
		else
			_fl_current=$_fl_current/$_fl_head
		fi
	done
	printf '%s\0' "${_fl_current:-/}"
}
