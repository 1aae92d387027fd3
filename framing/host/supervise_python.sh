# Becomes supervisor.py, as supervise.sh becomes supervisor.pl: what hold_pick.sh asks for.
#
# -I and -S keep python3 from the account's modules and its variables, and -B from writing any; they are not taken from the shell.
#
#= _fl_q _fl_supervisor_py the text of supervisor.py
#= _fl_d _fl_driver the text of driver.sh
#= _fl_o _fl_name the shell's name
_fl_supervisor_py=@supervisor_py@
export fairlead _fl_driver _fl_supervisor_py
exec python3 -ISBc 'import os;exec(os.environb.pop(b"_fl_supervisor_py"))' "$@" +x -c '\e\v\a\l "$fairlead"' "$_fl_name"
