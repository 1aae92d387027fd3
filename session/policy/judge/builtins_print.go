package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// printf judges a format and its arguments. Some shells evaluate what a numeric conversion is given, and %n and -v set
// variables.
func (w *walker) printf(c call) {
	args := c.args
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	format := args[0]
	if !format.Literal || strings.HasPrefix(format.Text, "-") {
		w.shapesSession(c)
		return
	}
	if wide.MatchString(format.Text) {
		w.unknown(c, "may print more than anybody reads")
		return
	}
	numeric, ok := conversions(format.Text)
	if !ok {
		w.shapesSession(c)
		return
	}
	for i, a := range args[1:] {
		known := number(a.Text, a.Literal) || w.shapeOf(a).number
		several := (a.Split || a.Glob) && !(known && numbersOnly(w.shell)) // or none: which is which is not certain
		if several && slices.Contains(numeric, true) || len(numeric) > 0 && numeric[i%len(numeric)] && !known {
			w.unknown(c, "some shells evaluate what a numeric conversion is given")
			return
		}
	}
	w.fine("builtins/printf", "it prints its arguments")
}

// wide is a width or precision of six digits or more.
var wide = lazyregexp.New(`(?s)%.*[0-9]{6}`)

func number(s string, literal bool) bool {
	if !literal {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return s == "" || err == nil
}

var conversion = lazyregexp.New(`(?s)%[-+ #0-9.']*(\([^)]*\)T|.|$)`)

// conversions tells for each argument that a format takes in turn whether it is converted to a number; ok is false when
// the format can do more than print.
func conversions(format string) (numeric []bool, ok bool) {
	for _, m := range conversion.FindAllStringSubmatch(format, -1) {
		switch k := m[1]; {
		case k == "%":
		case k == "":
			return nil, false
		case strings.Contains("sqcb", k):
			numeric = append(numeric, false)
		case strings.Contains("diuoxXeEfFgGaA", k), k[0] == '(' && len(k) > 1:
			numeric = append(numeric, true)
		default:
			return nil, false
		}
	}
	return numeric, true
}

// print is the echo of zsh and ksh, with options that run code: only plain words are let through.
func (w *walker) print(c call) {
	for i, a := range c.args {
		if i == 0 && a.Literal && (a.Text == "-r" || a.Text == "--" || a.Text == "-l" || a.Text == "-rl") {
			continue
		}
		if strings.HasPrefix(a.Text, "-") || !a.Literal && a.Text == "" {
			w.shapesSession(c)
			return
		}
	}
	w.fine("builtins/print", "it prints its arguments")
}
