package doctor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/agent"
)

// skillHeader names the version of the server's skill in the answers of its api host.
const skillHeader = "Vitrine-Skill"

// skillVersion is where the skill has its version, which is the beginning of the SHA-256 of all but these lines.
var skillVersion = regexp.MustCompile(`(?m)^metadata:\n  version: "([0-9a-f]{12})"\n`)

// checkSkill looks at the copies of the skill that agents of this user read.
func (e *examination) checkSkill(context.Context) (all []Finding) {
	home, seen := cmp.Or(e.Env("HOME"), e.Env("USERPROFILE")), ""
	for _, part := range []string{agent.SkillFolder, agent.SkillLink} {
		folder := filepath.Join(home, filepath.FromSlash(part))
		if _, err := os.Lstat(folder); err != nil || !filepath.IsAbs(home) {
			continue
		}
		to, err := filepath.EvalSymlinks(folder) // one copy usually serves all agents
		if to != seen || err != nil {
			all = append(all, e.skillIn(folder))
		}
		seen = to
	}
	if len(all) == 0 {
		return []Finding{found("skill", OK, "no agent of this user has the skill").then("vitrine connect --skill")}
	}
	return all
}

// skillIn judges one copy.
func (e *examination) skillIn(folder string) Finding {
	const again, anew = "vitrine connect --skill", "Move it away, then: vitrine connect --skill"
	text, err := os.ReadFile(filepath.Join(folder, "SKILL.md"))
	at := skillVersion.FindSubmatchIndex(text)
	switch {
	case err != nil:
		return found("skill", Wrong, "%s has no SKILL.md that can be read", folder).then(again)
	case at == nil:
		return found("skill", Wrong, "the skill in %s is cut off before its version", folder).then(anew)
	}
	version := string(text[at[2]:at[3]])
	sum := sha256.Sum256(slices.Concat(text[:at[0]], text[at[1]:]))
	if !strings.HasPrefix(hex.EncodeToString(sum[:]), version) {
		return found("skill", Warning, "the skill in %s is cut off, or somebody has changed it", folder).then(anew)
	}
	f := found("skill", OK, "%s has version %s of the skill", folder, version)
	if e.first == nil {
		return f
	}
	if newest := e.first.Header.Get(skillHeader); newest != "" && newest != version {
		f.State = Warning
		f.Message += ", and the server has " + newest
		return f.then(again)
	}
	return f
}
