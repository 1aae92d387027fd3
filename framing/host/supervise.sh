# Becomes the supervisor with the best reader of the host. The programs travel in the environment, so that their lines in the
# host's list of processes are short, and hold no word that somebody looks for there: "sh -c" and eval neither. For a shell that is
# held, hold_pick.sh goes before that.
#
#= _fl_e _fl_reader the reader of errors
#= _fl_x _fl_word a reader that may be there, then the shell's options
#= _fl_d _fl_driver the text of driver.sh
#= _fl_p _fl_supervisor_pl the text of supervisor.pl
#= _fl_h _fl_supervisor_sh the text of supervisor.sh
#= _fl_s _fl_shell the shell's path
#= _fl_o _fl_name its name
#= _fl_f _fl_fail see pick_shell.sh
case $_fl_reader in ('') for _fl_word in @perl@ hexdump; do command -v $_fl_word >/dev/null 2>&1 && _fl_reader=$_fl_word && break; done;; esac
@hold_pick@export fairlead _fl_driver
case $_fl_reader in (perl) export _fl_supervisor_pl; exec perl -e 'eval$ENV{_fl_supervisor_pl}' "$@" +x -c '\e\v\a\l "$fairlead"' "$_fl_name";; esac
_fl_shell=$1; shift; _fl_word=$*
command -v sh >/dev/null 2>&1 || _fl_fail "no directory of PATH ($PATH) has sh: env in the inventory, or a start file, sets that PATH"
export _fl_supervisor_sh _fl_reader _fl_shell _fl_word _fl_name
exec sh +x -c '\e\v\a\l "$_fl_supervisor_sh"' fairlead
