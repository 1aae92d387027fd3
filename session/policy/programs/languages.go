package programs

// languages are programs whose first operand is a program of their own language; sed.go, awk.go and jq.go read it.
var languages = []program{
	{name: "sed|gsed", args: "text read...", check: sedCheck, env: "POSIXLY_CORRECT", opts: `
		-n,--quiet,--silent --debug -e,--expression=text^ -f,--file=read!unknown^ -E,-r,--regexp-extended
		-i,--in-place?text!write -l,--line-length=text --posix -b,--binary --follow-symlinks -s,--separate
		-u,--unbuffered --sandbox -z,--null-data`},
	{name: "awk|gawk|mawk|nawk|original-awk", args: "text read...", style: first, check: awkCheck,
		env: "AWKPATH AWKLIBPATH POSIXLY_CORRECT GAWK_* AWK*", opts: `
		-F,--field-separator=text -v,--assign=text -f,--file=read!unknown^ -e,--source=text^
		-b,--characters-as-bytes -c,--traditional -C,--copyright -d,--dump-variables!write -D,--debug!unknown
		-E,--exec=read!unknown^ -g,--gen-pot -i,--include=read!unknown -I,--trace -k,--csv -l,--load=read!unknown
		-M,--bignum -n,--non-decimal-data -N,--use-lc-numeric -o,--pretty-print!write -O,--optimize -p,--profile!write
		-P,--posix -r,--re-interval -s,--no-optimize -S,--sandbox -t,--lint-old -h -V -W=text!unknown`},
}
