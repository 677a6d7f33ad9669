package main

import (
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/folder"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// declare returns the manifest of all files.
func declare(files *folder.Folder, w publishFlags) contract.CreateSession {
	s := contract.CreateSession{
		ArtifactID: w.of.artifact,
		Title:      files.Title,
		Entrypoint: files.Entrypoint,
		Listing:    files.Listing,
		App:        w.isApp(),
		RenderMode: w.renderMode,
	}
	for _, f := range files.Files {
		s.Files = append(s.Files, contract.DeclaredFile{Path: f.Path, SizeBytes: f.Size, SHA256: f.SHA256})
	}
	return s
}

// isApp returns what the flags say about an app of one page; nil: nothing.
func (p *publishFlags) isApp() *bool {
	if !p.app && !p.noApp {
		return nil
	}
	return &p.app
}

// partOf returns the manifest that makes the same revision from a base: files with other digests, and removed files. It
// returns false if the revision must be sent as a whole: without a base, without a difference, or if it opens with
// something else, because the base's rendering mode or list of files would be kept.
func partOf(whole contract.CreateSession, base *contract.AgentView) (part contract.CreateSession, ok bool) {
	if base == nil || !opensAs(whole, base) {
		return whole, false
	}
	part, changed := changesOf(whole, base)
	return part, changed != changes{}
}

// opensAs reports whether a revision opens with what a base opens with.
func opensAs(whole contract.CreateSession, base *contract.AgentView) bool {
	return whole.Entrypoint == base.Entrypoint && whole.Listing == base.Listing
}

// changes counts the files in which a revision differs from its base.
type changes struct{ changed, added, deleted int }

// changesOf returns the manifest of a revision's differences from a base.
func changesOf(whole contract.CreateSession, base *contract.AgentView) (part contract.CreateSession, c changes) {
	file := make(map[string]contract.AgentViewFile, len(base.Files))
	for _, f := range base.Files {
		file[f.Path] = f
	}
	part = whole
	part.BaseRevisionID, part.BaseFiles = base.RevisionID, baseFiles(*base)
	part.Files = []contract.DeclaredFile{}
	for _, f := range whole.Files {
		old, same := file[f.Path]
		switch {
		case !same:
			c.added++
		case old.SHA256 != f.SHA256 || old.SizeBytes != f.SizeBytes:
			c.changed++
		default:
			delete(file, f.Path)
			continue
		}
		part.Files = append(part.Files, f)
		delete(file, f.Path)
	}
	for _, f := range base.Files {
		if _, gone := file[f.Path]; gone {
			c.deleted++
			part.DeletedPaths = append(part.DeletedPaths, f.Path)
		}
	}
	return part, c
}

// isSame reports whether a revision would equal the base.
func isSame(files *folder.Folder, w publishFlags, base *contract.AgentView) bool {
	whole := declare(files, w)
	_, changed := changesOf(whole, base)
	return changed == changes{} && opensAs(whole, base) && whole.Title == base.Title &&
		whole.RenderMode == "" && (whole.App == nil || *whole.App == base.App)
}

// baseWords are parts of the messages with which a server refuses a base.
var baseWords = []string{
	"base_revision_not_found", "base_revision_not_publishable", "base_revision_artifact_mismatch",
	"deleted_path_not_in_base", "inherited_path_not_blob_backed",
}

// unbuildable reports whether a publish failed only because of its base.
func unbuildable(err error) bool {
	if err == nil {
		return false
	}
	f := failure.Of(err)
	if f.Code != fault.InvalidRequest {
		return f.Code == fault.PatchConflict
	}
	for _, word := range baseWords {
		if strings.Contains(f.Message, word) {
			return true
		}
	}
	return false
}

// totals returns how many files a revision has and their bytes, also for a view of which only the first page was read.
func totals(v contract.AgentView) (files int, size int64) {
	if v.FilesTotal > 0 {
		return v.FilesTotal, v.SizeTotal
	}
	for _, f := range v.Files {
		size += f.SizeBytes
	}
	return len(v.Files), size
}

// baseFiles returns how many files of a base a partial revision was made from. A server needs the number if the base has
// more files than one call answers, because a client that knows no pages would keep files that were deleted here.
func baseFiles(base contract.AgentView) int {
	if n, _ := totals(base); n > limits.ViewFiles {
		return n
	}
	return 0
}
