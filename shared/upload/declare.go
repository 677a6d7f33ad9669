package upload

import (
	"strings"
	"unicode/utf8"

	"vitrine/shared/contract"
	"vitrine/shared/fault"
	"vitrine/shared/limits"
	"vitrine/shared/tree"
)

// declaration is a session request that has the right shape.
type declaration struct {
	title string
	files []declared
}

type declared struct {
	path   string
	size   int64
	digest *tree.Digest
}

// partialManifest is the refusal that clients know: they publish the whole tree then.
const partialManifest = "base_revision_not_publishable"

// declare checks the shape of a request.
func declare(r contract.CreateSession) (declaration, error) {
	d := declaration{title: strings.TrimSpace(r.Title), files: make([]declared, len(r.Files))}
	if n := utf8.RuneCountInString(d.title); n < 1 || n > limits.TitleRunes {
		return d, fault.New(fault.InvalidRequest, "title must have 1 to %d characters", limits.TitleRunes)
	}
	if r.BaseRevisionID != "" || len(r.DeletedPaths) > 0 {
		return d, fault.New(fault.InvalidRequest, partialManifest)
	}
	if len(r.Files) == 0 || len(r.Files) > limits.FilesPerTree {
		return d, fault.New(fault.InvalidRequest, "declare 1 to %d files", limits.FilesPerTree)
	}
	if err := tree.CheckPath(r.Entrypoint); err != nil {
		return d, fault.New(fault.InvalidRequest, "entrypoint: %s", err)
	}
	seen := make(map[string]bool, len(r.Files))
	for i, f := range r.Files {
		var err error
		if d.files[i], err = declareFile(f); err != nil {
			return d, err
		}
		if seen[f.Path] {
			return d, fault.New(fault.InvalidRequest, "path %q is declared twice", f.Path)
		}
		seen[f.Path] = true
	}
	return d, nil
}

func declareFile(f contract.DeclaredFile) (declared, error) {
	d := declared{path: f.Path, size: f.SizeBytes}
	if f.Patch != nil {
		return d, fault.New(fault.InvalidRequest, partialManifest)
	}
	if err := tree.CheckPath(f.Path); err != nil {
		return d, fault.New(fault.InvalidRequest, "files: %s", err)
	}
	if f.SizeBytes < 0 || f.SizeBytes > limits.SchemaFile {
		return d, fault.New(fault.InvalidRequest, "file %q must have 0 to %d bytes", f.Path, limits.SchemaFile)
	}
	if f.SHA256 == "" {
		return d, nil
	}
	digest, ok := tree.ParseDigest(f.SHA256)
	if !ok {
		return d, fault.New(fault.InvalidRequest, "file %q: sha256 must be 64 lower-case hexadecimal characters", f.Path)
	}
	if f.SizeBytes == 0 && digest != tree.EmptyDigest {
		return d, fault.New(fault.InvalidRequest, "file %q has no bytes, but its sha256 is not that of an empty file", f.Path)
	}
	d.digest = &digest
	return d, nil
}

func (d declaration) size() (sum int64) {
	for _, f := range d.files {
		sum += f.size
	}
	return sum
}

// check holds the whole tree against the caps of a tier, in the order of the contract.
func (d declaration) check(p limits.Policy, entrypoint string) error {
	if len(d.files) > p.FileCount {
		return fault.New(fault.FileCountCapExceeded, "a revision holds at most %d files here, not %d", p.FileCount, len(d.files))
	}
	entered := false
	for _, f := range d.files {
		if f.size > p.FileSize {
			return fault.New(fault.FileSizeCapExceeded, "file %q has %d bytes; at most %d are allowed here", f.path, f.size, p.FileSize)
		}
		entered = entered || f.path == entrypoint
	}
	if sum := d.size(); sum > p.ArtifactSize {
		return fault.New(fault.RevisionSizeCapExceeded, "the files have %d bytes together; at most %d are allowed here", sum, p.ArtifactSize)
	}
	if !entered {
		return fault.New(fault.EntrypointNotInRevision, "the entrypoint %q is not among the files", entrypoint)
	}
	return nil
}
