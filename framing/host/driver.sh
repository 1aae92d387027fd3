# The program of the shell that runs the commands: it reads frames from the terminal and evaluates them. README.md says why it
# is as it is.
#
# It comes in an environment variable, which driver_call.sh, the text behind -c, evaluates. Most of it is text that is put together
# once and evaluated for each frame: every assignment, expansion and builtin on the way of a silent command is what such a command
# costs, a case hardly. What one family of shells does in its own way is in driver_bash.sh, driver_zsh.sh, driver_ksh.sh,
# driver_mksh.sh, driver_ksh93.sh and driver_posix.sh; they set the names of the first two groups.
#
# Names, as they are sent and as they are here. What a shell can do:
#
#= _fl_c _fl_dialect the shell's family, as the hello says it; b once driver_call.sh has said farewell
#= _fl_b _fl_builtin what makes a word a builtin: "builtin", else "command"
#= _fl_5 _fl_through set where eval is called through that
#= _fl_p _fl_print how to print one word as it is
#= _fl_K _fl_keep_last_word the argument that bash remembers as the last word ($_) instead of a mark
#= _fl_o _fl_out the descriptor of the pipe for output
#= _fl_f _fl_err the descriptor of the pipe for errors
#= _fl_h _fl_close_pipes closes both for a command, where it may see them
#= _fl_N _fl_null what a command reads from: nothing
#
# Text of a round that depends on it:
#
#= _fl_n _fl_begin_round how a round begins
#= _fl_l _fl_open_round opens the group that a command runs in
#= _fl_g _fl_close_group stands before the end of that group
#= _fl_P _fl_printed what follows the end once it is printed
#= _fl_Q _fl_close_round what follows the group at once
#= _fl_S _fl_take_status takes the exit code and the options
#= _fl_T _fl_drop_traps drops the traps that watch commands
#= _fl_G _fl_stop_command what ends the rest of an interrupted command
#= _fl_B _fl_trap_begin how the traps on signals begin, …
#= _fl_X _fl_trap_end … and end
#= _fl_I _fl_exit_begin how the one on EXIT begins
#
# Text that is put together here:
#
#= _fl_y _fl_evaluate evaluates the word that follows
#= _fl_a _fl_start the end of the start mark, and the same
#= _fl_i _fl_end_usual closes the group in a frame of the usual mode, …
#= _fl_j _fl_end_merged … in one whose streams are merged, …
#= _fl_k _fl_end_terminal … and in one that reads from the terminal
#= _fl_t _fl_after_command what follows a command
#= _fl_u _fl_if_there tests that PWD is where the shell stands, and prints the end of a command if so
#= _fl_x _fl_after_word all that follows the command in a frame of the usual mode
#= _fl_D _fl_fields what the end of a command says
#= _fl_E _fl_end closes it, or prints it with the directory that pwd says
#= _fl_7 _fl_rounds 128 rounds
#= _fl_8 _fl_rounds2 128 times as many
#= _fl_9 _fl_rounds3 128 times as many again
#
# What changes:
#
#= _fl_d _fl_driver this text, in the environment
#= _fl_e _fl_reader set when errors need an end mark of their own: the reader's name
#= _fl_r _fl_status the exit code; empty from the reading of a frame to the end of its command
#= _fl_m _fl_flags the options of the shell ($-) when a command has ended
#= _fl_6 _fl_interrupted the exit code of a command that was interrupted
#= _fl_A _fl_untraced y in a frame with xtrace until the command runs: one with a syntax error never does, and xtrace stays on
#= _fl_4 _fl_may_follow what the frame's header says that an interrupt may leave to run; in mksh see driver_mksh.sh
#= _fl_2 _fl_idle set while no round of a list has run
#= _fl_1 _fl_token the frame's token, as it is typed
#= _fl_3 _fl_mode its mode, then what closes the group in that mode
#= _fl _fl_frame the word with the command, then the text of the round
#= _fl_L _fl_line a line of a frame
#= _fl_s _fl_text what a function works on
#= _fl_C _fl_exit_status the exit code of the shell
#= _fl_w _fl_cook makes the terminal a person's, before an interactive command
#= _fl_v _fl_uncook makes it raw again; while such a command runs, the TERM of the others
#
# Functions:
#
#= _fl_R _fl_read_frame reads a frame and makes the text of its round
#= _fl_z _fl_print_end prints the end of a command with the directory that pwd says
#= _fl_F _fl_farewell says where the shell stands when it leaves
#= _fl_q _fl_return returns an exit code, for a command that follows a failure

# Descriptor 0 is the terminal. 8 and 9 are the pipes; dash knows no descriptors of two digits. Of the driver itself nothing is
# seen.
exec 8>&1 9>&2 >/dev/null 2>&1
unset fairlead _fl_driver
_fl_dialect=sh _fl_builtin=command _fl_through=y _fl_print='printf %s' _fl_keep_last_word=
_fl_out=8 _fl_err=9 _fl_close_pipes='8>&- 9>&-' _fl_null=/dev/null
_fl_begin_round= _fl_open_round='{ ' _fl_close_round= _fl_drop_traps=:
_fl_take_status='_fl_status=${_fl_status:-$?} _fl_flags=$-' _fl_trap_begin='{ ' _fl_trap_end='; } 2>/dev/null'
_fl_close_group= _fl_printed= _fl_uncook= _fl_cook= _fl_may_follow= _fl_flags= _fl_exit_status= _fl_exit_begin=
if test "${BASH_VERSION-}"; then
	@driver_bash@
elif test "${ZSH_VERSION-}"; then
	@driver_zsh@
else case ${KSH_VERSION-} in (?*)
	@driver_ksh@
	;; esac
	case ${KSH_VERSION-} in (*MIRBSD*)
	@driver_mksh@
	;; (?*)
	@driver_ksh93@
	;; (*)
	@driver_posix@
	;; esac
fi

# What follows a command may take for granted that the command has done its work: so an interrupt ends all of it, and not only the
# program that the shell waits for. A program that a person sits at may have its own use for the key: there only one that
# died by a signal counts.
trap "${_fl_trap_begin}case \$_fl_status in ('') case \$_fl_cook:\$? in (:*|*:12[89]|*:1[3-9]?|*:2??) _fl_interrupted=130; $_fl_stop_command;; esac;; esac$_fl_trap_end" INT
# Signal sends this one to the shell first, so that it does not matter what the command does about INT.
trap "${_fl_trap_begin}_fl_interrupted=\$?; case \$_fl_interrupted in (129|1[3-9]?) ;; (*) _fl_interrupted=130;; esac; case \$_fl_status in ('') $_fl_stop_command;; esac$_fl_trap_end" URG

_fl_return() { case $2$- in (x*e*) ;; (*) \return "$1";; esac; }

# The farewell goes the way of the output, so that it comes in its place, and past it only where the shell leaves inside a
# command that has the pipe closed (zsh). A child of bash that is killed before it has become its program runs the trap too.
_fl_farewell() { eval "$_fl_print \"@rs@@nonce1@\"\"@nonce2@C\${PWD-}@rs@@nonce1@\"\"@nonce2@c\""; }
trap "$_fl_exit_begin"'{ case ${_fl_exit_status:=$?} in (x) ;; esac; set +x; } 2>/dev/null
case $_fl_dialect${BASHPID-} in (bash|bash$$|[!b]*) { _fl_farewell >&"$_fl_out"; } 2>/dev/null || _fl_farewell 2>/dev/null >/dev/tty;; esac
case $_fl_dialect$_fl_may_follow in (mksh) exit "$_fl_exit_status";; (mksh*) exit 130;; esac' EXIT

# mksh's pwd says nothing of a directory that was deleted. Where this cannot be printed either, as without a free descriptor or with
# printf switched off, no end would ever come: the round has not gone well, and the shell ends.
_fl_print_end() { _fl_frame=:; eval "$_fl_print '@rs@'$1'E'$_fl_status';'$_fl_flags';' && { \\$_fl_builtin pwd || $_fl_print \"\${PWD-}
	\"; $_fl_print '@rs@'$1'z
	'; }" >&"$_fl_out" && _fl_frame=; }

# The redirections of a group: what a command redirects for good is undone with them, so it cannot cut the driver off.
_fl_print="\\$_fl_builtin $_fl_print"
_fl_end_merged="
	$_fl_close_group} <$_fl_null >&$_fl_out 2>&$_fl_out $_fl_close_pipes"
_fl_end_terminal="
	$_fl_close_group} >&$_fl_out 2>&$_fl_err $_fl_close_pipes"
_fl_end_usual="
	$_fl_close_group} <$_fl_null >&$_fl_out 2>&$_fl_err $_fl_close_pipes"

# Traps on DEBUG and ERR and tracing, which could see the printing command, are switched off in commands of their own before it.
_fl_after_command="$_fl_close_round
	$_fl_take_status
	\\$_fl_builtin $_fl_drop_traps
	case \$_fl_flags in (*x*) \\$_fl_builtin set +x;; esac
	"

# The text of a round up to the command stands on the line where it is evaluated: shells count a command's lines from there. It
# begins with taking the token away.
_fl_begin_round="${_fl_begin_round}_fl_frame= _fl_token=;$_fl_open_round$_fl_print @rs@"
_fl_evaluate="${_fl_through:+\\$_fl_builtin }\\eval "
_fl_start="S$_fl_keep_last_word; $_fl_evaluate"
_fl_if_there="\\$_fl_builtin test . -ef \"\${PWD-}\" && $_fl_print @rs@"
_fl_fields="E\"\$_fl_status;\$_fl_flags;\$PWD\"@rs@"
_fl_end="Z'
	' >&$_fl_out $_fl_printed|| _fl_print_end "
_fl_after_word=$_fl_end_usual$_fl_after_command$_fl_if_there

# There is no loop around a command, so the driver has lists of 128 rounds each. A shell ends after 2 million.
_fl_rounds="_fl_read_frame;$_fl_evaluate\"\$_fl_frame\";"
_fl_rounds2="_fl_idle=y;$_fl_evaluate\"\$_fl_rounds\";case \$_fl_idle in (y) _fl_rounds=;;esac;"
_fl_rounds3="$_fl_evaluate\"\$_fl_rounds2\";"
for _fl_text in 1 2 3 4 5 6 7; do
	_fl_rounds=$_fl_rounds$_fl_rounds _fl_rounds2=$_fl_rounds2$_fl_rounds2 _fl_rounds3=$_fl_rounds3$_fl_rounds3
done

# Whatever goes wrong here empties the lists, and the shell ends. Loops are written with until, so that they end when a command
# switched execution off (set -n): every command then counts as a success.
_fl_read_frame() {
	# What the round before has not taken away, or what was not made, says that it went wrong.
	case $_fl_frame in ('') _fl_frame=: _fl_idle=;; (*) _fl_rounds= _fl_rounds2=;; esac

	# The header, with the IFS there is where that is the usual one: to change it for one command would cost bash as much as three
	# assignments. A line that does not begin a frame was typed at a command that had ended: it is passed over. Where a
	# function of the command's took the place of what reads, there is no line either: a test that cannot hold then does.
	case ${_fl_rounds:+$_fl_status} in
	('') _fl_token=;;
	(*)
		until
			case ${IFS-} in
			(' 	
') "$_fl_builtin" read -r _fl_token _fl_mode _fl_frame;;
			(*) IFS=' ' "$_fl_builtin" read -r _fl_token _fl_mode _fl_frame;;
			esac
			case $? in
			(0) case $_fl_token in (???????????"''"???????????) ;; (*) "$_fl_builtin" test '';; esac;;
			(*) _fl_token=;;
			esac
		do _fl_token=; done;;
	esac

	# The rest of the frame, unless it stands on the first line. A long script is collected in two steps, because shells copy a
	# string to lengthen it.
	case $_fl_token in
	(???????????"''"???????????)
		_fl_status=
		case $_fl_frame in
		(*@rs@) ;;
		(*)
			_fl_text=
			until IFS= "$_fl_builtin" read -r _fl_line; case $? in (0) ! case x in (x) ;; esac;; esac; do
				_fl_text=$_fl_text$_fl_line'
'
				case $_fl_line in (*@rs@) _fl_frame=$_fl_frame$_fl_text; break;; esac
				case ${#_fl_text} in (?????*) _fl_frame=$_fl_frame$_fl_text _fl_text=;; esac
			done
			case $_fl_frame in (*@rs@'
') ;; (*) _fl_token=;; esac
			_fl_text=;;
		esac;;
	(*) _fl_token=;;
	esac

	# The text of the round. Most commands go the short way.
	case ${_fl_token:+${_fl_reader-}$_fl_mode} in
	('') _fl_frame= _fl_rounds= _fl_rounds2=;;
	(-|+-|\=*=-) _fl_frame=$_fl_begin_round$_fl_token$_fl_start${_fl_frame%@rs@*}$_fl_after_word$_fl_token$_fl_fields$_fl_token$_fl_end$_fl_token;;
	(*)
		_fl_text=
		case $_fl_mode in (:*) _fl_text=${_fl_mode#:} _fl_mode=${_fl_text#*:} _fl_text="_fl_return ${_fl_text%%:*} '' || ";; esac
		case $_fl_mode in (T*) _fl_untraced=y _fl_mode=${_fl_mode#T};; (*) _fl_untraced=;; esac
		case $_fl_mode in
		(+*) _fl_may_follow=+ _fl_mode=${_fl_mode#+};;
		(\=*) _fl_may_follow=${_fl_mode%=*}= _fl_mode=${_fl_mode##*=};;
		(*) _fl_may_follow=;;
		esac
		case $_fl_mode in
		(-) _fl_mode=$_fl_end_usual;;
		(m) _fl_mode=$_fl_end_merged;;
		(t) _fl_mode=$_fl_end_terminal;;
		(/*) _fl_mode="
			$_fl_close_group} <$_fl_mode >&$_fl_out 2>&$_fl_err $_fl_close_pipes";;
		(m*) _fl_mode="
			$_fl_close_group} <${_fl_mode#m} >&$_fl_out 2>&$_fl_out $_fl_close_pipes";;
		(x*)
			_fl_mode=${_fl_mode#x} _fl_cook='PATH=/usr/bin:/bin stty sane -iexten rows '${_fl_mode%:*}' cols '${_fl_mode#*:}'; _fl_uncook=${TERM-} TERM=xterm-256color; '
			# What was typed and not read is thrown away: it would be taken for the next frame.
			_fl_uncook='PATH=/usr/bin:/bin stty raw -echo isig -iexten noflsh min 0 time 0
				PATH=/usr/bin:/bin cat >/dev/null
				PATH=/usr/bin:/bin stty min 1
				TERM=$_fl_uncook _fl_uncook= _fl_cook=
				'
			_fl_mode="
				$_fl_close_group} >/dev/tty 2>&1 $_fl_close_pipes";;
		esac
		_fl_mode="$_fl_mode${_fl_after_command}case \$_fl_untraced in (y) _fl_flags=x\$_fl_flags;; esac
			$_fl_uncook"
		case ${_fl_reader-} in (?*) _fl_mode="$_fl_mode$_fl_print @rs@${_fl_token}e'
			' >&$_fl_err || _fl_frame=:
			";; esac
		_fl_frame="_fl_mode= _fl_text=; $_fl_cook$_fl_begin_round${_fl_token}S$_fl_keep_last_word; $_fl_text$_fl_evaluate${_fl_frame%@rs@*}$_fl_mode$_fl_if_there$_fl_token$_fl_fields$_fl_token$_fl_end$_fl_token";;
	esac
}

eval "$_fl_print \"@rs@@nonce1@\"\"@nonce2@H$_fl_dialect;$$;${_fl_reader-};\${PWD-}@rs@@nonce1@\"\"@nonce2@h\" >&$_fl_out"
_fl_status=0

# What an EXIT trap of the command's prints is the command's: most shells run it where all redirections are undone. There it reads
# nothing. driver_call.sh has the rounds read from the terminal.
exec 7<&0 </dev/null >&$_fl_out 2>&$_fl_err
