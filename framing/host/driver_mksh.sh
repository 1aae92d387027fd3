# What mksh does in its own way; a part of driver.sh, after driver_ksh.sh. printf is no builtin there.
_fl_dialect=mksh _fl_builtin=builtin _fl_print='print -rn --' _fl_drop_traps='trap - ERR' _fl_trap_begin= _fl_trap_end=

# The shell ends itself when another command of the same frame comes: tracing that cannot expand PS4 does that. _fl_may_follow then
# holds the old PS4, behind an x if the command was traced already, else behind a -.
_fl_stop_command='case $_fl_may_follow in ("") \
		case $- in (*x*) _fl_may_follow=x$PS4;; (*) _fl_may_follow=-$PS4;; esac; \
		exec 2>/dev/null; PS4=\${_fl_status:?}; set -x;; \
	esac'
_fl_take_status=$_fl_take_status'
	case $_fl_flags in (*x*)
		set +x
		case $_fl_may_follow in
		(-*) PS4=${_fl_may_follow#?} _fl_flags=${_fl_flags%%x*}${_fl_flags#*x};;
		(x*) PS4=${_fl_may_follow#?};;
		esac
		_fl_may_follow=;;
	esac'
