# Puts "$1" in the place of "$2", which must not be a directory, "$3" in that of "$4", and so on, and prints a dot for each.
while [ $# -gt 0 ]; do
	[ ! -d "$2" ] || exit 92
	mv -f -- "$1" "$2" || exit
	printf .
	shift 2
done
