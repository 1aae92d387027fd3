# Prints the names in "$1" and what stands there, in groups: each name with a NUL behind it, an empty name, and then either "s" and a
# line of stat for each name, or "l" and what ls prints about the one name, with a NUL behind it. Names come from the shell's own
# patterns, each as ./NAME, so that nothing that a name or a link's target holds can be taken for anything else.
#
# ls comes first because it says why a directory cannot be read; it stands alone after that where stat has no -c, and where a name
# is gone meanwhile.
#
#= st has_stat set where stat has -c
#= a about_it what stands there
#= n one_name a name of a group
#= f one_path a name
ls -a -- "$1/." >/dev/null || exit
(cd -P -- "$1" || exit
has_stat= ; stat -c '%f %s %Y %u %g' . >/dev/null 2>&1 && has_stat=1
one() {
	if [ "$has_stat" ] && about_it=$(stat -c '%f %s %Y %u %g' -- "$1" 2>/dev/null); then about_it=s$about_it
	elif about_it=$(ls -ldn -- "$1"); then about_it=l$about_it
	elif [ -e "$1" ] || [ -L "$1" ]; then return 1
	else return 0; fi
	printf '%s\0\0%s\0' "$1" "$about_it"
}
some() {
	[ "$#" -gt 0 ] || return 0
	if [ "$has_stat" ] && about_it=$(stat -c '%f %s %Y %u %g' -- "$@" 2>/dev/null); then
		printf '%s\0' "$@" '' "s$about_it"; return
	fi
	for one_name do one "$one_name" || return; done
}
set --
for one_path in ./* ./.[!.]* ./..?*; do
	[ -e "$one_path" ] || [ -L "$one_path" ] || continue
	set -- "$@" "$one_path"
	[ "$#" -lt 100 ] || { some "$@" || exit; set --; }
done
some "$@")
