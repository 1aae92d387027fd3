# Stands behind resolve.sh: prints a letter for a directory (d) or another file (f), and the path that it leads to, with a NUL behind it.
# What the account cannot reach need not be hidden.
#
#= _fl_r _fl_resolve see resolve.sh
#= _fl_s _fl_secret prints one path, if it is there
#= _fl_p _fl_path a path
#= _fl_u _fl_user the account's name
#= _fl_d _fl_user_home the home directory that the system knows
#= _fl_b _fl_base a home directory
#= _fl_q _fl_name a name in it
_fl_secret() { for _fl_path do
	if test -d "$_fl_path" && (cd -- "$_fl_path") >/dev/null 2>&1; then printf d; _fl_resolve "$_fl_path"
	elif test -e "$_fl_path" && ! test -d "$_fl_path"; then printf f; _fl_resolve "$_fl_path"
	fi
done; }
_fl_user=$(id -un 2>/dev/null) _fl_user_home=
case $_fl_user in (''|*[!A-Za-z0-9._-]*) ;; (*) eval "_fl_user_home=~$_fl_user";; esac
for _fl_base in "$HOME" "$_fl_user_home"; do
	case $_fl_base in
	(/*)
		set -- @names@
		for _fl_name do _fl_secret "$_fl_base/$_fl_name"; done;;
	esac
done
case $SSH_AUTH_SOCK in (/*) _fl_secret "$SSH_AUTH_SOCK";; esac
