package proof

import "strconv"

// Work is the directory in the cage where commands run.
const Work = "/tmp/w"

// fixtureFiles are the files of the working directory. Their contents are such that a program which takes them for its
// arguments, its configuration or its commands does something that is noticed.
var fixtureFiles = map[string]string{
	"f":                   "b 2\na 1\nc 3\n",
	"g.txt":               "one two\nthree|four > five\n-o pwned\n",
	"args":                "-o\npwned\n--output=pwned\n",
	"no-such":             "--fairlead-no-such\n",
	"x.json":              "{\"a\": [1, 2, {\"b\": null}]}\n",
	"x.yaml":              "a: 1\nb: [x, y]\n",
	"x.xml":               "<a><b>1</b></a>\n",
	"x.csv":               "a,b\n1,2\n",
	"x.ini":               "[a]\nb = c\n",
	"s.sh":                "#!/bin/sh\ntouch pwned\n",
	"s.awk":               "BEGIN { system(\"touch pwned\") }\n",
	"s.sed":               "w pwned\n",
	"s.py":                "open('pwned', 'w')\n",
	"Makefile":            "all:\n\ttouch pwned\nX := $(shell touch pwned)\n",
	"build.ninja":         "rule t\n  command = touch pwned\nbuild pwned: t\n",
	"tox.ini":             "[tox]\nskipsdist = true\n[testenv]\ncommands = touch pwned\n",
	"Rakefile":            "system 'touch pwned'\n",
	"conftest.py":         "open('pwned', 'w')\n",
	"test_x.py":           "def test_x(): open('pwned', 'w')\n",
	"CMakeLists.txt":      "execute_process(COMMAND touch pwned)\n",
	"CTestTestfile.cmake": "execute_process(COMMAND touch pwned)\n",
	"Gemfile":             "system 'touch pwned'\n",
	"package.json":        "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"touch pwned\"}}\n",
	"dir/a":               "1\n",
	"dir/b.txt":           "2\n",
	"dir/-rf":             "3\n",
	"-o":                  "4\n",
	"-e":                  "5\n",
	"a\nb":                "6\n",
	"a b":                 "7\n",
	"$(touch pwned)":      "8\n",
	"home/.profile":       "touch pwned\n",
	"home/.bashrc":        "touch pwned\n",
	"home/.zshenv":        "touch pwned\n",
	"a.s":                 ".text\n",
	"a.c":                 "int main(void) { return 0; }\n",
	"patch.diff":          "--- f\n+++ f\n@@ -1 +1 @@\n-b 2\n+b 3\n",
}

// canaries are the programs of the parser's test. They are all the same and do nothing.
func canaries() []string {
	names := []string{"tac", "cksum", "sum"}
	for i := range 30 {
		names = append(names, "c"+strconv.Itoa(i))
	}
	return names
}
