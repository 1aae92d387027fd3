# Becomes the job's shell, once it has said which process that is. The shell reads the command from its file, which is gone then.
#
# Its parameters: id, directory, umask, and the shell's words.
@common@
d=$2; printf '%s %s %s\n' "$$" "$(h $$)" "$(b)" >"$d/pid.t"; mv -f "$d/pid.t" "$d/pid"
umask "$3"; shift 3
# The command's first line is the first one there: busybox counts what is evaluated from 0, the others from 1.
x=; case $2 in (ash) x='
';; esac
exec "$@" -c 'eval "shift;'"$x"'$(cat "$1"; rm -f "$1")"' "${1##*/}" "$d/command"
