package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"vitrine/cmd/vitrine/failure"
)

// SkillFolder is where several clients look for the skill, below a home or a project, and SkillLink where Claude Code does.
const (
	SkillFolder = ".agents/skills/vitrine"
	SkillLink   = ".claude/skills/vitrine"
)

// skillIn returns what is known of the skill of the user or of the project. It has no digests if none was written.
func (a *Agents) skillIn(project bool) (Skill, error) {
	known, _, err := a.load()
	s := Skill{File: filepath.Join(a.skillBase(project), filepath.FromSlash(SkillFolder), "SKILL.md")}
	if i := slices.IndexFunc(known.Skills, s.isFor); i >= 0 {
		s = known.Skills[i]
	}
	return s, err
}

func (a *Agents) skillBase(project bool) string {
	if project {
		return a.Dir
	}
	return a.Home
}

func (s Skill) isFor(other Skill) bool { return s.File == other.File }

// has reports whether a text is one that was written.
func (s Skill) has(text []byte) bool { return slices.Contains(s.Digests, digest(text)) }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (a *Agents) putSkill(s Skill) error {
	return a.change(func(r *records) { r.Skills = append(slices.DeleteFunc(r.Skills, s.isFor), s) })
}

// WriteSkill writes the skill, and leads Claude Code to it if that is here. It replaces what it has written before,
// unless that was changed. It returns the name of the file.
func (a *Agents) WriteSkill(text []byte, project bool) (name string, err error) {
	s, err := a.skillIn(project)
	if err != nil {
		return "", err
	}
	f, err := read(s.File, false)
	switch {
	case err != nil:
		return "", err
	case f.there && len(s.Digests) == 0 && digest(f.text) == digest(text): // from elsewhere
		return s.File, nil
	case f.there && digest(f.text) != digest(text) && !s.has(f.text):
		return "", failure.New(failure.Conflict, failure.ForeignEntry, "%s is another skill, or was changed; it stays",
			s.File).Advise("Move that folder away, then run the command again.")
	}
	link, err := read(filepath.Join(a.skillBase(project), filepath.FromSlash(SkillLink)), false)
	if claude, _ := Find(claudeCode); err == nil && len(link.missing) > 0 && claude.IsHere(a.Machine) {
		s.Link = link.name
		s.Made = append(s.Made, link.missing[:len(link.missing)-1]...)
	}
	s.Made = append(s.Made, f.missing...)
	if !s.has(text) {
		s.Digests = append(s.Digests, digest(text))
	}
	if err := a.putSkill(s); err != nil {
		return "", err
	}
	if err := f.replace(text, a.step); err != nil {
		return "", err
	}
	return s.File, a.linkSkill(s)
}

// linkSkill makes the link of the skill, unless it is there.
func (a *Agents) linkSkill(s Skill) error {
	if s.Link == "" {
		return nil
	}
	if _, err := os.Lstat(s.Link); err == nil {
		return nil
	}
	if err := a.step(); err != nil {
		return err
	}
	err := os.MkdirAll(filepath.Dir(s.Link), 0o755)
	if err == nil {
		err = a.step()
	}
	leads, relErr := filepath.Rel(filepath.Dir(s.Link), filepath.Dir(s.File))
	if err = errors.Join(err, relErr); err == nil {
		err = os.Symlink(leads, s.Link)
	}
	if err != nil && !errors.Is(err, errKilled) {
		return refused(s.Link, "Claude Code cannot be led to the skill: %v", failure.Cause(err))
	}
	return err
}

// RemoveSkill removes the skill that was written. One that was changed since stays, with its name as the result.
func (a *Agents) RemoveSkill(project bool) (stays string, err error) {
	s, err := a.skillIn(project)
	if err != nil || len(s.Digests) == 0 {
		return "", err
	}
	f, err := read(s.File, false)
	switch {
	case err != nil:
		return "", err
	case f.there && !s.has(f.text):
		stays = s.File
	default:
		err = a.deleteSkill(s, f)
	}
	if err != nil {
		return "", err
	}
	return stays, a.change(func(r *records) { r.Skills = slices.DeleteFunc(r.Skills, s.isFor) })
}

func (a *Agents) deleteSkill(s Skill, f file) error {
	if info, err := os.Lstat(s.Link); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := a.step(); err != nil {
			return err
		}
		if err := os.Remove(s.Link); err != nil {
			return refused(s.Link, "%v", failure.Cause(err))
		}
	}
	if err := a.step(); err != nil {
		return err
	}
	if f.there {
		if err := f.delete(); err != nil {
			return err
		}
	}
	if err := a.step(); err != nil {
		return err
	}
	removeFolders(s.Made)
	return nil
}
