# sudo-rs: older ones do not know -p. It may be the host's sudo.
#= _fl_c _fl_program its name
_fl_program=sudo
command -v sudo-rs >/dev/null 2>&1 && _fl_program=sudo-rs
exec $_fl_program -S -u @user@ -- sh -c "$0" "$_fl_language" "$_fl_saved"
