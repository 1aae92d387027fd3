# Becomes the job's shell, once it has said which process that is. The shell reads the command from its file, which is gone then.
#
# Its parameters: id, directory, umask, and the shell's words.
unset fairlead
@common@
d=$2; printf '%s %s %s\n' "$$" "$(h $$)" "$(b)" >"$d/pid.t"; mv -f "$d/pid.t" "$d/pid"
umask "$3"; shift 3
# The command's first line is the first one there: busybox counts what is evaluated from 0, the others from 1.
x=; case $2 in (ash) x='
';; esac
exec "$@" +x -c '\e\v\a\l "\s\h\i\f\t;'"$x"'$(\c\a\t "$1"; \r\m -f "$1")"' "${1##*/}" "$d/command"
