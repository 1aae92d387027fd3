package programs

// builders run what a project's files say.
var builders = []program{
	{name: "make|gmake|bmake|cmake|ctest|ninja|meson|bazel|buck|scons|waf|ant|maven|just|task|rake|grunt|gulp|webpack|vite|turbo|nx|tox|nox|pytest|jest|mocha|phpunit|rspec|autoconf|automake|autoreconf|configure|bear|ccache|distcc|pre-commit|earthly|dagger|dpkg-buildpackage|debuild|mock|packer",
		class: unknown, why: "runs what a project's files say", raw: true, check: func(*call) {}, env: "MAKEFLAGS GNUMAKEFLAGS MAKEFILES", alone: "--version -v -V --help"},
	{name: "go", class: unknown, why: "may run what a project's files say, or fetch", style: exact, env: "GO*", sub: []program{
		{name: "version", style: exact | dashlong, args: "read...", opts: `-m -v -json`},
		{name: "env", style: exact | dashlong, args: "text...", opts: `-json -changed -w!write -u!write`},
		{name: "help", args: "text..."},
		{name: "install|get", class: forbid, why: "installs packages", args: "text...", check: install},
		{name: "build|run|test|generate|vet|list|mod|tool|fmt|work|clean|doc|fix|bug|telemetry", class: unknown, args: "text...", raw: false},
	}},
}
