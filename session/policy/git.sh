git() (
	export@
	_fl_s= _fl_v=
	for _fl_a in "$@"; do
		shift
		set -- "$@" "$_fl_a"
		case $_fl_s,$_fl_v,$_fl_a in
		(,,-C) _fl_v=y;;
		(,,-P|,,--no-pager) ;;
		(,,*) _fl_s=$_fl_a; case $_fl_a in (status|diff) set -- "$@" --ignore-submodules=dirty;; esac;;
		(,*) _fl_v=;;
		esac
	done
	case $_fl_s in
	(status|diff|blame|annotate) _fl_v='filter\..*\.(clean|smudge|process)|';;
	(show|log) _fl_v=;;
	(*) \command git "$@"; exit;;
	esac
	_fl_a=$(
		while :; do case $1 in
		(-C) case $2 in (/*) cd -P "$2";; (?*) cd -P "./$2";; esac 2>/dev/null || exit 0; shift 2;;
		(-*) shift;;
		(*) break;;
		esac; done
		\command git config --show-scope --includes --name-only --get-regexp "^(${_fl_v}diff\.(external|.*\.(command|textconv))|core\.worktree|blame\.ignorerevsfile)$" </dev/null 2>/dev/null
	) && _fl_v=0 || _fl_v=$?
	case $_fl_v,$_fl_a in
	([01],*local"	"*|[01],*worktree"	"*)
		printf '%s\n' "git $_fl_s: the repository's own configuration may run programs or show other files, so this needs approval: command git $_fl_s" "$_fl_a" >&2
		exit 126;;
	([01],*) ;;
	(*)
		printf '%s\n' "git $_fl_s: this Git cannot say what the repository's configuration names, so this needs approval: command git $_fl_s" >&2
		exit 126;;
	esac
	\command git "$@"
)
