package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

func TestTheStrongestThatTheHostHasIsTakenAndToldTruthfully(t *testing.T) {
	both := sandbox.Ability{Bubblewrap: true, Landlock: 6}
	land := sandbox.Ability{Landlock: 6, Why: "bubblewrap is not installed on the host"}
	none := sandbox.Ability{Why: "bubblewrap is not installed on the host"}
	for name, tt := range map[string]struct {
		path  string
		can   sandbox.Ability
		wants sandbox.Wants
		level sandbox.Level
		how   string
		why   string
		fails string
	}{
		"bubblewrap before Landlock":     {can: both, level: "kernel", how: "bubblewrap", why: "the network is the account's"},
		"no network":                     {can: both, wants: sandbox.Wants{NoNetwork: true}, level: "kernel", how: "bubblewrap", why: "there is no network"},
		"Landlock":                       {can: land, level: "kernel", how: "landlock", why: "are not covered"},
		"Landlock without a network":     {can: land, wants: sandbox.Wants{NoNetwork: true}, level: "kernel", how: "landlock", why: "there is no network"},
		"a network that nothing cuts":    {can: none, wants: sandbox.Wants{NoNetwork: true}, level: "checked", fails: "must have no network"},
		"a key with a quote in its name": {can: sandbox.Ability{Bubblewrap: true, Landlock: 6, Hide: sandbox.Secrets{Files: []string{"/srv/it's"}}}, level: "checked", why: "must be hidden"},
		"such a key, and Landlock alone": {can: sandbox.Ability{Landlock: 6, Hide: sandbox.Secrets{Files: []string{"/srv/it's"}}}, level: "checked", why: "must be hidden"},
		"a key in the sandbox":           {can: sandbox.Ability{Landlock: 6, Hide: sandbox.Secrets{Dirs: []string{"/srv/app/.ssh"}}}, level: "checked", why: "Landlock cannot hide it"},
		"a key there and no kernel":      {can: sandbox.Ability{Landlock: 2, Why: "no kernel", Hide: sandbox.Secrets{Dirs: []string{"/srv/app/.ssh"}}}, level: "checked", why: "no kernel"},
		"an odd key and no kernel":       {can: sandbox.Ability{Why: "no kernel", Hide: sandbox.Secrets{Files: []string{"/srv/it's"}}}, level: "checked", why: "no kernel"},
		"bubblewrap hides it there":      {can: sandbox.Ability{Bubblewrap: true, Hide: sandbox.Secrets{Dirs: []string{"/srv/app/.ssh"}}}, level: "kernel", how: "bubblewrap", why: "keys"},
		"the oldest Landlock":            {can: sandbox.Ability{Landlock: 3}, level: "kernel", how: "landlock"},
		"an old Landlock":                {can: sandbox.Ability{Landlock: 2, Why: "x"}, level: "checked"},
		"a path that needs quotes":       {path: "/srv/my app", can: sandbox.Ability{Bubblewrap: true}, level: "checked", why: "characters"},
		"an account that can do no more": {can: none, wants: sandbox.Wants{Account: true}, level: "account", why: "the operator says"},
		"the kernel before the account":  {can: both, wants: sandbox.Wants{Account: true}, level: "kernel", how: "bubblewrap"},
		"nothing":                        {can: none, level: "checked", why: "bubblewrap is not installed"},
		"nobody asked":                   {level: "checked", why: "was not asked"},
		"at least the kernel":            {can: none, wants: sandbox.Wants{Account: true, AtLeast: "kernel"}, level: "account", fails: `only "account" can be had`},
		"at least the account":           {can: none, wants: sandbox.Wants{AtLeast: "account"}, level: "checked", fails: `only "checked"`},
		"at least what is there":         {can: none, wants: sandbox.Wants{AtLeast: "checked"}, level: "checked"},
		"at least what nobody knows":     {can: both, wants: sandbox.Wants{AtLeast: "steel"}, level: "kernel", how: "bubblewrap", fails: "steel"},
	} {
		t.Run(name, func(t *testing.T) {
			s := box("/srv/app")
			if tt.path != "" {
				s.Path = tt.path
			}
			e, err := sandbox.Choose(s, tt.can, tt.wants)
			assert.Equal(t, tt.level, e.Level)
			assert.Equal(t, tt.how, e.How)
			assert.Contains(t, e.Why, tt.why)
			if tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
				return
			}
			require.NoError(t, err)
			wrap := e.Wrap(s, sandbox.Bubblewrap{}, sandbox.Landlock{Helper: []string{"/usr/bin/fairlead", "sandbox-exec"}})
			require.Equal(t, e.How != "", wrap != nil)
			if wrap == nil {
				return
			}
			p, err := wrap(session.Program{Line: "exec sh -c 'true'", Term: "dumb"})
			require.NoError(t, err)
			assert.Equal(t, "dumb", p.Term)
			assert.Regexp(t, `^exec (bwrap --ro-bind / / .* --bind /srv/app /srv/app |/usr/bin/fairlead sandbox-exec /srv/app ).*sh -c 'true'$`, p.Line)
		})
	}
}

// What is left open is said of every way and every version, each in its sentence.
func TestWhatIsLeftOpenIsSaid(t *testing.T) {
	for _, tt := range []struct {
		can  sandbox.Ability
		w    sandbox.Wants
		want []string
	}{
		{sandbox.Ability{Bubblewrap: true}, sandbox.Wants{}, []string{"network", "reading", "abstract unix sockets", "unix sockets", "hard links and mounts that are in the sandbox already"}},
		{sandbox.Ability{Bubblewrap: true}, sandbox.Wants{NoNetwork: true}, []string{"reading", "unix sockets", "hard links and mounts that are in the sandbox already"}},
		{sandbox.Ability{Landlock: 5}, sandbox.Wants{}, []string{"network", "reading", "modes, owners and times of the account's own files outside", "other processes", "System V shared memory and message queues of the account", "signals", "hard links that are in the sandbox already"}},
		{sandbox.Ability{Landlock: 6}, sandbox.Wants{NoNetwork: true}, []string{"reading", "modes, owners and times of the account's own files outside", "other processes", "System V shared memory and message queues of the account", "hard links that are in the sandbox already"}},
		{sandbox.Ability{}, sandbox.Wants{}, nil},
	} {
		e, err := sandbox.Choose(box("/srv/app"), tt.can, tt.w)
		require.NoError(t, err)
		var got []string
		for _, text := range e.Open {
			about, _, _ := strings.Cut(text, ":")
			got = append(got, about)
		}
		assert.Equal(t, tt.want, got)
	}
}

// The sandbox's own wish for no network counts as the operator's does.
func TestASandboxWithoutANetworkHasNone(t *testing.T) {
	s := box("/srv/app")
	s.NoNetwork = true
	_, err := sandbox.Choose(s, sandbox.Ability{}, sandbox.Wants{})
	require.ErrorContains(t, err, "must have no network")
	for how, can := range map[string]sandbox.Ability{"--unshare-net": {Bubblewrap: true, At: "/opt/bwrap"}, "--no-network": {Landlock: 3}} {
		for _, s.NoNetwork = range []bool{true, false} {
			e, err := sandbox.Choose(s, can, sandbox.Wants{})
			require.NoError(t, err)
			p, err := e.Wrap(s, sandbox.Bubblewrap{}, sandbox.Landlock{Helper: []string{"/x"}})(session.Program{Line: "exec sh -c 'true'"})
			require.NoError(t, err)
			assert.Equal(t, s.NoNetwork, strings.Contains(p.Line, how), p.Line)
			assert.Equal(t, can.At, e.At)
		}
		e, err := sandbox.Choose(s, can, sandbox.Wants{})
		require.NoError(t, err)
		p, err := e.Wrap(s, sandbox.Bubblewrap{NoNetwork: true, At: "/my/bwrap"}, sandbox.Landlock{Helper: []string{"/x"}, NoNetwork: true})(session.Program{Line: "exec sh -c 'true'"})
		require.NoError(t, err)
		assert.Contains(t, p.Line, how)
		assert.NotContains(t, p.Line, "/opt/bwrap", "what the caller says counts")
	}
}

// What is hidden is passed to what hides it, the caller's and the host's.
func TestWhatIsHiddenIsPassedOn(t *testing.T) {
	s := box("/srv/app")
	for _, tt := range []struct {
		can  sandbox.Ability
		want string
	}{
		{sandbox.Ability{Bubblewrap: true}, "--tmpfs /h/own --tmpfs /h/dir --ro-bind /dev/null /h/ownfile --ro-bind /dev/null /h/file "},
		{sandbox.Ability{Landlock: 3}, "--hide=/h/own --hide=/h/dir --hide=/h/file "},
	} {
		tt.can.Hide = sandbox.Secrets{Dirs: []string{"/h/dir"}, Files: []string{"/h/file"}}
		e, err := sandbox.Choose(s, tt.can, sandbox.Wants{})
		require.NoError(t, err)
		p, err := e.Wrap(s, sandbox.Bubblewrap{Hide: []string{"/h/own"}, HideFiles: []string{"/h/ownfile"}}, sandbox.Landlock{Helper: []string{"/x"}, Hide: []string{"/h/own"}})(session.Program{Line: "exec sh -c 'true'"})
		require.NoError(t, err)
		assert.Contains(t, p.Line, tt.want)
	}
	_, err := sandbox.Landlock{Helper: []string{"/x"}, Hide: []string{"/srv/app/x"}}.Program(s, session.Program{Line: "exec sh -c 'true'"})
	require.ErrorContains(t, err, "cannot hide what lies in the sandbox itself")
	_, err = sandbox.Landlock{Helper: []string{"/x"}, Hide: []string{"/srv/a b"}}.Program(s, session.Program{Line: "exec sh -c 'true'"})
	require.ErrorContains(t, err, "must be absolute and clean")
	_, err = sandbox.Bubblewrap{HideFiles: []string{"/srv/a b"}}.Program(s, session.Program{Line: "exec sh -c 'true'"})
	require.ErrorContains(t, err, "must be absolute and clean")
}

// A mount below a hidden directory, or over the sandbox, would undo the one above it; a directory above what is hidden in the
// sandbox is pinned, each once.
func TestWhatIsHiddenIsMountedInOrder(t *testing.T) {
	for _, tt := range []struct {
		path        string
		hide, files []string
		want, not   string
	}{
		{"/srv/app", []string{"/srv/app"}, nil, " --bind /srv/app /srv/app --chdir ", "--tmpfs /srv/app"},
		{"/srv/app", []string{"/h", "/h/x"}, []string{"/h/y", "/hy"}, "--tmpfs /h --ro-bind /dev/null /hy --ro-bind-try", "/h/"},
		{"/srv/app", []string{"/srv"}, []string{"/srv/key"}, "--tmpfs /srv --ro-bind-try", "/srv/key"},
		{"/srv/app", []string{"/srv/app/a/b/c", "/srv/app/a/b/d"}, []string{"/srv/app/k"},
			" --bind /srv/app /srv/app --bind /srv/app/a /srv/app/a --bind /srv/app/a/b /srv/app/a/b --tmpfs /srv/app/a/b/c --tmpfs /srv/app/a/b/d --ro-bind /dev/null /srv/app/k --chdir ", ""},
		{"/tmp/app", []string{"/tmp/x"}, nil, "--tmpfs /tmp --tmpfs /var/tmp --tmpfs /run --ro-bind-try", "/tmp/x"},
		{"/srv/app", []string{"/tmp/x", "/run/y"}, []string{"/var/tmp/z"}, "--tmpfs /tmp --tmpfs /var/tmp --tmpfs /run --ro-bind-try", "/tmp/x"},
	} {
		p, err := sandbox.Bubblewrap{Hide: tt.hide, HideFiles: tt.files}.Program(box(tt.path), session.Program{Line: "exec sh -c 'true'"})
		require.NoError(t, err)
		assert.Contains(t, p.Line, tt.want)
		if tt.not != "" {
			assert.NotContains(t, p.Line, tt.not)
		}
	}
}

func TestOnlyProgramsOfOursAreStartedInASandbox(t *testing.T) {
	s := box("/srv/app")
	for _, line := range []string{"", "ls", "exec ls", "sh -c 'x'", "exec sh -c x"} {
		_, err := sandbox.Bubblewrap{}.Program(s, session.Program{Line: line})
		require.Error(t, err, line)
		_, err = sandbox.Landlock{Helper: []string{"/x"}}.Program(s, session.Program{Line: line})
		require.Error(t, err, line)
	}
	ours := session.Program{Line: "exec sh -c 'true'"}
	for _, path := range []string{"/srv/my app", "/srv/a'b", "/srv/$x", "/srv/a!b", "/srv/é", "/srv/a\\b", "srv", "/"} {
		_, err := sandbox.Bubblewrap{}.Program(box(path), ours)
		require.Error(t, err, path)
		_, err = sandbox.Landlock{Helper: []string{"/x"}}.Program(box(path), ours)
		require.Error(t, err, path)
	}
	_, err := sandbox.Bubblewrap{Hide: []string{"/srv/a b"}}.Program(s, ours)
	require.Error(t, err)
	_, err = sandbox.Landlock{}.Program(s, ours)
	require.Error(t, err)
	_, err = sandbox.Bubblewrap{At: "/opt/my bwrap"}.Program(s, ours)
	require.Error(t, err)
	_, err = sandbox.Landlock{Helper: []string{"/my fairlead"}}.Program(s, ours)
	require.Error(t, err)
}

func TestAHostSaysWhatItsKernelCanDo(t *testing.T) {
	s := box("/srv/app")
	for said, want := range map[string]sandbox.Ability{
		"fairlead:works:/opt/bin/bwrap":  {Bubblewrap: true, At: "/opt/bin/bwrap"},
		"fairlead:works:bwrap":           {Bubblewrap: true},
		"fairlead:works:keys:/bin/bwrap": {Bubblewrap: true, At: "/bin/bwrap", Keys: true},
		"fairlead:works:keys:bwrap":      {Bubblewrap: true, Keys: true},
		"fairlead:works:/opt/my bwrap":   {Why: "bubblewrap is at a path with characters that not every login shell passes on as they are"},
		"fairlead:absent":                {Why: "bubblewrap is not installed on the host"},
		"fairlead:refused:bwrap: No permissions to create\nnew namespace\x1b": {Why: `bubblewrap does not work there: "bwrap: No permissions to create new namespace\x1b"`},
		"fairlead:refused:": {Why: "bubblewrap does not work there"},
	} {
		can, err := sandbox.Probe(t.Context(), func(context.Context, string, string) (string, error) { return said, nil }, sandbox.Bubblewrap{}, s)
		require.NoError(t, err)
		assert.Equal(t, want, can)
	}
	can, err := sandbox.Probe(t.Context(), func(context.Context, string, string) (string, error) {
		return "", errors.New("asked")
	}, sandbox.Bubblewrap{Hide: []string{"/srv/it's"}}, s)
	require.NoError(t, err, "what cannot be made is not tried")
	assert.NotEmpty(t, can.Why)
	assert.False(t, can.Bubblewrap)
	for _, said := range []string{"", "motd", "x/a\x00E", "d/a\x00f/b", "d/a\x00da\x00E", "d/a\x00\x00E"} {
		hide, err := sandbox.FindSecrets(t.Context(), func(context.Context, string, string) (string, error) { return said, nil }, "web1", nil)
		require.ErrorContains(t, err, "makes no sense", "%q", said)
		assert.Empty(t, hide)
	}
	for _, said := range []string{"", "motd", "/opt/bin/bwrap", "works:/opt/bin/bwrap", "fairlead:absent!"} {
		can, err := sandbox.Probe(t.Context(), func(context.Context, string, string) (string, error) { return said, nil }, sandbox.Bubblewrap{}, s)
		require.ErrorContains(t, err, "makes no sense", said)
		assert.Zero(t, can)
	}
	gone := errors.New("gone")
	_, err = sandbox.Probe(t.Context(), func(context.Context, string, string) (string, error) { return "", gone }, sandbox.Bubblewrap{}, s)
	require.ErrorIs(t, err, gone)
}

// The probe's script, as shells run it, with programs that pass for bwrap.
func TestTheProbeTriesBubblewrapAndChangesNothing(t *testing.T) {
	for _, sh := range shellsToTry {
		t.Run(sh.name, func(t *testing.T) {
			need(t, sh.argv[0])
			dir := scratch(t)
			before := snapshot(t, dir)
			for name, tt := range map[string]struct {
				before      string
				works, keys bool
				why         string
			}{
				"it is there":        {"bwrap() { :; }; env() { echo env: no >&2; return 125; }", true, false, ""},
				"and env can":        {`bwrap() { :; }; env() { shift; "$@"; }`, true, true, ""},
				"it is refused":      {`bwrap() { case $1 in (--version) ;; (*) echo 'bwrap: no' >&2; return 1;; esac; }`, false, false, `bubblewrap does not work there: "bwrap: no"`},
				"it does not start":  {"bwrap() { return 1; }", false, false, "bubblewrap does not work there"},
				"there is none here": {"command() { return 1; }", false, false, "bubblewrap is not installed on the host"},
			} {
				run := runner(sh.argv...)
				can, err := sandbox.Probe(t.Context(), func(ctx context.Context, host, script string) (string, error) {
					return run(ctx, host, tt.before+"\n"+script)
				}, sandbox.Bubblewrap{}, box(dir))
				require.NoError(t, err, name)
				assert.Equal(t, sandbox.Ability{Bubblewrap: tt.works, Keys: tt.keys, Why: tt.why}, can, name)
			}
			assert.Equal(t, before, snapshot(t, dir))
		})
	}
	can, err := sandbox.Probe(t.Context(), runner("sh", "-c"), sandbox.Bubblewrap{}, box("/nonexistent/fairlead"))
	require.NoError(t, err)
	assert.False(t, can.Bubblewrap)
}
