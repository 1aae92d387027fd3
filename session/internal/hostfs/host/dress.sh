# Gives the files "$3" and so on the owner "$2", if there is one, and the mode "$1".
#
#= m its_mode in octal
#= o its_owner UID:GID, or empty
its_mode=$1 its_owner=$2; shift 2
[ -z "$its_owner" ] || chown -- "$its_owner" "$@" || exit 91
chmod -- "$its_mode" "$@"
