package programs

// readers show files and directories. Options as in GNU coreutils 9 and file 5.
var readers = []program{
	{name: "ls|dir|vdir", args: "stat...", env: "LS_COLORS", opts: `
		-a,--all -A,--almost-all --author -b,--escape --block-size=text -B,--ignore-backups -c -C --color?text
		-d,--directory -D,--dired -f -F --classify?text --file-type --format=text --full-time -g
		--group-directories-first -G,--no-group -h,--human-readable --si -H,--dereference-command-line
		--dereference-command-line-symlink-to-dir --hide=text --hyperlink?text --indicator-style=text -i,--inode
		-I,--ignore=text -k,--kibibytes -l -L,--dereference -m -n,--numeric-uid-gid -N,--literal -o -p
		-q,--hide-control-chars --show-control-chars -Q,--quote-name --quoting-style=text -r,--reverse
		-R,--recursive -s,--size -S --sort=text --time=text --time-style=text -t -T,--tabsize=text -u -U -v
		-w,--width=text -x -X -Z,--context --zero -1`},
	{name: "cat", args: "read...", opts: `
		-A,--show-all -b,--number-nonblank -e -E,--show-ends -n,--number -s,--squeeze-blank -t -T,--show-tabs -u
		-v,--show-nonprinting`},
	{name: "tac", args: "read...", opts: `-b,--before -r,--regex -s,--separator=text`},
	{name: "nl", args: "read...", opts: `
		-b,--body-numbering=text -d,--section-delimiter=text -f,--footer-numbering=text -h,--header-numbering=text
		-i,--line-increment=text -l,--join-blank-lines=text -n,--number-format=text -p,--no-renumber
		-s,--number-separator=text -v,--starting-line-number=text -w,--number-width=text`},
	{name: "head", args: "read...", opts: `
		-# -c,--bytes=text -n,--lines=text -q,--quiet,--silent -v,--verbose -z,--zero-terminated`},
	{name: "tail", args: "read...", opts: `
		-# -c,--bytes=text -f!ask --follow?text!ask -F!ask -n,--lines=text --max-unchanged-stats=text --pid=text
		-q,--quiet,--silent --retry -s,--sleep-interval=text -v,--verbose -z,--zero-terminated`},
	{name: "wc", args: "stat...", opts: `
		-c,--bytes -m,--chars -l,--lines --files0-from=read!ask -L,--max-line-length -w,--words --total=text`},
	{name: "stat", args: "stat...", opts: `
		-L,--dereference -f,--file-system --cached=text -c,--format=text --printf=text -t,--terse`},
	{name: "file", args: "stat...", env: "MAGIC", opts: `
		-b,--brief -c,--checking-printout -C,--compile!write -d,--debug -E -e,--exclude=text --exclude-quiet=text
		--extension -F,--separator=text -f,--files-from=read!ask -h,--no-dereference -i,--mime --mime-type
		--mime-encoding -k,--keep-going -l,--list -L,--dereference -m,--magic-file=read -N,--no-pad -n,--no-buffer
		-p,--preserve-date!write -P,--parameter=text -r,--raw -s,--special-files -S,--no-sandbox!ask -v,--version
		-z,--uncompress!ask -Z,--uncompress-noreport!ask -0,--print0 --apple`},
	{name: "du", args: "stat...", env: "DU_BLOCK_SIZE BLOCK_SIZE BLOCKSIZE TIME_STYLE", opts: `
		-0,--null -a,--all --apparent-size -A -B,--block-size=text -b,--bytes -c,--total -D,--dereference-args
		-d,--max-depth=text --files0-from=read!ask -H -h,--human-readable --inodes -k -L,--dereference -l,--count-links
		-m -P,--no-dereference -S,--separate-dirs --si -s,--summarize -t,--threshold=text --time?text
		--time-style=text -X,--exclude-from=read --exclude=text -x,--one-file-system`},
	{name: "df", args: "stat...", opts: `
		-a,--all -B,--block-size=text -h,--human-readable -H,--si -i,--inodes -k -l,--local --no-sync --output?text
		-P,--portability --sync!ask --total -t,--type=text -T,--print-type -x,--exclude-type=text -v -m -b -g`},
	{name: "readlink", args: "stat...", opts: `
		-f,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing -n,--no-newline -q,--quiet -s,--silent
		-v,--verbose -z,--zero`},
	{name: "realpath", args: "stat...", opts: `
		-e,--canonicalize-existing -E,--canonicalize -m,--canonicalize-missing -L,--logical -P,--physical -q,--quiet
		--relative-to=text --relative-base=text -s,--strip,--no-symlinks -z,--zero`},
	{name: "basename", args: "text...", opts: `-a,--multiple -s,--suffix=text -z,--zero`},
	{name: "dirname", args: "text...", opts: `-z,--zero`},
	{name: "namei", args: "stat...", opts: `
		-x,--mountpoints -m,--modes -o,--owners -l,--long -n,--nosymlinks -v,--vertical -Z,--context -h -V`},
	{name: "pathchk", args: "text...", opts: `-p -P --portability`},
	{name: "tree", args: "stat...", opts: `
		-a -d -l -f -x -L=text -R!unknown -P=text -I=text --gitignore --gitfile=read --ignore-case --matchdirs --metafirst
		--prune --info --infofile=read --noreport --charset=text --filelimit=text --filesfirst --dirsfirst --sort=text
		--timefmt=text --si --du -q -N -Q -p -u -g -s -h -D -F --inodes --device -v -t -c -U -r -i -A -S -n -C
		-X -J -H=text -T=text --nolinks --hintro=read --houtro=read --fromfile!ask --fromtabfile!ask --fflinks
		-o=write --compress=text --hyperlink --scheme=text --authority=text --opt-toggle`},
	{name: "md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum", args: "read...", opts: `
		-b,--binary -c,--check!ask --tag -t,--text -z,--zero --ignore-missing --quiet --status --strict -w,--warn
		-l,--length=text`},
	{name: "cksum", args: "read...", opts: `
		-a,--algorithm=text --base64 -c,--check!ask -l,--length=text --raw --tag --untagged -z,--zero --ignore-missing
		--quiet --status --strict -w,--warn --debug`},
	{name: "sum", args: "read...", opts: `-r -s,--sysv`},
	{name: "strings", args: "read...", opts: `
		-# -a,--all -d,--data -f,--print-file-name -n,--bytes=text -t,--radix=text -w,--include-all-whitespace -o
		-e,--encoding=text -s,--output-separator=text -U,--unicode=text -v -V -h -T,--target=text`},
	{name: "od|hexdump|hd", args: "read...", opts: `
		-A,--address-radix=text -j,--skip-bytes=text -N,--read-bytes=text -S,--strings=text -t,--format=text
		-v,--output-duplicates -w,--width=text --endian=text -a -b -c -d -f=text -i -l -o -s=text -x -C,--canonical
		-n,--length=text -e=text -L,--color?text --one-byte-octal --one-byte-char --two-bytes-decimal
		--two-bytes-octal --two-bytes-hex --skip=text --no-squeezing -X,--one-byte-hex`},
	{name: "xxd", args: "read write", opts: `
		-a,-autoskip,--autoskip -b,-bits,--bits -c,-cols,--cols=text -C,-capitalize,--capitalize -d -e
		-E,-EBCDIC,--EBCDIC -g,-groupsize,--groupsize=text -h -i,-include,--include -l,-len,--len=text
		-n,-name,--name=text -o,-offset,--offset=text -p,-ps,-plain,-postscript,--plain -r,-revert,--revert
		-R=text -s,-seek,--seek=text -u,-uppercase,--uppercase -v,-version`, style: dashlong},
	{name: "base64|base32", args: "read", opts: `
		-d,--decode -D -i,--ignore-garbage -w,--wrap=text -b,--break=text!ask -o,--output=write --input=read!ask`},
	{name: "basenc", args: "read", opts: `
		-d,--decode -i,--ignore-garbage -w,--wrap=text --base64 --base64url --base32 --base32hex --base16 --base2msbf
		--base2lsbf --z85`},
	{name: "lsof", args: "stat...", env: "LSOFDEVCACHE LSOFPERSDCPATH", opts: `
		-a -b -c=text -C -d=text -D=text!unknown -e=text -E -f?text -F?text -g?text
		-h -H -i?text -k=read!ask -K?text -l -L?text -m=read!ask -M -n -N -o?text -O -p=text -P -Q -r?text!ask
		-R -s?text -S?text -t -T?text -u=text -U -v -V -w -x?text -X -z?text -Z?text`},
	{name: "fuser", args: "text...", class: read, opts: `
		-a,--all -c -f -i,--interactive!danger -k,--kill!danger -l,--list-signals -m,--mount -M,--ismountpoint
		-n,--namespace=text -s,--silent -SIGNAL!danger -u,--user -v,--verbose -w,--writeonly!danger -4,--ipv4 -6,--ipv6
		-V -I,--inode`},
	{name: "getfacl", args: "stat...", opts: `
		-a,--access -d,--default -c,--omit-header -e,--all-effective -E,--no-effective -s,--skip-base -R,--recursive
		-L,--logical -P,--physical -t,--tabular -p,--absolute-names -n,--numeric --one-file-system -v -h`},
	{name: "getfattr", args: "read...", opts: `
		-n,--name=text -d,--dump -e,--encoding=text -h,--no-dereference -m,--match=text --absolute-names
		--only-values -R,--recursive -L,--logical -P,--physical`},
	{name: "lsattr", args: "stat...", opts: `-R -V -a -d -l -p -v`},
	{name: "getcap", args: "stat...", opts: `-h -n -r -v`},
	{name: "cmp", args: "read read text text", opts: `
		-b,--print-bytes -i,--ignore-initial=text -l,--verbose -n,--bytes=text -s,--quiet,--silent -v,--version`},
	{name: "diff", args: "read...", opts: `
		-# --normal -q,--brief -s,--report-identical-files -c -C,--context=text -u -U,--unified=text -e,--ed -n,--rcs
		-y,--side-by-side -W,--width=text --left-column --suppress-common-lines -p,--show-c-function
		-F,--show-function-line=text --label=text -L=text -t,--expand-tabs -T,--initial-tab --tabsize=text
		--suppress-blank-empty -l,--paginate!ask -r,--recursive --no-dereference -N,--new-file
		--unidirectional-new-file -P --ignore-file-name-case --no-ignore-file-name-case -x,--exclude=text -X,--exclude-from=read
		-S,--starting-file=text --from-file=read --to-file=read -i,--ignore-case -E,--ignore-tab-expansion
		-Z,--ignore-trailing-space -b,--ignore-space-change -w,--ignore-all-space -B,--ignore-blank-lines
		-I,--ignore-matching-lines=text -a,--text --strip-trailing-cr -D,--ifdef=text
		--line-format=text --old-line-format=text --new-line-format=text --unchanged-line-format=text
		--old-group-format=text --new-group-format=text --unchanged-group-format=text --changed-group-format=text
		-d,--minimal --horizon-lines=text --speed-large-files --color?text --palette=text -v,--version`},
	{name: "diff3", args: "read read read", opts: `
		-A,--show-all -e,--ed -E,--show-overlap -3,--easy-only -x,--overlap-only -X -m,--merge -a,--text -i
		--strip-trailing-cr -T,--initial-tab --label=text -L=text --diff-program=cmd -v,--version`},
	{name: "sdiff", args: "read read", opts: `
		-o,--output=write -i,--ignore-case -E,--ignore-tab-expansion -b,--ignore-space-change -W,--ignore-all-space
		-B,--ignore-blank-lines -a,--text -w,--width=text -l,--left-column -s,--suppress-common-lines
		-t,--expand-tabs -d,--minimal -H,--speed-large-files --diff-program=cmd!unknown -v`},
	{name: "which", args: "text...", opts: `-a,--all -s -i,--read-alias!ask --read-functions!ask --skip-alias --skip-dot --skip-tilde --show-dot --show-tilde --tty-only -v -V`},
	{name: "whereis", args: "text...", opts: `-b -B=text!ask -m -M=text!ask -s -S=text!ask -f -u -g -l`},
	{name: "locate|mlocate|plocate", args: "text...", env: "LOCATE_PATH", opts: `
		-A,--all -b,--basename -c,--count -d,--database=read!ask -e,--existing -L,--follow -i,--ignore-case
		-p,--ignore-spaces -l,--limit,-n=text -m,--mmap -N,--literal -P,--nofollow,-H -0,--null -q,--quiet
		-r,--regexp=text --regex -s,--stdio -S,--statistics -w,--wholename -V`},
	{name: "ldd", class: unknown, why: "may run the file that it looks at", args: "read...", alone: "--version --help", opts: `-d -r -u -v`},
	{name: "nm|objdump|readelf|size", args: "read...", opts: `
		-a -C -D -g -n -u -l -h -S -s -d -x -t -p -r -R -f -e -V -W -w -j=text -M=text --dynamic --headers --sections
		--segments --symbols --file-header --disassemble --wide --all --demangle?text --defined-only --undefined-only`},
	{name: "look", args: "text read", opts: `-a,--alternative -d,--alphanum -f,--ignore-case -t,--terminate=text -V`},
	{name: "mountpoint", args: "stat", opts: `-q,--quiet --nofollow -d,--fs-devno -x,--devno -V`},
	{name: "ncdu|mc|ranger|nnn", class: unknown, why: "is full-screen, and can remove files", args: "read...", alone: "--version -v -V --help"},
	{name: "find", raw: true, check: find},
	{name: "fd|fdfind", args: "text read...", style: exact, opts: `
		-H,--hidden -I,--no-ignore -u,--unrestricted -s,--case-sensitive -i,--ignore-case -g,--glob --regex
		-F,--fixed-strings -a,--absolute-path -l,--list-details -L,--follow -p,--full-path -0,--print0 -d,--max-depth=text
		--min-depth=text --exact-depth=text -E,--exclude=text --prune -t,--type=text -e,--extension=text -S,--size=text
		--changed-within=text --changed-before=text -o,--owner=text -c,--color=text -j,--threads=text --max-results=text
		-1 -q,--quiet --show-errors --base-directory=read --search-path=read --strip-cwd-prefix --one-file-system -V
		-x,--exec=text!unknown -X,--exec-batch=text!unknown --ignore-file=read!ask`},
	{name: "rg", args: "text read...", style: exact, env: "RIPGREP_CONFIG_PATH", opts: `
		-A,--after-context=text -B,--before-context=text -C,--context=text -a,--text --binary -b,--byte-offset
		-s,--case-sensitive --color=text --colors=text --column --no-config -c,--count --count-matches --crlf --debug
		-m,--max-count=text -d,--max-depth=text -e,--regexp=text^ -f,--file=read^ --files^ -l,--files-with-matches
		--files-without-match -F,--fixed-strings -L,--follow -g,--glob=text --iglob=text --heading --no-heading --hidden -.
		-i,--ignore-case -v,--invert-match --json -n,--line-number -N,--no-line-number -x,--line-regexp -M,--max-columns=text
		--max-columns-preview --max-filesize=text --mmap --no-mmap -U,--multiline --multiline-dotall --no-ignore
		--no-ignore-vcs --no-ignore-parent --no-ignore-dot --no-messages --null -0 --null-data --one-file-system
		-o,--only-matching --passthru -P,--pcre2 -p,--pretty -q,--quiet -r,--replace=text -S,--smart-case --sort=text
		--sortr=text --stats --trim -t,--type=text -T,--type-not=text --type-list^ -u,--unrestricted -V --vimgrep
		-H,--with-filename -I,--no-filename -w,--word-regexp -j,--threads=text -E,--encoding=text --trace
		--pre=cmd --pre-glob=text!unknown -z,--search-zip!unknown --hostname-bin=cmd --hyperlink-format=text!ask
		--ignore-file=read!ask --type-add=text --type-clear=text`},
}
