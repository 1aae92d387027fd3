# Puts "$1" in the place of "$2", which must not be a directory.
[ ! -d "$2" ] || exit 92
mv -f -- "$1" "$2"
