# git, for shells of agents: it sets what closes Git's ways to run what a repository's own configuration names, and refuses reads that
# would run it all the same. It runs in a subshell, so that it leaves no variable behind. See AgentPrelude.
#
#= _fl_s _fl_subcommand the first argument that is no option of git's own
#= _fl_a _fl_arg an argument
#= _fl_n _fl_value_next set while the value of -C comes next
#= _fl_f _fl_forbidden an expression for the names of settings that the repository may not have
#= _fl_m _fl_named what the configuration names
#= _fl_c _fl_exit_code of git config: 1 is nothing found
git() (
	export @settings@
	_fl_subcommand= _fl_value_next=
	# The options that leave the subcommand what it is are known; with any other one git decides.
	for _fl_arg in "$@"; do
		shift
		set -- "$@" "$_fl_arg"
		case $_fl_subcommand,$_fl_value_next,$_fl_arg in
		(,,-C) _fl_value_next=y;;
		(,,-P|,,--no-pager) ;;
		(,,*) _fl_subcommand=$_fl_arg; case $_fl_arg in (status|diff) set -- "$@" --ignore-submodules=dirty;; esac;;
		(,*) _fl_value_next=;;
		esac
	done
	_fl_forbidden='diff\.(external|.*\.(command|textconv))|core\.worktree|blame\.ignorerevsfile'
	case $_fl_subcommand in
	(status|diff|blame|annotate)
		_fl_forbidden="filter\..*\.(clean|smudge|process)|$_fl_forbidden"
		# diff writes the index back whatever is set, and that starts a hook.
		GIT_CONFIG_PARAMETERS="$GIT_CONFIG_PARAMETERS 'core.hooksPath=/dev/null'";;
	(show|log|stash) ;;
	# Each of these shows lines of a file that such a setting names.
	(config|var) _fl_forbidden='include(if\..*)?\.path';;
	(fsck) _fl_forbidden='fsck\.skiplist';;
	(check-*) _fl_forbidden='core\.(attributes|excludes)file';;
	(*) \command git "$@"; exit;;
	esac
	# The configuration is that of the directory in which git would stand.
	_fl_named=$(
		while :; do case $1 in
		(-C) case $2 in (/*) cd -P "$2";; (?*) cd -P "./$2";; esac 2>/dev/null || exit 0; shift 2;;
		(-*) shift;;
		(*) break;;
		esac; done
		\command git config --show-scope --includes --name-only --get-regexp "^($_fl_forbidden)$" </dev/null 2>/dev/null
	) && _fl_exit_code=0 || _fl_exit_code=$?
	case $_fl_exit_code,$_fl_named in
	([01],*local"	"*|[01],*worktree"	"*)
		printf '%s\n' "git $_fl_subcommand: the repository's own configuration may run programs or show other files, so this needs approval: command git $_fl_subcommand" "$_fl_named" >&2
		exit 126;;
	([01],*) ;;
	(*)
		printf '%s\n' "git $_fl_subcommand: this Git cannot say what the repository's configuration names, so this needs approval: command git $_fl_subcommand" >&2
		exit 126;;
	esac
	\command git "$@"
)
