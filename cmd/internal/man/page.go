package man

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// page returns the page of one command, for man(7). It is what --help says, so it has no date.
func page(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	title := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"\" \"Fairlead\" \"Fairlead\"\n.nh\n", escape(strings.ToUpper(title)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(title), escape(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fR\n", escape(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	description(&b, cmd)
	options(&b, "OPTIONS", cmd.NonInheritedFlags())
	options(&b, "OPTIONS INHERITED FROM PARENT COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLE\n")
		verbatim(&b, cmd.Example)
	}
	if also := seeAlso(cmd); len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ",\n"))
	}
	return b.String()
}

// description writes a command's text: paragraphs are filled, indented lines stay as they are.
func description(b *strings.Builder, cmd *cobra.Command) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	for block := range strings.SplitSeq(text, "\n\n") {
		b.WriteString(".PP\n")
		for rest := strings.Trim(block, "\n"); rest != ""; {
			var part string
			kept := isIndented(rest)
			part, rest = split(rest)
			if kept {
				verbatim(b, part)
			} else {
				b.WriteString(lines(part))
			}
		}
	}
}

// split returns the first lines that are all indented, or all not, and the others.
func split(text string) (first, rest string) {
	kept := isIndented(text)
	for i := range len(text) {
		if text[i] == '\n' && isIndented(text[i+1:]) != kept {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

func isIndented(line string) bool { return line != "" && (line[0] == ' ' || line[0] == '\t') }

// verbatim writes lines that are not filled.
func verbatim(b *strings.Builder, text string) {
	fmt.Fprintf(b, ".PP\n.RS 2\n.nf\n%s.fi\n.RE\n", lines(strings.TrimRight(text, "\n")))
}

func options(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		b.WriteString(".TP\n")
		if f.Shorthand != "" && f.ShorthandDeprecated == "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fR, ", escape(f.Shorthand))
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", escape(f.Name))
		value, usage := pflag.UnquoteUsage(f)
		switch {
		case value == "":
		case f.NoOptDefVal != "":
			fmt.Fprintf(b, "[=\\fI%s\\fR]", escape(value))
		default:
			fmt.Fprintf(b, " \\fI%s\\fR", escape(value))
		}
		if !isZero(f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		b.WriteString("\n" + lines(usage))
	})
}

// isZero reports whether a flag's default is none.
func isZero(value string) bool {
	switch value {
	case "", "0", "0s", "false", "[]":
		return true
	}
	return false
}

// seeAlso names the page of the command above, and those of the commands below.
func seeAlso(cmd *cobra.Command) (pages []string) {
	name := func(c *cobra.Command) string {
		return fmt.Sprintf("\\fB%s(1)\\fR", escape(strings.ReplaceAll(c.CommandPath(), " ", "-")))
	}
	if cmd.HasParent() {
		pages = append(pages, name(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			pages = append(pages, name(c))
		}
	}
	return pages
}

// lines is text as lines that man(7) reads as text.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && (line[0] == '.' || line[0] == '\'') {
			b.WriteString(`\&`)
		}
		b.WriteString(escape(line) + "\n")
	}
	return b.String()
}

// escape has each character printed as the one that it is: others would be made typographic, and could not be pasted.
var escape = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "~", `\(ti`, "^", `\(ha`, `"`, `\(dq`).Replace
