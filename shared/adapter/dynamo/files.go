package dynamo

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"io"
	"sync"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// files reads revisions and their lists of files for ports of several families.
type files struct{ *db }

// Revision implements readaccess.Store.
func (s files) Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error) {
	i, err := s.get(ctx, revisionKey(a, r))
	return readRevision(i, a, r), err
}

// Tree implements content.Store and upload.Sessions. A short list is in the item of the revision, so most reads end
// there. A long one costs a second read, once for each process that caches it.
func (s files) Tree(ctx context.Context, a id.Artifact, r id.Revision) (tree.Tree, error) {
	for _, k := range []key{revisionKey(a, r), treeKey(a, r)} {
		i, err := s.getIn(ctx, s.tables.Core, k, false)
		if err != nil {
			return nil, err
		}
		if packed := i.getBin(filesName); packed != nil {
			return unpackTree(packed)
		}
	}
	f, err := s.readContents(ctx, a, r, true)
	if err != nil {
		return nil, err
	}
	if packed := f.packedTree(a, r); packed != nil {
		return unpackTree(packed)
	}
	return nil, nil
}

// readContents reads a revision and its list of files, wherever it is: in the item of the revision, or in one of its
// own.
func (s *db) readContents(ctx context.Context, a id.Artifact, r id.Revision, strong bool) (found, error) {
	b := batch{strong: strong}
	b.want(revisionKey(a, r))
	b.want(treeKey(a, r))
	return s.read(ctx, b)
}

// packedTree returns the packed list of a revision's files; nil if there is none.
func (f found) packedTree(a id.Artifact, r id.Revision) []byte {
	if packed := f.at(revisionKey(a, r)).getBin(filesName); packed != nil {
		return packed
	}
	return f.at(treeKey(a, r)).getBin(filesName)
}

// createRevision writes a new revision with its files. A short list of files goes into the item of the revision. The
// findings in the pages go into that item first, as far as they fit.
func (t *transaction) createRevision(r artifact.Revision, files tree.Tree) {
	found, packed := r.Warnings, packTree(files)
	r.Warnings = lint.Report{}
	i := revisionItem(r).withReport(found)
	if r.Bundle.Status == artifact.BundlePending {
		i.str("g2p", queueOf(bundleDue, string(r.ID))).str("g2s", millisKey(r.PublishedAt))
	}
	together := i.withFiles(packed)
	t.create(i)
	if !together {
		t.create(newItem(treeKey(r.Artifact, r.ID)).bin(filesName, packed))
	}
}

// Contents implements view.Store and upload.Finalizations. It reads with eventual consistency first. A published
// revision in that answer is final. Anything else may be outdated, so it is read again strongly.
func (s files) Contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error) {
	for _, strong := range []bool{false, true} {
		f, err := s.readContents(ctx, a, r, strong)
		if err != nil {
			return nil, err
		}
		revision, packed := f.at(revisionKey(a, r)), f.packedTree(a, r)
		if revision == nil || packed == nil {
			continue
		}
		if !strong && revision.getStr("status") != string(artifact.Published) {
			continue
		}
		t, err := unpackTree(packed)
		return &artifact.Contents{Revision: *readRevision(revision, a, r), Tree: t}, err
	}
	return nil, nil
}

// The files of a revision, or the entries of a session, are stored in one attribute: JSON with short names, compressed
// with DEFLATE (RFC 1951). A tree of 100 files takes about 5 KB. Package upload refuses lists above 300 KB, so that the
// item stays below DynamoDB's limit.

type storedFile struct {
	Path    string     `json:"p"`
	Size    int64      `json:"n,omitempty"`
	SHA256  []byte     `json:"h,omitempty"` // absent: not declared
	Session id.Session `json:"s,omitempty"`
	Entry   int        `json:"i,omitempty"`
	Reused  bool       `json:"r,omitempty"`
	Base    []byte     `json:"b,omitempty"` // of a diff
	Result  []byte     `json:"t,omitempty"`
	Deleted bool       `json:"d,omitempty"`
	Lent    bool       `json:"l,omitempty"` // borrowed
	// Writer is the referrer. Older code does not know it: each of its revisions has references to all that it borrows.
	Writer id.Revision `json:"w,omitempty"`
}

// maxUnpacked bounds the size of an attribute after decompression. Package upload refuses lists above 3 MiB.
const maxUnpacked = 4 << 20

func packTree(files tree.Tree) []byte { return pack(storedTree(files)) }

func storedTree(files tree.Tree) []storedFile {
	out := make([]storedFile, len(files))
	for n, f := range files {
		out[n] = storedFile{
			Path:    f.Path,
			Size:    f.Size,
			SHA256:  f.SHA256[:],
			Session: f.Object.Session,
			Entry:   f.Object.Entry,
			Lent:    f.Borrowed,
			Writer:  f.Referrer,
		}
	}
	return out
}

func unpackTree(b []byte) (tree.Tree, error) {
	stored, err := unpack(b)
	if err != nil {
		return nil, err
	}
	files := make(tree.Tree, len(stored))
	for n, f := range stored {
		files[n] = tree.File{
			Path:     f.Path,
			Size:     f.Size,
			Object:   tree.Object{Session: f.Session, Entry: f.Entry},
			Borrowed: f.Lent,
			Referrer: f.Writer,
		}
		copy(files[n].SHA256[:], f.SHA256)
	}
	return files, nil
}

func packEntries(entries []upload.Entry) []byte { return pack(storedEntries(entries)) }

func storedEntries(entries []upload.Entry) []storedFile {
	out := make([]storedFile, len(entries))
	for n, e := range entries {
		out[n] = storedFile{
			Path:    e.Path,
			Size:    e.Size,
			Session: e.Object.Session,
			Entry:   e.Object.Entry,
			Reused:  e.Reused,
			Deleted: e.Deleted,
			Lent:    e.Borrowed,
			Writer:  e.Referrer,
		}
		if e.Patch != nil {
			out[n].Base, out[n].Result = e.Patch.Base[:], e.Patch.Result[:]
		}
		if e.SHA256 != nil {
			out[n].SHA256 = e.SHA256[:]
		}
	}
	return out
}

func unpackEntries(b []byte) ([]upload.Entry, error) {
	stored, err := unpack(b)
	if err != nil {
		return nil, err
	}
	entries := make([]upload.Entry, len(stored))
	for n, f := range stored {
		entries[n] = upload.Entry{
			Path:     f.Path,
			Size:     f.Size,
			Object:   tree.Object{Session: f.Session, Entry: f.Entry},
			Reused:   f.Reused,
			Deleted:  f.Deleted,
			Borrowed: f.Lent,
			Referrer: f.Writer,
		}
		if f.Base != nil && f.Result != nil {
			entries[n].Patch = &upload.Patch{Base: tree.Digest(f.Base), Result: tree.Digest(f.Result)}
		}
		if f.SHA256 != nil {
			digest := tree.Digest(f.SHA256)
			entries[n].SHA256 = &digest
		}
	}
	return entries, nil
}

var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(io.Discard, flate.DefaultCompression)
	return w
}}

// pack compresses a value as JSON.
func pack(v any) []byte {
	text, _ := json.Marshal(v)
	return compress(text)
}

// ListSize implements upload.Store.
func (s files) ListSize(t tree.Tree, entries []upload.Entry) (stored, whole int) {
	for _, list := range [][]storedFile{storedTree(t), storedEntries(entries)} {
		text, _ := json.Marshal(list)
		whole = max(whole, len(text))
		stored = max(stored, len(compress(text)))
	}
	return stored, whole
}

func compress(text []byte) []byte {
	var out bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&out)
	w.Write(text)
	w.Close()
	return out.Bytes()
}

func unpack(b []byte) (files []storedFile, err error) {
	if err := unpackInto(b, &files); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "a stored list of files is damaged")
	}
	return files, nil
}

// unpackInto decodes what pack encoded.
func unpackInto(b []byte, v any) error {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), maxUnpacked))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// Findings in the pages of a revision are stored in the same form.

type storedReport struct {
	Warnings []storedWarning `json:"w,omitempty"`
	More     int             `json:"m,omitempty"`
}

type storedWarning struct {
	Code     lint.Code     `json:"c"`
	Severity lint.Severity `json:"s"`
	Path     string        `json:"p"`
	Line     int           `json:"n,omitempty"`
	Subject  string        `json:"a,omitempty"`
	Instead  string        `json:"b,omitempty"`
}

// packReport returns nil for an empty report.
func packReport(r lint.Report) []byte {
	if len(r.Warnings) == 0 && r.More == 0 {
		return nil
	}
	out := storedReport{More: r.More}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, storedWarning(w))
	}
	return pack(out)
}

// unpackReport returns an empty report if the stored one is damaged, because a report is only advice.
func unpackReport(b []byte) (r lint.Report) {
	var stored storedReport
	if b == nil || unpackInto(b, &stored) != nil {
		return r
	}
	for _, w := range stored.Warnings {
		r.Warnings = append(r.Warnings, lint.Warning(w))
	}
	r.More = stored.More
	return r
}
