package judge

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// listing judges builtins that only tell something in some of their forms, and shape the session in all others.
func (w *walker) listing(c call) {
	var ok bool
	switch c.name {
	case "dirs":
		ok = lettersOnly(c.args, "lpv")
	case "jobs":
		ok = lettersOnly(c.args, "lnprs")
	case "type", "whence", "where":
		ok = lettersThenWords(c.args, "afptPwvcsm") && !hasShort(c.args, 'm')
	case "help":
		ok = lettersThenWords(c.args, "dms")
	case "wait":
		ok = numbersOnly(c)
	case "hash", "alias":
		ok = len(c.args) == 0
	case "umask":
		ok = lettersOnly(c.args, "Sp")
	case "ulimit", "limit":
		ok = lettersOnly(c.args, "SHabcdefiklmnpqrstuvwxPRT")
	case "shopt":
		ok = len(c.args) == 0 || lettersThenWords(c.args, "pqo")
	case "trap":
		ok = len(c.args) == 0 || c.args[0].Text != "" && c.args[0].Text[0] == '-' && lettersThenWords(c.args, "pl")
	case "complete", "enable":
		ok = lettersOnly(c.args, "pan") && (c.name == "complete") == hasShort(c.args, 'p') && (len(c.args) > 0 || c.name == "enable")
	case "set":
		ok = len(c.args) == 1 && (c.args[0].Text == "-o" || c.args[0].Text == "+o") && c.args[0].Literal
	case "export", "readonly", "declare", "typeset":
		w.declareWords(c)
		return
	case "history":
		if len(c.args) == 0 || len(c.args) == 1 && c.args[0].Literal && digits(c.args[0].Text) {
			w.raise(policy.SensitiveRead, "builtins/history", "it shows what people typed before")
			return
		}
		if anyText(c.args, "-c") {
			w.raise(policy.Dangerous, "builtins/history", "it removes what people typed before")
			return
		}
	case "fc":
		if len(c.args) > 0 && c.args[0].Text == "-l" {
			w.raise(policy.SensitiveRead, "builtins/fc", "it shows what people typed before")
			return
		}
	}
	if ok {
		w.fine("builtins/"+c.name, "it only lists what the shell knows")
		return
	}
	if c.name == "set" && len(c.args) == 0 {
		w.raise(policy.SensitiveRead, "builtins/set", "it prints every variable, secrets included")
		return
	}
	w.shapesSession(c)
}

func numbersOnly(c call) bool {
	for _, a := range c.args {
		if !a.Literal && a.Text == "" && (a.Source == "$!" || a.Source == `"$!"`) {
			continue
		}
		if !a.Literal || !digits(strings.TrimPrefix(a.Text, "%")) {
			return false
		}
	}
	return true
}

// declareWords judges export and its like where they come as plain words.
func (w *walker) declareWords(c call) {
	if lettersOnly(c.args, "pfFx") {
		if anyShortOf(c, "fF") {
			w.fine("builtins/"+c.name, "it lists functions")
			return
		}
		w.raise(policy.SensitiveRead, "builtins/"+c.name, "it prints variables, secrets included")
		return
	}
	w.shapesSession(c)
}

func anyShortOf(c call, letters string) bool {
	for i := 0; i < len(letters); i++ {
		if hasShort(c.args, letters[i]) {
			return true
		}
	}
	return false
}

// shapesSession judges builtins that change what later commands in the same shell mean.
func (w *walker) shapesSession(c call) {
	w.unknown(c, "it changes the session's shell, and with it what later commands mean")
	named := false
	for _, a := range c.args {
		if strings.HasPrefix(a.Text, "-") && a.Literal || strings.HasPrefix(a.Text, "+") {
			continue
		}
		name, _, _ := strings.Cut(a.Text, "=")
		name, _, _ = strings.Cut(name, "[")
		name = strings.TrimSuffix(name, "+")
		if name == "" || !a.Literal && name == a.Text {
			name = "*"
		}
		w.setsName(name)
		named = true
	}
	if !named {
		w.setsName("*")
	}
	switch c.name {
	case "trap", "alias", "complete", "mapfile", "readarray", "compgen", "bind":
		w.embeddedCode(c)
	case "repeat":
		if len(c.args) > 1 {
			w.runs(c, c.args[1:])
		}
	}
}

// embeddedCode looks at what such a builtin would run some day, for what is forbidden at any time.
func (w *walker) embeddedCode(c call) {
	for i, a := range c.args {
		text := a.Text
		if c.name == "alias" {
			_, text, _ = strings.Cut(text, "=")
		}
		if a.Literal && (strings.IndexByte(text, ' ') > 0 || c.name == "trap" && i == 0) {
			w.script(text, "")
		}
	}
}
