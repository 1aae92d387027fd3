# What dash, busybox and any other sh do in their own way; a part of driver.sh.

# They cannot find out whether something is left to run: the frame's header says it, see afterInterrupt in goeson.go, and the shell
# ends if there is something.
_fl_stop_command='_fl_text=${_fl_mode:-$_fl_may_follow}; \
	case $_fl_text in \
	(+*) exit "$_fl_interrupted";; \
	(\=*) \
		_fl_text=${_fl_text#=}; \
		case $(command -V "${_fl_text%%=*}") in (*function*|*an\ alias*) exit "$_fl_interrupted";; esac;; \
	esac'

# In busybox an error in a child of the shell finds its way into the eval of its parent where that is called through "command", and
# never out again: there eval is called as it is, and an error ends the shell. Its eval counts a command's lines from 0.
#
# It tries for ever to undo a group's redirections where a limit leaves it no descriptor 9: that is tried first.
case $(ls -l /proc/$$/exe) in (*busybox*) _fl_through= _fl_begin_round='
' _fl_close_group='case ${_fl_status:=$?} in (x) ;; esac
	case x in (x) ;; esac 9>&2 || { _fl_farewell; exec /bin/sh -c "trap \"exit $_fl_status\" 0; : \${fairlead?ulimit -n below 10 ends this shell}"; }
	';; esac
