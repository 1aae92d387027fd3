package programs

import "strings"

// RulePackageInstall is the rule of findings that put software on the host. They are forbidden, so that whoever has no
// opinion refuses them; who is allowed to install may be told apart by this rule, per call and before calls are combined.
const RulePackageInstall = "programs/package-install"

// packages list what is installed. Installing runs code that nobody saw.
var packages = []program{
	{name: "dpkg", args: "text...", style: exact | pages, env: "DPKG_* PAGER", opts: `
		-l,--list -L,--listfiles -s,--status -S,--search -p,--print-avail -V,--verify -C,--audit --get-selections
		--print-architecture --print-foreign-architectures -c,--contents -I,--info -f,--field --compare-versions --verify-format=text
		--yet-to-unpack -e,--control!write -x,--extract!write -X,--vextract!write --fsys-tarfile -i,--install!forbid --unpack!forbid
		--configure!forbid -A,--record-avail!write -r,--remove!danger -P,--purge!danger --set-selections!write
		--clear-selections!write --update-avail!write --merge-avail!write --add-architecture!write --remove-architecture!write
		-a,--pending -R,--recursive --admindir=text!unknown --root=text!unknown --instdir=text!unknown --no-pager --validate-pkgname`, check: func(c *call) {
		if c.seen == [5]uint64{} && len(c.ops) > 0 {
			c.say(unknown, "has no action that a table lists")
		}
		installs(c, "-i", "--unpack", "--configure")
	}},
	{name: "dpkg-query", args: "text...", style: exact | pages, env: "DPKG_* PAGER", opts: `
		-l,--list -W,--show -s,--status -L,--listfiles --control-list --control-show -S,--search -p,--print-avail -f,--showformat=text
		--load-avail --no-pager --admindir=text!ask --root=text!ask -c,--control-path`},
	{name: "dpkg-deb", args: "text...", style: exact, opts: `-c,--contents -I,--info -f,--field -W,--show --showformat=text -e,--control!write -x,--extract!write -X,--vextract!write -R,--raw-extract!write -b,--build!write --fsys-tarfile`},
	{name: "debsums|apt-show-versions|deborphan|dpkg-architecture", class: read, args: "text...", style: exact, opts: `-a,--all -c,--changed -s,--silent -l,--list-missing -e,--config -u,--upgradeable -b,--brief`},
	{name: "apt|apt-get|aptitude", style: exact | inherit, env: "APT_CONFIG", opts: `
		-a,--all-versions --installed --upgradable --upgradeable --manual-installed -q,--quiet -qq -y,--yes,--assume-yes --no-download
		-f,--fix-broken -t,--target-release=text -V,--verbose-versions --names-only -n -v,--version --no-install-recommends
		--reinstall --purge --auto-remove --only-upgrade --allow-downgrades --full --no-all-versions --print-uris!ask
		-s,--simulate,--just-print,--dry-run --trivial-only -d,--download-only -o,--option=text!unknown -c,--config-file=read!unknown`, sub: []program{
		{name: "list|search|show|policy|depends|rdepends|showsrc|versions|why|why-not|help", args: "text...", env: "PAGER"},
		{name: "update|edit-sources|autoclean|auto-clean|clean|download|source|changelog|satisfy|markauto|unmarkauto|hold|unhold|keep|moo|build-dep|check|indextargets", class: write, why: "fetches from the network, or changes package lists", args: "text..."},
		{name: "remove|purge|autoremove|autopurge|auto-remove", class: danger, args: "text..."},
		{name: "install|reinstall|upgrade|dist-upgrade|full-upgrade|safe-upgrade|dselect-upgrade", class: forbid, why: "installs packages", args: "text...", check: install},
	}},
	{name: "apt-cache", style: exact | inherit, env: "APT_CONFIG", opts: `-a,--all-versions -n,--names-only -f,--full -i,--important -q --installed --no-all-versions --recurse --generate -g -o=text!unknown -c=read!unknown -p=read!ask -s=read!ask`,
		sub: []program{{name: "policy|show|search|showpkg|depends|rdepends|madison|pkgnames|stats|showsrc|dump|dumpavail|unmet|dotty|xvcg", args: "text..."},
			{name: "gencaches|add", class: write, args: "text..."}}},
	{name: "apt-mark", style: exact, sub: []program{{name: "showauto|showmanual|showhold|showinstall|showremove|showpurge", args: "text..."},
		{name: "auto|manual|hold|unhold|minimize-manual|install|remove", class: write, args: "text..."}}},
	{name: "apt-config", style: exact, sub: []program{{name: "dump", args: "text..."}}},
	{name: "apt-file|apt-listchanges|unattended-upgrade|apt-key|add-apt-repository|apt-add-repository|tasksel|dselect", class: write, why: "changes package lists, or fetches from the network", args: "text..."},
	{name: "rpm", args: "text...", style: exact, env: "HOME", opts: `
		-q,--query -a,--all -l,--list -i,--info -c,--configfiles -d,--docfiles -f,--file -p,--package -R,--requires --provides
		--whatprovides --whatrequires --conflicts --obsoletes --changelog --changes --scripts --triggers --queryformat=text --qf=text --last
		-s,--state --dump --supplements --recommends --suggests -g,--group -v,--verbose -V,--verify --checksig -K --nosignature --nodigest
		--showrc -E,--eval=text!unknown --define=text!unknown --root=text!unknown --dbpath=text!unknown --rcfile=text!unknown --macros=text!unknown
		--load=text!unknown --pipe=shell -U,--upgrade!forbid -F,--freshen!forbid --install!forbid --reinstall!forbid -e,--erase!danger
		--import!forbid --rebuilddb!write --initdb!write --setperms!write --setugids!write --restore!write -h,--hash --nodeps --force --test
		--quiet --installed --fileid --nofiles`, check: rpm},
	{name: "rpm2cpio|rpmkeys|rpmdb|rpmbuild|rpmsign", class: unknown, args: "text..."},
	{name: "yum|dnf|dnf5|microdnf|tdnf", style: exact | inherit, opts: `
		-q,--quiet -v,--verbose -y,--assumeyes --assumeno -C,--cacheonly --showduplicates --installed --available --upgrades --updates --extras --all
		--enabled --disabled --enablerepo=text --disablerepo=text --repo=text --repoid=text -x,--exclude=text --whatprovides=text --whatrequires=text
		--qf=text --queryformat=text --requires --provides -l,--list -i,--info --latest-limit=text --security --color=text -d=text -e=text
		-c,--config=read!unknown --installroot=text!unknown --setopt=text!unknown --releasever=text --forcearch=text!ask --noplugins --disableplugin=text`, sub: []program{
		{name: "list|info|history|repolist|repoinfo|provides|whatprovides|search|repoquery|deplist|grouplist|group|groups|updateinfo|module|help|version|alias", args: "text...", check: func(c *call) {
			fetches(c, "--cacheonly", "history repolist version help alias")
			for _, a := range c.ops {
				if listed("undo redo rollback install remove userinstalled new enable disable reset switch-to update upgrade mark add delete", a.Text) && a.Text != "userinstalled" || !a.certain() {
					c.say(danger, "changes packages")
				}
			}
		}},
		{name: "check-update|makecache|clean|check|download|mark|versionlock|config-manager|copr|shell|swap|builddep", class: write, args: "text..."},
		{name: "remove|erase|autoremove", class: danger, args: "text..."},
		{name: "install|localinstall|groupinstall|update|upgrade|upgrade-minimal|update-minimal|reinstall|downgrade|distro-sync|distrosync|system-upgrade|offline-upgrade", class: forbid, why: "installs packages", args: "text...", check: install},
	}},
	{name: "zypper", style: exact | inherit, opts: `-q,--quiet -v,--verbose -n,--non-interactive --no-refresh -i,--installed-only -s,--details -r,--repo=text -t,--type=text -x,--xmlout`, sub: []program{
		{name: "repos|lr|locks|ll|services|ls|ps|needs-rebooting|targetos|versioncmp|help|licenses", args: "text..."},
		{name: "search|se|info|if|packages|pa|list-updates|lu|list-patches|lp|what-provides|wp|patterns|products", args: "text...", check: func(c *call) {
			fetches(c, "--no-refresh", "")
		}},
		{name: "refresh|ref|clean|addrepo|ar|removerepo|rr|modifyrepo|mr|renamerepo|addlock|al|removelock|rl|download", class: write, args: "text..."},
		{name: "remove|rm", class: danger, args: "text..."},
		{name: "install|in|update|up|patch|dist-upgrade|dup|install-new-recommends|inr|source-install|si", class: forbid, why: "installs packages", args: "text...", check: install},
	}},
	{name: "pacman|yay|paru", args: "text...", style: exact, opts: `
		-Q,--query -F,--files!ask -T,--deptest -V,--version -h -e,--explicit -d,--deps -i,--info -k,--check -l,--list -m,--foreign -n,--native
		-o,--owns -p,--file -q,--quiet -t,--unrequired -u,--upgrades -g,--groups -c,--changelog -s,--search -v,--verbose --color=text
		-S,--sync!forbid -U,--upgrade!forbid -R,--remove!danger -D,--database!write -y,--refresh!write --noconfirm -r,--root=text!unknown -b,--dbpath=text!unknown
		--config=text!unknown`, check: func(c *call) { installs(c, "-S", "-U") }},
	{name: "apk", style: exact | inherit, opts: `-q -v -a -e -d -L -s -I,--installed -u,--upgradable -P -R -W -t -w --all -p=text!unknown --root=text!unknown -X=text!unknown -U!write --no-cache`, sub: []program{
		{name: "info|list|search|version|policy|stats|dot|audit|manifest", args: "text..."},
		{name: "update|cache|fetch|index|verify", class: write, args: "text..."},
		{name: "del", class: danger, args: "text..."},
		{name: "add|upgrade|fix", class: forbid, why: "installs packages", args: "text...", check: install},
	}},
	{name: "brew|port|opkg|emerge|xbps-install|nix|nix-env|guix|pkg|pkg_add|swupd|eopkg|slackpkg|installpkg|rpm-ostree|asdf|sdk", class: forbid, why: "may install packages", raw: true, check: looser("list leaves --version --help list-installed")},
	{name: "snap|flatpak", style: exact | inherit, opts: `--all --unicode=text --color=text --app --runtime --columns=text --user --system -d`, sub: []program{
		{name: "list|version|services|connections|changes|tasks|interfaces|history|ps|warnings", args: "text...", opts: `--verbose`},
		{name: "logs", args: "text...", opts: `-n=text -f!ask`},
		{name: "find|info|search|download|set|connect|disconnect|enable|disable|start|refresh-list|mask|pin|override|config", class: write, args: "text..."},
		{name: "remove|uninstall|stop|restart|revert|kill|repair", class: danger, args: "text..."},
		{name: "install|refresh|update|upgrade", class: forbid, why: "installs packages", args: "text...", check: install},
		{name: "run|try", class: unknown, args: "text..."},
	}},
	{name: "pip|pip3|pipx|conda|mamba|uv|poetry", style: exact | inherit, class: unknown, alone: "--version -V --help", env: "PIP_* PYTHON*", opts: `-q,--quiet -v,--verbose --disable-pip-version-check --no-color --isolated --format=text -o,--outdated!write -u,--uptodate!write --user -l,--local --not-required --path=text -f,--files -e,--editable -n,--name=text -p,--prefix=text --json --no-cache-dir --python=text!unknown --proxy=text!unknown --index-url=text!write -i=text!write`, sub: []program{
		{name: "list|show|freeze|check|inspect|help|debug|info|env-list", args: "text..."},
		{name: "config", args: "text...", check: verbs("list get debug")},
		{name: "download|search|index|cache|wheel|hash|lock|export|init", class: write, args: "text..."},
		{name: "uninstall|remove", class: danger, args: "text..."},
		{name: "install|update|upgrade|create|sync|add|inject", class: forbid, why: "installs packages", args: "text...", check: install},
	}},
	{name: "npm", style: exact | inherit, class: unknown, alone: "--version -v --help", env: "NPM_CONFIG_* npm_config_* NODE_*", opts: `-g,--global --depth=text -l,--long --json --parseable --prod --production --dev --all -a --silent -s --omit=text --prefix=text --script-shell=text!unknown --node-options=text!unknown --userconfig=read!unknown --globalconfig=read!unknown`, sub: []program{
		{name: "ls|list|la|ll|root|prefix|bin|version|why|explain|query|help", args: "text...", check: func(c *call) {
			if strings.HasSuffix(c.node.name, "version") && len(c.ops) > 0 {
				c.say(write, "with an operand changes the package")
			}
		}},
		{name: "config", args: "text...", class: secret, why: "shows or changes settings, tokens included"},
		{name: "view|info|outdated|audit|search|ping|whoami|pack|publish|login|logout|set|cache|dedupe|prune|doctor|fund|token|owner|init|link", class: write, why: "asks the registry, or changes files", args: "text..."},
		{name: "uninstall|remove|rm|un|unpublish", class: danger, args: "text..."},
		{name: "install|i|ci|add|update|up|upgrade|global|dlx|create", class: forbid, why: "installs packages", args: "text...", check: install},
		{name: "run|run-script|test|t|start|stop|restart|exec|x|rebuild|explore|edit", class: unknown, why: "runs the project's own commands", args: "text..."},
	}},
	{name: "yarn|pnpm|rustc|rustup|corepack", class: unknown, why: "runs what a project's files name", args: "text..."},
	{name: "npx|bunx|uvx|pnpx", class: forbid, why: "fetches and runs code that nobody saw", args: "text...", alone: "--version", check: install},
	{name: "gem|bundle|bundler", style: exact | inherit, class: unknown, alone: "--version -v", opts: `-l,--local -a,--all -d,--details --no-details --versions -i,--installed -q -v=text -I --no-installed --prerelease`, sub: []program{
		{name: "list|environment|env|contents|dependency|which|specification|help|outdated-local|platform|config-get|show|info", args: "text..."},
		{name: "uninstall|cleanup|clean|remove", class: danger, args: "text..."},
		{name: "install|update|add|i", class: forbid, why: "installs packages", args: "text...", check: install},
	}},
	{name: "cargo", style: exact | inherit, class: unknown, opts: `-q -v,--verbose --offline --locked --frozen --config=text!unknown -Z=text!unknown -C=text!unknown`, sub: []program{
		{name: "install|add|update|binstall", class: forbid, why: "installs packages", args: "text...", check: install},
		{name: "uninstall|clean|remove|rm", class: danger, args: "text..."},
		{name: "build|b|check|c|run|r|test|t|bench|doc|fmt|fix|publish|package|fetch|metadata|tree|search|clippy|login|yank|vendor|new|init", class: unknown, why: "runs the project's own code", args: "text..."},
	}},
	{name: "composer|php-composer|luarocks|cpan|cpanm|pecl|pear|opam|stack|cabal|mix|rebar3|hex|nuget|dotnet|mvn|gradle|sbt|lein|nvm|rbenv|pyenv", class: unknown, why: "may fetch and run code, even to tell its version", args: "text..."},
	{name: "alternatives|update-alternatives", args: "text...", style: exact, opts: `--display --list --query --get-selections --config!unknown --install!danger --set!danger --remove!danger --auto!danger --all!unknown --remove-all!danger --set-selections!danger`, check: func(c *call) {
		if c.seen == [5]uint64{} {
			c.say(unknown, "has no action")
		}
	}},
	{name: "subscription-manager|rhsm|pro|ua", class: write, args: "text...", alone: "--version version status list"},
	{name: "fc-list|fc-match", args: "text...", opts: `-v -f,--format=text -q -s -a -V`},
}

func install(c *call) { c.find.Rule = RulePackageInstall }

// installs marks the finding where one of the options was given.
func installs(c *call, opts ...string) {
	if c.has(opts...) {
		c.find.Rule = RulePackageInstall
	}
}

// rpm: -i is "info" in a query and "install" without one; -F, -U and -e are what they are only without one.
func rpm(c *call) {
	for _, a := range c.ops {
		if strings.Contains(a.Text, "://") {
			c.say(write, "opens network connections")
		}
	}
	query := c.has("-q", "-V", "-K", "--showrc", "--checksig")
	if c.has("-i") && !query {
		c.say(forbid, "installs packages")
	}
	if !query {
		installs(c, "-i", "-U", "-F", "--install", "--reinstall", "--import")
		if c.find.Class == read && len(c.ops) > 0 {
			c.say(unknown, "has no action that a table lists")
		}
	}
}

// fetches: without the option, or a first word that needs none, the lists may be fetched anew first.
func fetches(c *call, option, without string) {
	verb := c.node.name[strings.LastIndexByte(c.node.name, ' ')+1:]
	if c.has(option) || c.has("--installed") || listed(without, verb) || len(c.ops) > 0 && c.ops[0].certain() && c.ops[0].Text == "installed" {
		return
	}
	c.say(write, "may fetch lists from the network, but for "+option)
}

// looser makes a check for package managers of which only the words that look are known.
func looser(looking string) func(*call) {
	return func(c *call) {
		if len(c.args) > 0 && c.args[0].certain() && listed(looking, c.args[0].Text) {
			for _, a := range c.args[1:] {
				if a.dash() {
					c.find.Class, c.find.Reason = unknown, c.node.name+" has an option that no table lists"
					return
				}
			}
			c.find.Class, c.find.Reason = read, c.node.readReason
			return
		}
		c.find.Rule = RulePackageInstall
	}
}
