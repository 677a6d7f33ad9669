package upload

import (
	"cmp"
	"slices"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/tree"
)

// declaration is a session request of valid shape.
type declaration struct {
	title   string
	files   []declared
	deleted []string
	partial bool // builds on a base
}

type declared struct {
	path   string
	size   int64
	digest *tree.Digest
	patch  *Patch
}

// declare validates the shape of a request.
func declare(r contract.CreateSession) (declaration, error) {
	d := declaration{files: make([]declared, len(r.Files))}
	var err error
	if d.title, err = text.Title.Clean(r.Title); err != nil {
		return d, err
	}
	d.partial = r.BaseRevisionID != ""
	if len(r.Files) > limits.FilesPerTree || len(r.Files) == 0 && !(d.partial && len(r.DeletedPaths) > 0) {
		return d, fault.New(fault.InvalidRequest, "declare 1 to %d files", limits.FilesPerTree)
	}
	if err := tree.CheckPath(r.Entrypoint); err != nil {
		return d, fault.New(fault.InvalidRequest, "entrypoint: %s", err)
	}
	seen, hashed := make(map[string]bool, len(r.Files)), int64(0)
	for i, f := range r.Files {
		var err error
		if d.files[i], err = declareFile(f); err != nil {
			return d, err
		}
		if d.files[i].patch != nil && !d.partial {
			return d, fault.New(fault.InvalidRequest, "file %q: a patch needs base_revision_id", f.Path)
		}
		if seen[f.Path] {
			return d, fault.New(fault.InvalidRequest, "path %q is declared twice", f.Path)
		}
		seen[f.Path] = true
		if d.files[i].digest == nil && d.files[i].patch == nil {
			hashed += f.SizeBytes
		}
	}
	if hashed > limits.HashedTogether {
		return d, fault.New(fault.InvalidRequest,
			"files without sha256 have %d bytes together; declare the sha256 of those that are above %d",
			hashed, limits.HashedTogether)
	}
	return d, d.declareDeleted(r.DeletedPaths, seen)
}

// declareDeleted validates the deleted paths. seen has the paths that the request declares.
func (d *declaration) declareDeleted(paths []string, seen map[string]bool) error {
	if len(paths) > 0 && !d.partial {
		return fault.New(fault.InvalidRequest, "deleted_paths needs base_revision_id")
	}
	if len(paths) > limits.FilesPerTree {
		return fault.New(fault.InvalidRequest, "deleted_paths names at most %d paths", limits.FilesPerTree)
	}
	for _, p := range paths {
		if err := tree.CheckStoredPath(p); err != nil {
			return fault.New(fault.InvalidRequest, "deleted_paths: %s", err)
		}
		if seen[p] {
			return fault.New(fault.InvalidRequest, "path %q is declared and deleted, or deleted twice", p)
		}
		seen[p] = true
	}
	d.deleted = paths
	return nil
}

func declareFile(f contract.DeclaredFile) (declared, error) {
	d := declared{path: f.Path, size: f.SizeBytes}
	if err := tree.CheckPath(f.Path); err != nil {
		return d, fault.New(fault.InvalidRequest, "files: %s", err)
	}
	if f.SizeBytes < 0 || f.SizeBytes > limits.SchemaFile {
		return d, fault.New(fault.InvalidRequest, "file %q must have 0 to %d bytes", f.Path, limits.SchemaFile)
	}
	if f.Patch != nil {
		return declarePatch(d, f)
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

// declarePatch validates a file that is uploaded as a diff. Its size is that of the diff.
func declarePatch(d declared, f contract.DeclaredFile) (declared, error) {
	base, ok1 := tree.ParseDigest(f.Patch.BaseSHA256)
	result, ok2 := tree.ParseDigest(f.Patch.ResultSHA256)
	switch {
	case f.SHA256 != "":
		return d, fault.New(fault.InvalidRequest, "file %q: sha256 and patch exclude each other", f.Path)
	case f.Patch.Format != "unified":
		return d, fault.New(fault.InvalidRequest, "file %q: the format of a patch is unified", f.Path)
	case !ok1 || !ok2:
		return d, fault.New(fault.InvalidRequest,
			"file %q: base_sha256 and result_sha256 must be 64 lower-case hexadecimal characters", f.Path)
	case f.SizeBytes == 0:
		return d, fault.New(fault.InvalidRequest,
			"file %q: a patch without bytes changes nothing; leave the file out", f.Path)
	}
	d.patch = &Patch{Base: base, Result: result}
	return d, nil
}

func (d declaration) size() (sum int64) {
	for _, f := range d.files {
		sum += f.size
	}
	return sum
}

// patches reports whether some file is uploaded as a diff.
func (d declaration) patches() bool {
	return slices.ContainsFunc(d.files, func(f declared) bool { return f.patch != nil })
}

// check compares a declaration with the caps of a tier. The size of a merged tree is known only at finalize. Until then
// neither the whole files nor the diffs of a partial manifest may exceed the cap of a revision.
func (d declaration) check(p limits.Policy, entrypoint string) error {
	var whole, diffs tree.Tree
	for _, f := range d.files {
		if f.patch == nil {
			whole = append(whole, tree.File{Path: f.path, Size: f.size})
		} else {
			diffs = append(diffs, tree.File{Path: f.path, Size: f.size})
		}
	}
	if !d.partial {
		return checkTree(whole, p, entrypoint)
	}
	if err := checkFiles(slices.Concat(whole, diffs), p); err != nil {
		return err
	}
	return cmp.Or(checkSize(whole, p), checkSize(diffs, p))
}
