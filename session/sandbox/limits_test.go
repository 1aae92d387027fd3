package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// What is as long as a limit is looked at, and what is longer asks.
func TestWhatIsLookedAtHasLimits(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	names := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " f%d", i)
		}
		return b.String()
	}
	// A name that makes a path of n bytes, in names that a file system takes.
	long := func(n int) string {
		n -= len(dir + "/box/")
		return strings.Repeat(strings.Repeat("n", 200)+"/", n/201) + strings.Repeat("n", n%201)
	}
	for name, tt := range map[string]struct {
		command func(n int) string
		most    int
		why     string
	}{
		"paths":          {func(n int) string { return "cat" + names(n) }, 256, "it names more, or longer, paths than are looked at"},
		"bytes":          {func(n int) string { return "cat " + long(n) }, 4095, "it names more, or longer, paths than are looked at"},
		"directories":    {func(n int) string { return strings.Repeat("cd sub; ", n-1) + "ls" }, 8, "it goes to more directories than are followed"},
		"other commands": {func(n int) string { return strings.Repeat("env ", n) + "ls" }, 8, "it is nested deeper than is looked at"},
	} {
		d := decide(t, g, request(dir+"/box", "bash", tt.command(tt.most)))
		assert.Equal(t, policy.Allow, d.Verdict, "%s: %s", name, d.Reason)
		d = decide(t, g, request(dir+"/box", "bash", tt.command(tt.most+1)))
		assert.Equal(t, policy.Ask, d.Verdict, "%s: %s", name, d.Reason)
		assert.Contains(t, d.Reason, tt.why, name)
	}
}

// What one part of a command is unknown to do, no other part makes up for.
func TestACommandReachesFurtherWhereAPartOfItIsUnknown(t *testing.T) {
	const part = "part of it cannot be determined before it runs"
	for want, all := range map[string][][]policy.Class{
		"":    {{policy.ReadOnly}, {policy.ReadOnly, policy.Write}, {policy.Write, policy.Dangerous}},
		part:  {{policy.Unknown, policy.Dangerous}, {policy.ReadOnly, policy.Unknown, policy.Dangerous}},
		"why": {{policy.Unknown}, {policy.Write, policy.Unknown}, {policy.Privileged}, {policy.Unknown, policy.Forbidden}, {"another"}},
	} {
		for _, classes := range all {
			rep := judge.Report{Class: classes[len(classes)-1], Classes: classes, Reason: "why"}
			assert.Equal(t, want, sandbox.ReachesFurther(rep), classes)
		}
	}
}

func TestASandboxIsAsLongAndAsOddAsItMayBe(t *testing.T) {
	assert.NoError(t, box("/"+strings.Repeat("a", 4094)).Validate())
	assert.ErrorContains(t, box("/"+strings.Repeat("a", 4095)).Validate(), "is longer than 4095 bytes")
	b := box("/srv/app")
	longest := "/srv/app/" + strings.Repeat("a", 4095-len("/srv/app/"))
	got, err := b.Resolve(longest)
	require.NoError(t, err)
	assert.Equal(t, longest, got)
	_, err = b.Resolve(longest + "a")
	assert.ErrorContains(t, err, "the directory is too long")
	for text, ok := range map[string]bool{" ": true, "~": true, "\u00a0": true, "é": true, "\x1f": false, "\x7f": false, "\u0080": false, "\u009f": false, "\xff": false} {
		for name, set := range map[string]func(*sandbox.Sandbox){
			"the id":        func(s *sandbox.Sandbox) { s.ID = "a" + text },
			"the principal": func(s *sandbox.Sandbox) { s.Principal = "a" + text },
			"the host":      func(s *sandbox.Sandbox) { s.Host = "a" + text },
			"the label":     func(s *sandbox.Sandbox) { s.Label = "a" + text },
			"the path":      func(s *sandbox.Sandbox) { s.Path = "/a" + text },
		} {
			s := box("/srv/app")
			set(&s)
			if err := s.Validate(); ok {
				assert.NoError(t, err, "%s %q", name, text)
			} else {
				require.ErrorContains(t, err, "holds control characters, or is not UTF-8", "%s %q", name, text)
				assert.ErrorContains(t, err, "sandbox: "+name, "%q", text)
			}
		}
	}
	err = box("/" + strings.Repeat("é", 300) + "\n").Validate()
	assert.Less(t, len(err.Error()), 500, "a message is bounded")
	assert.ErrorContains(t, err, "…")
}

func TestAsManyLinksAreFollowedAsTheKernelFollows(t *testing.T) {
	dir := scratch(t)
	link(t, "end", dir+"/l1")
	for i := 2; i <= 41; i++ {
		link(t, fmt.Sprintf("l%d", i-1), fmt.Sprintf("%s/l%d", dir, i))
	}
	resolversOf(t, func(t *testing.T, r sandbox.Resolver) {
		got, err := r.Resolve(t.Context(), "here", dir, []string{"l40", dir + "/l1/../l2"})
		require.NoError(t, err)
		assert.Equal(t, []string{dir + "/end", dir + "/end"}, got)
		_, err = r.Resolve(t.Context(), "here", dir, []string{"l41"})
		require.ErrorContains(t, err, "too many symbolic links")
		_, err = r.Resolve(t.Context(), "here", "srv", []string{"a"})
		require.ErrorContains(t, err, "not absolute")
		got, err = r.Resolve(t.Context(), "here", dir, nil)
		require.NoError(t, err)
		assert.Empty(t, got)
	}, "dash", "ash", "ksh")
}
