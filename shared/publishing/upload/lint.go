package upload

import (
	"context"
	"slices"
	"strings"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

// lint returns what will not work in the pages of a draft. It never fails: a file that cannot be read, and all that is
// not read after limits.LintTime, is left out.
func (s *Service) lint(ctx context.Context, by credential.Actor, session *Session, files tree.Tree) lint.Report {
	ctx, cancel := context.WithTimeout(ctx, limits.LintTime)
	defer cancel()
	l := lint.New(lint.Revision{
		Entrypoint: session.Entrypoint,
		Paths:      paths(files),
		Scripts:    by.Policy.Scripts,
	})
	entry, _ := files.Find(session.Entrypoint)
	reports := []lint.Report{l.CheckSize(entry.Size)}
	pages := linted(files, session.Entrypoint)
	found := make(chan lint.Report, len(pages)) // holds all, because a read may outlast the wait
	for _, file := range pages {
		go func() { found <- s.lintFile(ctx, l, session, file) }()
	}
	for range pages {
		select {
		case r := <-found:
			reports = append(reports, r)
		case <-ctx.Done():
			return lint.Join(reports...)
		}
	}
	return lint.Join(reports...)
}

// lintFile checks one file. A file on which the check itself breaks has no findings.
func (s *Service) lintFile(ctx context.Context, l *lint.Linter, session *Session, f tree.File) (r lint.Report) {
	defer func() {
		if recover() != nil {
			r = lint.Report{}
		}
	}()
	body, err := s.read(ctx, session, f.Path, f.Object, f.Size)
	if err != nil || ctx.Err() != nil {
		return lint.Report{}
	}
	return l.Check(f.Path, body)
}

// linted returns the files that are read: the entrypoint and then others by their path, where they are pages or
// markdown and not too large.
func linted(files tree.Tree, entrypoint string) tree.Tree {
	out := slices.DeleteFunc(slices.Clone(files), func(f tree.File) bool {
		return !lint.Checks(f.Path) || f.Size == 0 || f.Size > limits.LintedFile
	})
	slices.SortFunc(out, func(a, b tree.File) int {
		if (a.Path == entrypoint) != (b.Path == entrypoint) {
			if a.Path == entrypoint {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	most := limits.LintedFiles
	if len(out) > 0 && out[0].Path != entrypoint {
		most-- // its place stays free
	}
	return out[:min(len(out), most)]
}

func paths(files tree.Tree) []string {
	out := make([]string, len(files))
	for n, f := range files {
		out[n] = f.Path
	}
	return out
}

// found is what an earlier attempt found in the draft of a session, as it was stored; nothing if it cannot be read.
func (s *Service) found(ctx context.Context, session *Session) lint.Report {
	c, err := s.Store.Contents(ctx, session.Artifact, session.Revision)
	if err != nil || c == nil {
		return lint.Report{}
	}
	return c.Revision.Warnings
}
