package upload

import (
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// merge applies the entries of a session to the files of a base, which is empty for a whole manifest. It removes
// deleted paths, replaces declared ones and keeps the rest. Files of the base come first, in their order, and then the
// added ones.
func merge(base tree.Tree, entries []Entry) (tree.Tree, error) {
	declared := make(map[string]Entry, len(entries))
	for _, e := range entries {
		declared[e.Path] = e
	}
	merged := make(tree.Tree, 0, len(base)+len(entries))
	for _, file := range base {
		e, ok := declared[file.Path]
		switch {
		case !ok:
			merged = append(merged, file)
		case !e.Deleted:
			merged = append(merged, e.file())
		}
		delete(declared, file.Path)
	}
	for _, e := range entries {
		_, added := declared[e.Path]
		switch {
		case added && e.Deleted:
			return nil, fault.New(fault.InvalidRequest, "%s: %q", deletedNotInBase, e.Path)
		case added:
			merged = append(merged, e.file())
		}
	}
	return merged, nil
}

// file returns the file that an entry declares. Its size is 0 until rebuild if the entry is a diff, and it has no
// digest until hash if none is declared.
func (e Entry) file() tree.File {
	file := tree.File{
		Path:     e.Path,
		Size:     e.Size,
		Object:   e.Object,
		Borrowed: e.Borrowed,
		Referrer: e.Referrer,
	}
	if e.SHA256 != nil {
		file.SHA256 = *e.SHA256
	}
	if e.Patch != nil {
		file.Size = 0
	}
	return file
}

// checkTree compares a whole tree with the caps of a tier. Its refusals have the order that Open promises.
func checkTree(files tree.Tree, p limits.Policy, entrypoint string) error {
	if len(files) == 0 {
		return fault.New(fault.FileCountCapExceeded, "a revision holds at least one file")
	}
	if err := checkFiles(files, p); err != nil {
		return err
	}
	if err := checkSize(files, p); err != nil {
		return err
	}
	if _, entered := files.Find(entrypoint); !entered {
		return fault.New(fault.EntrypointNotInRevision, "the entrypoint %q is not among the files", entrypoint)
	}
	return nil
}

// checkSize compares the total size of files with the cap.
func checkSize(files tree.Tree, p limits.Policy) error {
	if sum := files.Size(); sum > p.ArtifactSize {
		return fault.New(fault.RevisionSizeCapExceeded,
			"the files have %d bytes together; at most %d are allowed here", sum, p.ArtifactSize)
	}
	return nil
}

// checkFiles compares the number of files, and each file, with the caps.
func checkFiles(files tree.Tree, p limits.Policy) error {
	if len(files) > p.FileCount {
		return fault.New(fault.FileCountCapExceeded,
			"a revision holds at most %d files here, not %d", p.FileCount, len(files))
	}
	for _, f := range files {
		if f.Size > p.FileSize {
			return fault.New(fault.FileSizeCapExceeded,
				"file %q has %d bytes; at most %d are allowed here", f.Path, f.Size, p.FileSize)
		}
	}
	return nil
}
