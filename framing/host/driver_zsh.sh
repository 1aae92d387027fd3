# What zsh does in its own way; a part of driver.sh. ("command eval" is not a builtin there.)
#
#= _fl_O _fl_left y until a command has ended by itself
_fl_dialect=zsh _fl_builtin=builtin _fl_drop_traps='trap - DEBUG ZERR'

# Where a limit leaves it no descriptor to redirect with, zsh ends the round without a word: what has not printed its end says that it
# went wrong.
_fl_take_status="$_fl_take_status _fl_frame=:" _fl_printed='&& _fl_frame= '

# zsh alone has a loop around a command, which the trap on INT breaks. A break of the command's own would end it silently: it is
# reported as zsh reports it elsewhere.
_fl_open_round='for _fl_left in y; do { '
_fl_close_round='
	_fl_status=${_fl_status:-$?} _fl_left=
	done
	case $_fl_left in (y) \builtin print -r "(eval):break: not in while, until, select, or repeat loop" >&$_fl_err; _fl_left= _fl_status=1;; esac'

# The trap on DEBUG leads out of every loop and function until the command that takes the exit code.
_fl_stop_command='\builtin trap "{ case \$ZSH_DEBUG_CMD in \
		(_fl_status=*) \builtin trap - DEBUG; _fl_status=\$_fl_interrupted;; \
		(*) \builtin break; \builtin setopt errexit;; \
	esac; } 2>/dev/null" DEBUG; \
	_fl_left=; \builtin break'

# zsh traces what runs inside of exit, as this trap does, to where errors went before it, and assignments too. The expansions of a
# redirection are not traced.
_fl_exit_begin='{ } 2>/dev/null${${_fl_exit_status:=$?}:#*}${${(M)${:-$-${(t)options}}:#*x*special}:+${${options[xtrace]::=off}:#*}}
'
