package programs

// filters read files or standard input and write standard output.
var filters = []program{
	{name: "grep", args: "text read...", env: "GREP_OPTIONS GREP_COLORS GREP_COLOR", opts: `
		-# -E,--extended-regexp -F,--fixed-strings -G,--basic-regexp -P,--perl-regexp -e,--regexp=text^ -f,--file=read^
		-i,-y,--ignore-case --no-ignore-case -w,--word-regexp -x,--line-regexp -z,--null-data -s,--no-messages
		-v,--invert-match -V,--version -m,--max-count=text -b,--byte-offset -n,--line-number --line-buffered
		-H,--with-filename -h,--no-filename --label=text -o,--only-matching -q,--quiet,--silent
		--binary-files=text -a,--text -I -d,--directories=text -D,--devices=text -r,--recursive
		-R,--dereference-recursive --include=text --exclude=text --exclude-from=read --exclude-dir=text
		-L,--files-without-match -l,--files-with-matches -c,--count -T,--initial-tab -Z,--null -B,--before-context=text
		-A,--after-context=text -C,--context=text --group-separator=text --no-group-separator --color?text
		--colour?text -U,--binary`},
	{name: "egrep|fgrep|rgrep", like: "grep", args: "text read...", env: "GREP_OPTIONS GREP_COLORS GREP_COLOR"},
	{name: "zgrep|zegrep|zfgrep|bzgrep|xzgrep|zstdgrep|zcat|zless|zmore|zdiff|zcmp|bzcat|bzless|bzmore|bzdiff|bzcmp|xzless|xzmore|xzdiff|xzcmp|gunzip|uncompress|znew|zforce|gzexe|zstdless",
		class: unknown, why: "is often a shell script around another program: gzip -dc FILE | grep shows the same", args: "read..."},
	{name: "sort", args: "read...", env: "TMPDIR", opts: `
		-b,--ignore-leading-blanks -d,--dictionary-order -f,--ignore-case -g,--general-numeric-sort -i,--ignore-nonprinting
		-M,--month-sort -h,--human-numeric-sort -n,--numeric-sort -R,--random-sort --random-source=read -r,--reverse
		--sort=text -V,--version-sort --batch-size=text -c --check?text -C --compress-program=cmd --debug
		--files0-from=read!ask -k,--key=text -m,--merge -o,--output=write -s,--stable -S,--buffer-size=text
		-t,--field-separator=text -T,--temporary-directory=text!write --parallel=text -u,--unique -z,--zero-terminated`},
	{name: "uniq", args: "read write", opts: `
		-# -c,--count -d,--repeated -D --all-repeated?text -f,--skip-fields=text --group?text -i,--ignore-case
		-s,--skip-chars=text -u,--unique -z,--zero-terminated -w,--check-chars=text`},
	{name: "cut", args: "read...", opts: `
		-b,--bytes=text -c,--characters=text -d,--delimiter=text -f,--fields=text -n --complement -s,--only-delimited
		--output-delimiter=text -z,--zero-terminated`},
	{name: "tr", args: "text text", opts: `-c,-C,--complement -d,--delete -s,--squeeze-repeats -t,--truncate-set1`},
	{name: "paste", args: "read...", opts: `-d,--delimiters=text -s,--serial -z,--zero-terminated`},
	{name: "join", args: "read read", opts: `
		-a=text -e=text -i,--ignore-case -j=text -o=text -t=text -v=text -1=text -2=text --check-order
		--nocheck-order --header -z,--zero-terminated`},
	// Without --output-delimiter, which no system but GNU has.
	{name: "comm", args: "read read", opts: `-1 -2 -3 --check-order --nocheck-order --total -z,--zero-terminated`},
	{name: "fold", args: "read...", opts: `-b,--bytes -s,--spaces -w,--width=text -c,--characters`},
	{name: "fmt", args: "read...", opts: `-# -c,--crown-margin -p,--prefix=text -s,--split-only -t,--tagged-paragraph -u,--uniform-spacing -w,--width=text -g,--goal=text`},
	{name: "column", args: "read...", opts: `
		-t,--table -C,--table-column=text -N,--table-columns=text -l,--table-columns-limit=text -E,--table-noextreme=text
		-d,--table-noheadings -m,--table-maxout -e,--table-header-repeat -H,--table-hide=text -R,--table-right=text
		-T,--table-truncate=text -W,--table-wrap=text -L,--keep-empty-lines -O,--table-order=text -n,--table-name=text
		-J,--json -r,--tree=text -i,--tree-id=text -p,--tree-parent=text -o,--output-separator=text
		-s,--separator=text -x,--fillrows -c,--output-width=text -V`},
	{name: "expand", args: "read...", opts: `-# -i,--initial -t,--tabs=text`},
	{name: "unexpand", args: "read...", opts: `-# -a,--all --first-only -t,--tabs=text`},
	{name: "rev", args: "read...", opts: `-0,--zero -V -h`},
	{name: "colrm", args: "text text", opts: `-V -h`},
	{name: "tsort", args: "read"},
	{name: "shuf", args: "read", opts: `-e,--echo -i,--input-range=text -n,--head-count=text -o,--output=write --random-source=read -r,--repeat -z,--zero-terminated`},
	{name: "ptx", class: unknown, args: "text..."},
	{name: "pr", args: "read...", opts: `
		-# -a,--across -c,--show-control-chars -d,--double-space -D,--date-format=text -e?text -f,-F,--form-feed
		-h,--header=text -i?text -J,--join-lines -l,--length=text -m,--merge -n?text -o,--indent=text
		-r,--no-file-warnings -s?text -S?text -t,--omit-header -T,--omit-pagination -v,--show-nonprinting
		-w,--width=text -W,--page-width=text`},
	{name: "iconv", args: "read...", opts: `-f,--from-code=text -t,--to-code=text -l,--list -c -o,--output=write -s,--silent --verbose --byte-subst=text --unicode-subst=text`},
	{name: "numfmt", args: "text...", opts: `
		--debug -d,--delimiter=text --field=text --format=text --from=text --from-unit=text --grouping --header?text
		--invalid=text --padding=text --round=text --suffix=text --to=text --to-unit=text -z,--zero-terminated`},
	{name: "ansi2txt|dos2unix|unix2dos", class: write, args: "write..."},
	{name: "csvcut|csvlook|csvstat", args: "read...", style: exact, opts: `-d=text -c=text -n -S -H`},
	{name: "jq", args: "text read...", check: jq, opts: `
		-n,--null-input -R,--raw-input -s,--slurp -c,--compact-output -r,--raw-output --raw-output0 -j,--join-output
		-a,--ascii-output -S,--sort-keys -C,--color-output -M,--monochrome-output --tab --indent=text --unbuffered
		--stream --stream-errors --seq -e,--exit-status -V -h,--help --build-configuration -f,--from-file!unknown
		-L,--library-path=text!unknown --arg=pair --argjson=pair --slurpfile=pairread --rawfile=pairread --args!ask --jsonargs!ask`,
		style: exact, env: "JQ_COLORS HOME"},
	{name: "gojq|jaq", like: "jq", args: "text read...", check: jq, style: exact},
	{name: "yq", args: "text read...", check: yq, style: exact, opts: `
		-r,--unwrapScalar,--raw-output -P,--prettyPrint -C,--colors -M,--no-colors -o,--output-format=text
		-p,--input-format=text -N,--no-doc -e,--exit-status -n,--null-input -j,--tojson -I,--indent=text -y,--yaml-output
		-V -v,--verbose -i,--inplace!write -s,--split-exp=text!write --from-file=read!unknown
		-f,--front-matter=text!ask`},
	{name: "xmllint|xmlstarlet", class: unknown, why: "may fetch what a document names", args: "read...", alone: "--version"},
	{name: "split", class: write, args: "text...", opts: `-a=text -b=text -C=text -d -l,--lines=text -n=text --filter=shell --additional-suffix=text --verbose`},
	{name: "csplit", class: write, args: "text...", opts: `-f=text -k -n=text -s -z -b=text`},
	{name: "logger", class: write, args: "text...", style: exact, opts: `-t=text -p=text -i -s`},
	{name: "mail|mailx|sendmail|mutt|wall|write|mesg", class: unknown, why: "sends messages", args: "text..."},
}
