package wire

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/view"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func inlined(t *testing.T, text string) contract.FileContent {
	t.Helper()
	f := tree.File{Path: "a.txt", Size: int64(len(text)), SHA256: tree.DigestOf(text)}
	got, err := FileContent(view.FileText{File: f, Text: &text})
	expect.OK(t, err)
	return got
}

// TestTextIsReadBackAsLongAsAFunctionCanAnswerIt tries the longest text of each kind, whose answer must fit a
// function's, and one that is a character longer, which must be left out.
func TestTextIsReadBackAsLongAsAFunctionCanAnswerIt(t *testing.T) {
	const room = limits.FunctionAnswer - limits.FunctionFrame
	empty, err := contract.Encode(inlined(t, ""))
	expect.OK(t, err)
	around := len(empty) - len("0") + len("1000000") // size_bytes of what follows has seven digits
	inBase64 := base64.StdEncoding.DecodedLen(room / 4 * 4)
	for name, c := range map[string]struct {
		unit string
		most int // units
	}{
		"plain text":         {"x", limits.InlineAnswer - around},
		"quotes":             {`"`, (inBase64 - around) / len(`\"`)},
		"control characters": {"\x01", (limits.InlineAnswer - around + len("0")) / len(`\u0001`)}, // six digits
		"letters of two":     {"é", (limits.InlineAnswer - around) / len("é")},
		"markup":             {"<", limits.InlineAnswer - around},
		"some line feeds":    {strings.Repeat("x", 99) + "\n", (limits.InlineAnswer - around) / 101},
	} {
		got := inlined(t, strings.Repeat(c.unit, c.most))
		if got.Body == nil || got.IsBinary {
			t.Errorf("%s: %d times does not come", name, c.most)
		}
		if got = inlined(t, strings.Repeat(c.unit, c.most+1)); got.Body != nil || got.IsBinary {
			t.Errorf("%s: %d times comes", name, c.most+1)
		}
	}
}

func TestMembersLearnWhatIsLockedAndKeysDoNot(t *testing.T) {
	key := credential.Actor{Workspace: workspace.Workspace{ID: "w"}}
	member := key
	member.Member = "m"
	inLocked := member
	inLocked.Workspace.Lock, inLocked.Workspace.LockedAt = "lkd_2", now
	open := &artifact.Artifact{}
	locked := &artifact.Artifact{Lock: "lkd_1", LockedAt: now}
	unlinked := &artifact.Artifact{LinksLockedAt: now}
	none, set := contract.Locked{}, contract.Locked{Locked: true, LockedAt: contract.AtOrNull(now)}
	for name, c := range map[string]struct {
		by                         credential.Actor
		a                          *artifact.Artifact
		tells                      bool
		links, workspace, artifact contract.Locked
	}{
		"nothing is locked":         {member, open, false, none, none, none},
		"locked, a member":          {member, locked, true, none, none, set},
		"locked, a key":             {key, locked, false, none, none, none},
		"links locked, a member":    {member, unlinked, true, set, none, none},
		"links locked, a key":       {key, unlinked, false, none, none, none},
		"the workspace, to members": {inLocked, open, true, none, set, none},
	} {
		got := AgentView(view.View{Artifact: *c.a}, c.by, media.Sources{}).Lockdown
		if (got != nil) != c.tells {
			t.Errorf("%s: tells %+v", name, got)
		}
		if got == nil {
			continue
		}
		same(t, name, got.AccessLink, c.links)
		same(t, name, got.Platform.Workspace, c.workspace)
		same(t, name, got.Platform.Artifact, c.artifact)
	}
}

func same(t *testing.T, name string, got, want contract.Locked) {
	t.Helper()
	if got.Locked != want.Locked || (got.LockedAt == nil) != (want.LockedAt == nil) ||
		got.LockedAt != nil && *got.LockedAt != *want.LockedAt {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
}
