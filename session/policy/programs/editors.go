package programs

// editors and pagers wait for keys, and keys can make them run commands.
var editors = []program{
	{name: "vi|vim|nvim|view|vimdiff|nano|pico|emacs|emacsclient|joe|micro|mcedit|mcview|ne|jed|kak|helix|hx|vimtutor|gvim|rvim|rview|sensible-editor|editor|select-editor",
		class: unknown, why: "waits for keys, and can write files and run commands", args: "write...", raw: true, check: func(*call) {}, alone: "--version"},
	{name: "ed|ex|red|teco", class: unknown, why: "runs what it reads", raw: true, check: func(*call) {}, alone: "--version"},
	{name: "less|more|most|pg|bat|batcat|lesskey", class: unknown, why: "is a pager: it waits for keys, and can run commands; use cat, head or tail", env: "LESS* MORE PAGER BAT_*", alone: "--version -V --help",
		args: "read...", opts: `-N -S -R -r -F -X -n -i -o=write -O=write -p -s -# -d -f -e -E -m -M -q`},
	{name: "pager|sensible-pager|batgrep|glow|vless", class: unknown, why: "is a pager", args: "read..."},
	{name: "man", style: pages, args: "text...", env: "MANPAGER PAGER MANOPT MANPATH MANROFFOPT LESS* MANLESS BROWSER GROFF*", opts: `
		-a,--all -k,--apropos -f,--whatis -w,--where,--path,--location -W,--where-cat -l,--local-file!ask -s,-S,--sections=text -L,--locale=text
		-i,--ignore-case -I,--match-case -e,--extension=text -u,--update!write -7,--ascii -E,--encoding=text --nh,--no-hyphenation
		--nj,--no-justification --regex --wildcard --names-only -K,--global-apropos!ask -d,--debug -V -c,--catman!ask -P,--pager=cmd
		-C,--config-file=read!unknown -M,--manpath=text!unknown -H,--html?text!unknown -X,--gxditview?text!unknown -t,--troff!ask -T,--troff-device?text!ask
		-p,--preprocessor=text!ask -r,--prompt=text!unknown -m,--systems=text!ask -D -R,--recode=text!ask -Z,--ditroff!ask`},
	{name: "whatis|apropos", args: "text...", opts: `-d,--debug -v,--verbose -r,--regex -w,--wildcard -l,--long -e,--exact -a,--and -s,--sections=text -L,--locale=text -V`},
	{name: "info|pinfo|tldr|cheat", class: unknown, why: "is full-screen, or fetches", args: "text..."},
	{name: "manpath", opts: `-q,--quiet -g,--global -d -c -V`},
}
