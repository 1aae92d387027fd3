package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// flagError says in our words what is wrong with a flag, with an example that is right.
func flagError(cmd *cobra.Command, err error) error {
	var (
		value    *pflag.InvalidValueError
		required *pflag.ValueRequiredError
		syntax   *pflag.InvalidSyntaxError
		unknown  *pflag.NotExistError
	)
	switch {
	case errors.As(err, &value):
		return cmdutil.Usagef("%s", badValue(value.GetFlag(), value.GetValue(), value.Unwrap()))
	case errors.As(err, &required):
		f := required.GetFlag()
		return cmdutil.Usagef("%s needs a value, for example %s", dashed(f), exampleOf(f))
	case errors.As(err, &syntax):
		return cmdutil.Usagef("%s is not a flag; see %s --help", shown(syntax.GetSpecifiedFlag()), cmd.CommandPath())
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	}
	return cmdutil.Usagef("%w; see %s --help", err, cmd.CommandPath())
}

// number is what lacks only its unit.
var number = lazyregexp.New(`^-?[0-9]+(\.[0-9]+)?$`)

// badValue says why a flag does not take a value. cause is what the flag says itself.
func badValue(f *pflag.Flag, v string, cause error) string {
	name := dashed(f)
	switch f.Value.Type() {
	case "duration":
		if number.MatchString(v) && v[0] != '-' {
			return fmt.Sprintf("%s %s has no unit: write %ss", name, v, v)
		}
		return fmt.Sprintf("%s %s is not a duration: write for example %s", name, shown(v), exampleOf(f))
	case "bool":
		var syntax *strconv.NumError
		if !errors.As(cause, &syntax) { // it only looks like one in the help
			return fmt.Sprintf("%s=%s: %s", name, shown(v), cause)
		}
		if f.DefValue == "true" {
			return fmt.Sprintf("%s=%s: write %s=true or %s=false", name, shown(v), name, name)
		}
		return fmt.Sprintf("%s=%s: %s takes no value: write %s, or leave it out", name, shown(v), name, name)
	case "int", "int64", "uint", "uint64", "count":
		var syntax *strconv.NumError
		if errors.As(cause, &syntax) && errors.Is(syntax.Err, strconv.ErrRange) {
			return fmt.Sprintf("%s %s is out of range: write for example %s", name, shown(v), exampleOf(f))
		}
		return fmt.Sprintf("%s %s is not a whole number: write for example %s", name, shown(v), exampleOf(f))
	case "float64", "float32":
		return fmt.Sprintf("%s %s is not a number: write for example %s", name, shown(v), exampleOf(f))
	}
	return fmt.Sprintf("%s %s: %s", name, shown(v), cause)
}

// exampleOf is a flag with a value that it takes.
func exampleOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "duration":
		return dashed(f) + " 30s or " + dashed(f) + " 2m30s"
	case "int", "int64", "uint", "uint64", "count", "float64", "float32":
		if f.DefValue != "0" {
			return dashed(f) + " " + f.DefValue
		}
		return dashed(f) + " 10"
	}
	// The name of a value stands in the help; alternatives are their own example.
	kind, _ := pflag.UnquoteUsage(f)
	if first, _, several := strings.Cut(kind, "|"); several {
		return dashed(f) + " " + first
	}
	if kind == "" || kind == "string" || kind == "stringArray" {
		kind = "value"
	}
	return dashed(f) + " " + strings.ToUpper(kind)
}

func dashed(f *pflag.Flag) string { return "--" + f.Name }

// shown quotes what is not a plain word.
func shown(v string) string {
	if v == "" || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f || !strconv.IsPrint(r) }) {
		return strconv.Quote(v)
	}
	return v
}
