package programs

import "strings"

// gitDiff are the options of everything in git that can show differences.
const gitDiff = `
	--stat?text --numstat --shortstat --dirstat?text --summary --name-only --name-status -s,--no-patch --raw
	-p,-u,--patch --patch-with-stat -U,--unified=text --color?text --no-color --color-words?text --word-diff?text --abbrev?text --no-abbrev
	-M?text --find-renames?text -C?text --find-copies?text --no-renames --diff-filter=text -R -a,--text
	-w,--ignore-all-space -b,--ignore-space-change --ignore-space-at-eol --ignore-blank-lines -W,--function-context --minimal --patience --histogram
	--diff-algorithm=text --compact-summary --no-prefix --relative?text --full-index --exit-code --quiet -z --check
	--no-textconv --no-ext-diff --textconv!unknown --ext-diff!unknown --output=write -S=text!unknown -G=text!unknown --pickaxe-all
	--submodule?text!ask -O=read!ask`

const gitLog = `
	--oneline --graph --decorate?text --no-decorate --decorate-refs=text --all --branches?text --tags?text --remotes?text --glob=text --exclude=text
	-n,--max-count=text -# --skip=text --since=text --after=text --until=text --before=text --author=text --committer=text --grep=text
	-i,--regexp-ignore-case -E,--extended-regexp -F,--fixed-strings -P,--perl-regexp --all-match --invert-grep --merges --no-merges
	--min-parents=text --max-parents=text --first-parent --not --cherry --cherry-pick --cherry-mark --left-right --left-only --right-only
	--reverse --date-order --topo-order --author-date-order --pretty?text --format=text --abbrev-commit --no-abbrev-commit --date=text
	--relative-date --parents --children --boundary --simplify-by-decoration --full-history --follow --no-walk?text --source --use-mailmap --mailmap
	--encoding=text --show-pulls --ancestry-path?text -g,--walk-reflogs --notes?text --no-notes --no-show-signature
	--show-signature!unknown -L=text!unknown -c!unknown --cc!unknown -m!unknown --remerge-diff!unknown --stdin!ask --clear-decorations`

var gits = []program{
	{name: "git", style: exact | pages, check: gitConfig,
		env: "GIT_* PAGER LESS LV EDITOR VISUAL SSH_ASKPASS HOME XDG_CONFIG_HOME", alone: "--version -v --help", opts: `
		-C=read -c=text!unknown --exec-path?text!unknown --html-path --man-path --info-path -p,--paginate!unknown -P,--no-pager
		--no-replace-objects --no-lazy-fetch --bare --git-dir=text!unknown --work-tree=text!unknown --namespace=text --super-prefix=text!unknown
		--config-env=text!unknown --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks
		--no-advice --list-cmds=text --attr-source=text!unknown`, sub: gitVerbs},
	{name: "tig|gitk|lazygit|git-gui|gitui", class: unknown, why: "is full-screen", args: "text..."},
	{name: "gh|glab|hub|git-lfs|git-crypt", class: unknown, why: "opens network connections, or runs helpers", args: "text...", alone: "--version"},
	{name: "svn", style: exact, sub: []program{
		{name: "info|status|st|stat", style: exact, args: "read...", opts: `-q,--quiet -v,--verbose -R,--recursive -N --xml --show-item=text --no-ignore --depth=text -u,--show-updates!write --config-dir=text!unknown --config-option=text!unknown`, check: svn},
		{name: "log|diff|cat|list|ls|blame|update|up|checkout|co|commit|ci|export|import|switch|merge|revert|cleanup|add|delete|copy|move|propset", class: write, why: "opens network connections, or changes files", args: "text..."}}},
	{name: "hg|bzr|fossil|darcs|cvs|p4", class: unknown, why: "runs what a repository's configuration names", args: "text...", alone: "--version version"},
}

var gitVerbs = []program{
	{name: "status", style: exact, args: "read...", opts: `
		-s,--short -b,--branch --show-stash --porcelain?text --long -v,--verbose!ask -u?text --untracked-files?text
		--ignore-submodules?text --ignored?text -z --column?text --no-column --ahead-behind --no-ahead-behind --renames
		--no-renames --find-renames?text`},
	{name: "log", style: exact, args: "text...", opts: gitLog + gitDiff, check: gitPatch},
	{name: "shortlog", style: exact, args: "text...", opts: gitLog + ` -s,--summary -n,--numbered -e,--email --group=text`, check: gitFormat},
	{name: "show|whatchanged", style: exact, args: "text...", opts: gitLog + gitDiff, check: gitPatch},
	{name: "diff", style: exact, args: "read...", opts: gitDiff + ` --cached --staged --no-index --merge-base -0 -1 -2 -3`, check: gitPatch},
	{name: "blame|annotate", style: exact, args: "text...", opts: `-L=text -l -t -s -e,--show-email -w -M?text -C?text --since=text --porcelain -p --line-porcelain -f -n -b --root --date=text --no-textconv --textconv!unknown --contents=read!ask --color-lines`, check: func(c *call) {
		if !c.has("--no-textconv") {
			c.say(unknown, "runs what the repository's configuration names, but for --no-textconv")
		}
	}},
	{name: "grep", style: exact, args: "text read...", opts: `
		-i,--ignore-case -I -a,--text -w,--word-regexp -v,--invert-match -h -H --full-name -E,--extended-regexp -G,--basic-regexp
		-P,--perl-regexp -F,--fixed-strings -n,--line-number --column -l,--files-with-matches,--name-only -L,--files-without-match -z,--null
		-o,--only-matching -c,--count --color?text --no-color --break --heading -p,--show-function -A,--after-context=text
		-B,--before-context=text -C,--context=text -# -W,--function-context -m,--max-count=text --threads=text -f=read -e=text^ --and
		--or --not --all-match -q,--quiet --cached --untracked --no-index --no-exclude-standard --exclude-standard
		-r,--recursive --no-recursive --max-depth=text --recurse-submodules!ask --textconv!unknown --ext-grep!unknown
		-O?text!unknown --open-files-in-pager?text!unknown --no-textconv`},
	{name: "rev-parse", style: exact, args: "text...", opts: `
		--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir
		--is-bare-repository --is-shallow-repository --abbrev-ref?text --short?text --verify -q,--quiet --symbolic --symbolic-full-name --all
		--branches?text --tags?text --remotes?text --git-path=text --show-superproject-working-tree --local-env-vars --show-object-format?text
		--since=text --until=text --path-format=text --sq!ask --show-ref-format --default=text`},
	{name: "rev-list", style: exact, args: "text...", opts: gitLog + ` --count --objects --timestamp --disk-usage?text --no-commit-header --no-object-names`, check: gitFormat},
	{name: "describe", style: exact, args: "text...", opts: `--dirty?text --broken?text!ask --all --tags --contains --abbrev=text --candidates=text --exact-match --debug --long --match=text --exclude=text --always --first-parent`},
	{name: "ls-files", style: exact, args: "read...", opts: `
		-z -t -v -f -c,--cached -d,--deleted -m,--modified -o,--others -i,--ignored -s,--stage -u,--unmerged -k,--killed --directory
		--no-empty-directory --eol --full-name --abbrev?text -x,--exclude=text -X,--exclude-from=read --exclude-standard --error-unmatch
		--deduplicate --format=text --recurse-submodules!ask`},
	{name: "ls-tree", style: exact, args: "text...", opts: `-d -r -t -l,--long -z --name-only --name-status --object-only --full-name --full-tree --abbrev?text --format=text`},
	{name: "cat-file", style: exact, args: "text...", opts: `-t -s -e -p --batch-check?text!ask --batch?text!ask --textconv!unknown --filters!unknown --path=text --allow-unknown-type`, check: gitPaths},
	{name: "name-rev|merge-base|show-ref|show-branch|cherry|count-objects|check-ignore|check-attr|check-ref-format|var|version|verify-pack|get-tar-commit-id", style: exact, args: "text...", opts: `
		--tags --all -a --is-ancestor --fork-point --octopus --heads --branches -s,--hash?text -d,--dereference --verify -q,--quiet --abbrev?text --list -l
		--topics --current -v,--verbose -H,--human-readable -n --name-only --refs=text --exclude=text --always --no-index -z --build-options`},
	{name: "for-each-ref", style: exact, args: "text...", opts: `--count=text --sort=text --format=text --color?text --points-at=text --merged?text --no-merged?text --contains?text --no-contains?text --ignore-case --exclude=text`, check: gitFormat},
	{name: "symbolic-ref", style: exact, args: "text text!write text!write", opts: `-q,--quiet --short --no-recurse -d,--delete!danger -m=text!write`},
	{name: "fsck", style: exact, args: "text...", opts: `--tags --root --unreachable --cache --no-reflogs --full --no-full --strict -v,--verbose --dangling --no-dangling --progress --no-progress --connectivity-only --name-objects --lost-found!write`},
	{name: "branch", style: exact, args: "text...", check: gitBranch, opts: `
		-a,--all -r,--remotes -v,--verbose -l,--list --contains?text --no-contains?text --merged?text --no-merged?text --points-at=text
		--sort=text --format=text --show-current --column?text --no-column --color?text --no-color --abbrev?text --no-abbrev -i,--ignore-case
		-q,--quiet -d!danger -D!danger --delete!danger -m,--move!write -M!write -c,--copy!write -C!write -u,--set-upstream-to=text!write
		--unset-upstream!write -f,--force!write -t,--track?text!write --no-track!write --edit-description!unknown --create-reflog!write`},
	{name: "tag", style: exact, args: "text...", check: gitBranch, opts: `
		-l,--list -n?text --contains?text --no-contains?text --merged?text --no-merged?text --points-at=text --sort=text --format=text -i,--ignore-case
		--column?text --no-column --color?text -d,--delete!danger -v,--verify!unknown -a,--annotate!write -s,--sign!unknown -u=text!unknown
		-m,--message=text!write -F,--file=read!write -f,--force!write -e!unknown`},
	{name: "remote", style: exact, opts: `-v,--verbose`, sub: []program{
		{name: "get-url", style: exact, args: "text", opts: `--push --all`},
		{name: "show", style: exact, args: "text!write...", opts: `-n`},
		{name: "add|rename|set-head|set-branches|set-url|update|prune", class: write, args: "text..."},
		{name: "remove|rm", class: danger, args: "text..."},
	}},
	{name: "stash", class: write, style: exact, opts: `-u -k -q -p!unknown -m=text -a`, sub: []program{
		{name: "list", style: exact, args: "text...", opts: gitLog + gitDiff, check: gitPatch},
		{name: "show", style: exact, args: "text...", opts: gitDiff, check: gitPatch},
		{name: "push|save|apply|branch|create|store|pop", class: write, args: "text..."},
		{name: "drop|clear", class: danger, args: "text..."},
	}},
	{name: "reflog", style: exact, opts: gitLog, sub: []program{
		{name: "show|list|exists", style: exact, args: "text...", opts: gitLog, check: gitFormat},
		{name: "expire|delete|drop", class: danger, args: "text..."},
		{name: "HEAD|master|main", style: exact, opts: gitLog, check: gitFormat},
	}},
	{name: "worktree", style: exact, sub: []program{
		{name: "list", style: exact, opts: `--porcelain -v,--verbose -z`},
		{name: "add|move|lock|unlock|repair", class: write, args: "text..."},
		{name: "remove|prune", class: danger, args: "text..."},
	}},
	{name: "notes", style: exact, opts: `--ref=text`, sub: []program{{name: "list|show|get-ref", args: "text"},
		{name: "add|append|copy|edit|merge|remove|prune", class: write, args: "text..."}}},
	{name: "config", style: exact, args: "text...", check: gitSettings, opts: `
		-l,--list --get --get-all --get-regexp --get-urlmatch --get-color?text --get-colorbool -f,--file=read --blob=text --global --system --local --worktree --type=text --bool
		--int --bool-or-int --path --expiry-date -z,--null --name-only --show-origin --show-scope --includes --no-includes --default=text --all --regexp --value=text
		--add!write --unset!write --unset-all!write --replace-all!write --rename-section!write --remove-section!write -e,--edit!unknown --fixed-value --url=text`},
	{name: "sparse-checkout", style: exact, sub: []program{{name: "list"}, {name: "set|add|init|disable|reapply", class: write, args: "text..."}}},
	{name: "fetch|pull|clone|ls-remote|submodule|lfs|archive|bundle|send-email|request-pull|svn|p4|cvsimport", class: unknown, why: "opens network connections, and may run programs", args: "text..."},
	{name: "push", class: danger, why: "changes a repository that others rely on", args: "text..."},
	{name: "add|commit|checkout|switch|restore|merge|rebase|cherry-pick|revert|mv|init|am|apply|format-patch|gc|repack|prune|pack-refs|update-index|update-ref|replace|maintenance|read-tree|write-tree|commit-tree|hash-object|mktag|mktree|stage|rerere|bisect", class: unknown, why: "changes the repository, and may run hooks", args: "text..."},
	{name: "reset|clean|rm|filter-branch|filter-repo|update-server-info", class: danger, why: "removes work", args: "text..."},
	{name: "help|instaweb|daemon|credential|credential-store|mergetool|difftool|citool|gui|verify-commit|verify-tag|diff-index|diff-tree|diff-files|range-diff|fast-export|fast-import|for-each-repo|interpret-trailers|column|stripspace", class: unknown, args: "text..."},
}

// gitConfig: what -c sets may be a command.
func gitConfig(c *call) {
	for _, v := range c.vals {
		if v.at != c.node.lookup("-c") {
			continue
		}
		if _, text, ok := strings.Cut(v.arg.Text, "="); ok {
			c.script("sh", word(strings.TrimPrefix(text, "!")))
		}
	}
}

// gitPatch: a patch is made by the programs that the repository's attributes and configuration name.
func gitPatch(c *call) {
	gitFormat(c)
	gitPaths(c)
	if c.has("--no-textconv") && c.has("--no-ext-diff") {
		return
	}
	brief := c.has("--stat", "--numstat", "--shortstat", "--name-only", "--name-status", "--no-patch", "--summary", "--dirstat", "--raw", "--compact-summary")
	patch := c.has("--patch", "--patch-with-stat", "--unified", "--color-words", "--word-diff", "--check", "--function-context")
	switch name := c.node.name; {
	case patch:
	case brief:
		return
	case strings.HasSuffix(name, " log"), name == "git stash list":
		return
	case strings.HasSuffix(name, " show") && name != "git stash show" && len(c.ops) > 0:
		blobs := true
		for _, a := range c.ops {
			blobs = blobs && a.certain() && strings.Contains(a.Text, ":")
		}
		if blobs {
			return
		}
	case name == "git stash show":
		// By default a summary, unless the configuration asks for a patch.
	}
	c.say(unknown, "with a patch runs what the repository's configuration names; --stat, or --no-ext-diff with --no-textconv, does not")
}

// gitFormat: some placeholders start gpg, as the configuration names it.
func gitFormat(c *call) {
	for _, v := range c.vals {
		if !v.arg.certain() {
			c.say(unknown, "has a value that isn't literal")
		} else if s := v.arg.Text; strings.Contains(s, "%G") || strings.Contains(s, "signature") || strings.Contains(s, "describe") {
			c.say(unknown, "has a format that may start a program")
		}
	}
}

// gitPaths names the files that "HEAD:path" shows.
func gitPaths(c *call) {
	for _, a := range c.ops {
		if _, file, ok := strings.Cut(a.Text, ":"); ok && file != "" {
			c.path(Arg{Text: strings.TrimPrefix(file, "./"), Literal: a.Literal, Source: a.Source}, false)
		}
	}
}

// gitBranch: without an option that lists, an operand is a name to create.
func gitBranch(c *call) {
	gitFormat(c)
	if len(c.ops) > 0 && !c.has("--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at") {
		c.say(write, "with a name creates it")
	}
}

func gitSettings(c *call) {
	for _, a := range c.ops {
		if !a.certain() {
			c.say(unknown, "has a word that isn't literal")
		}
	}
	if c.has("--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool") || len(c.ops) == 0 {
		return
	}
	switch c.ops[0].Text {
	case "list", "get":
		return
	case "set", "unset", "rename-section", "remove-section", "edit":
		c.say(write, "changes the configuration")
	}
	if len(c.ops) > 1 {
		c.say(write, "changes the configuration")
	}
}

func svn(c *call) {
	for _, a := range c.ops {
		if strings.Contains(a.Text, "://") {
			c.say(write, "opens network connections")
		}
	}
}
