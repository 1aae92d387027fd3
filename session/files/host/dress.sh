# Gives "$1" the owner "$3", if there is one, and the mode "$2".
[ -z "$3" ] || chown "$3" "$1" || exit 91
chmod "$2" "$1"
