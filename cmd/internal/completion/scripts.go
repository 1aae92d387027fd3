package completion

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Scripts adds the command "completion" to root, with scripts that run nothing of what was typed. Cobra's hand the line to eval:
// Tab then runs the substitutions in it and opens its redirects, and fish runs what was quoted for a host, on this machine.
func Scripts(root *cobra.Command) {
	var made bytes.Buffer
	out := root.OutOrStdout()
	root.SetOut(&made)
	root.InitDefaultCompletionCmd()
	root.SetOut(out)
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		for _, shell := range cmd.Commands() {
			shell.Long = strings.Replace(shell.Long, bashNeeds, "", 1)
			generate := shell.RunE
			shell.RunE = func(cmd *cobra.Command, args []string) error {
				made.Reset()
				if err := generate(cmd, args); err != nil {
					return err
				}
				text, err := mended(made.String(), scripts[shell.Name()])
				if err == nil {
					_, err = io.WriteString(cmd.OutOrStdout(), text)
				}
				return err
			}
		}
	}
}

const bashNeeds = `This script depends on the 'bash-completion' package.
If it is not installed already, you can install it via your OS's package manager.

`

// change is a piece of cobra's script, and what is there instead.
type change struct{ old, new string }

func mended(text string, changes []change) (string, error) {
	for _, c := range changes {
		if n := strings.Count(text, c.old); n != 1 {
			return "", fmt.Errorf("cobra's script has %d times what is replaced in it: %s", n, strings.TrimSpace(c.old))
		}
		text = strings.Replace(text, c.old, c.new, 1)
	}
	return text, nil
}

var scripts = map[string][]change{
	"bash": {
		{`    _get_comp_words_by_ref "$@" cur prev words cword
}
`, `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi

    # Without the bash-completion package: what bash has split at = : and @ is one word.
    local i word gap line=$COMP_LINE
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        gap=${line%%[![:space:]]*}
        line=${line#"$gap"}
        line=${line#"$word"}
        if ((i > 0)) && [[ -z $gap && ($word == [=:@]* || ${COMP_WORDS[i-1]} == *[=:@]) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
}

# Puts into request the words as bash would give them to the program, without redirects. Quotes, ~/ and variables are
# understood; nothing that was typed is run.
__fairlead_request()
{
    local word plain quote i name skip= redirect='^[0-9]*[<>]+[&|]?$' variable='^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?'
    request=()
    for word in "$@"; do
        if [[ -n $skip ]]; then
            skip=
            continue
        fi
        if [[ $word =~ $redirect ]]; then
            skip=1
            continue
        fi
        plain= quote=
        if [[ $word == '~/'* ]]; then
            plain=$HOME word=${word:1}
        fi
        for ((i = 0; i < ${#word}; i++)); do
            case $quote${word:i:1} in
            \"\" | \'\') quote= ;;
            \' | \") quote=${word:i:1} ;;
            \\)
                ((++i))
                plain+=${word:i:1}
                ;;
            '"\')
                [[ ${word:i+1:1} == [\"\\\$\` + "`" + `] ]] && ((i++))
                plain+=${word:i:1}
                ;;
            '$' | '"$')
                if [[ ${word:i} =~ $variable ]]; then
                    name=${BASH_REMATCH[1]}
                    plain+=${!name-}
                    ((i += ${#BASH_REMATCH[0]} - 1))
                else
                    plain+=$
                fi
                ;;
            *) plain+=${word:i:1} ;;
            esac
        done
        request+=("$plain")
    done
    if ((${#request[@]})) && [[ -z ${*: -1} ]]; then
        unset "request[${#request[@]}-1]"
    fi
    [[ -z $skip ]]
}
`},
		{`    local requestComp lastParam lastChar args

    # Prepare the command to request completions for the program.
    # Calling ${words[0]} instead of directly fairlead allows handling aliases
    args=("${words[@]:1}")
    requestComp="${words[0]} __complete ${args[*]}"
`, `    local lastParam lastChar request program=fairlead name='^[A-Za-z0-9_./~+-]+$'

    # Calling ${words[0]} instead of directly fairlead allows handling aliases
    [[ ${words[0]} =~ $name ]] && program=${words[0]}
    out= directive=0
    __fairlead_request "${words[@]:1}" || return
`},
		{`        requestComp="${requestComp} ''"
`, `        request+=("")
`},
		{`    __fairlead_debug "Calling ${requestComp}"
    # Use eval to handle any environment variables and such
    out=$(eval "${requestComp}" 2>/dev/null)
`, `    __fairlead_debug "Calling ${program} ${request[*]}"
    # eval is for aliases, and reads nothing but the name of the program
    out=$(eval "${program}"' __complete "${request[@]}"' 2>/dev/null)
`},
		{`        _init_completion -n =: || return
    else
        __fairlead_init_completion -n =: || return
`, `        _init_completion -n =:@ || return
    else
        __fairlead_init_completion -n =:@ || return
`},
		{`    local cur prev words cword split
`, `    local cur prev words cword split typed=$2
`},
		{`    __fairlead_handle_special_char "$cur" :
    __fairlead_handle_special_char "$cur" =
`, `    # bash replaces what it takes for the last word, which begins behind = and : and with @
    local i before=${cur%"$typed"}
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$before"}
        # between quotes, a backslash would stay
        [[ $cur == [\'\"]* ]] && COMPREPLY[i]=${COMPREPLY[i]//\\/}
    done
`},
	},
	"zsh": {
		{`flagPrefix requestComp out`, `flagPrefix program word name out`},
		{`    local -a completions
`, `    local -a completions request
`},
		{`    words=("${=words[1,CURRENT]}")
`, `    words=("${(@)words[1,CURRENT]}")
`},
		{`        flagPrefix="-P ${BASH_REMATCH}"
`, `        flagPrefix="-P ${(q)BASH_REMATCH[1]}"
`},
		{`    # Prepare the command to obtain completions
    requestComp="${words[1]} __complete ${words[2,-1]}"
`, `    # The words as zsh would give them to the program: quotes, ~/ and variables are understood; nothing that was typed is run
    program=fairlead
    [[ "${words[1]}" =~ '^[A-Za-z0-9_./~+-]+$' ]] && program=${words[1]}
    for word in "${(@)words[2,-1]}"; do
        if [[ "$word" =~ '^"?\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?(/[^$` + "`" + `"]*)?"?$' ]]; then
            name=${BASH_REMATCH[2]}
            word="${(P)name}${BASH_REMATCH[3]}"
        elif [[ "$word" == '~/'* ]]; then
            word="$HOME${(Q)word[2,-1]}"
        else
            # the quote of the last word may be open
            [[ "$word" == [\'\"]* && "${(Q)word}" == "$word" ]] && word+=${word[1]}
            word="${(Q)word}"
        fi
        request+=("$word")
    done
    [[ -z "${lastParam}" ]] && request[-1]=()
`},
		{`        requestComp="${requestComp} \"\""
`, `        request+=("")
`},
		{`    __fairlead_debug "About to call: eval ${requestComp}"

    # Use eval to handle any environment variables and such
    out=$(eval ${requestComp} 2>/dev/null)
`, `    __fairlead_debug "About to call: ${program} __complete ${request}"

    # eval is for aliases, and reads nothing but the name of the program
    out=$(eval ${program}' __complete "${request[@]}"' 2>/dev/null)
`},
	},
	"fish": {
		{`    set -l lastArg (string escape -- (commandline -ct))
`, `    # without the quotes that were typed, of which one may be open
    set -l last (commandline -ct)
    set -l plain (string unescape -- "$last")
    set -q plain[1]; and set last $plain
    set -l lastArg (string escape -- "$last")
`},
		{`        set -l prefix (commandline -t | string escape --style=regex)
`, `        set -l prefix (string unescape -- (commandline -t) | string escape --style=regex)
`},
		{`    set -l args (commandline -opc)
`, `    set -l args (commandline -xpc 2>/dev/null; or commandline -opc)
`},
		{`    # Disable ActiveHelp which is not supported for fish shell
    set -l requestComp "FAIRLEAD_ACTIVE_HELP=0 $args[1] __complete $args[2..-1] $lastArg"
`, `    # fish has taken the quotes off: without new ones, eval would run what was quoted
    set -l program fairlead
    string match -qr '^[A-Za-z0-9_./~+-]+$' -- $args[1]; and set program $args[1]
    set -l rest
    for arg in $args[2..-1]
        string match -q '~/*' -- $arg; and set arg $HOME(string sub -s 2 -- $arg)
        set -a rest (string escape -- $arg)
    end

    # Disable ActiveHelp which is not supported for fish shell
    set -l requestComp "FAIRLEAD_ACTIVE_HELP=0 $program __complete $rest $lastArg"
`},
	},
	"powershell": {
		{`    $RequestComp="$Program __complete $Arguments"
`, `    $RequestComp="$Program __complete $Arguments"

    # PowerShell would run what was typed: nothing is completed behind more than plain words.
    if ($RequestComp -match '[$` + "`" + `;&|<>()]') {
        return
    }
`},
	},
}
