package upload

import (
	"context"
	"slices"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// The largest list of files that is stored in one item, and the largest answer with upload targets.
const (
	maxStoredList = 300 << 10
	maxWholeList  = 3 * limits.MiB
	maxAnswer     = 5_500_000
)

// checkBaseFiles refuses a partial manifest whose client did not see all files of the base, because a file that it did
// not see would stay although it may be deleted there. Clients publish the whole tree instead. A base of few files needs
// no number, because every view has all of them.
func checkBaseFiles(compared int, base tree.Tree) error {
	n := len(base)
	if n == 0 || compared == n || compared == 0 && n <= limits.ViewFiles {
		return nil
	}
	return fault.New(fault.InvalidRequest,
		"%s: the base has %d files, and base_files says that %d were compared; read all pages of its files, "+
			"or publish the whole tree", baseUnpublished, n, compared)
}

// checkLists refuses files whose list would be too long for an item of the store. It counts a digest that is not known
// yet as one like no other. What merge refuses is refused when the session is finalized.
func (s *Service) checkLists(session *Session, known tree.Tree, entries []Entry) error {
	if session.Base == "" {
		known = nil
	}
	if len(known)+len(entries) <= limits.ViewFiles { // always fit
		return nil
	}
	files, err := merge(known, entries)
	if err != nil {
		return nil
	}
	at := files.Index()
	for _, e := range entries {
		n, ok := at[e.Path]
		switch {
		case !ok || e.SHA256 != nil:
		case e.Patch != nil:
			files[n].Size, files[n].SHA256 = limits.PatchedFile, e.Patch.Result
		default:
			files[n].SHA256 = tree.DigestOf(e.Path)
		}
	}
	if stored, whole := s.Store.ListSize(files, entries); stored > maxStoredList || whole > maxWholeList {
		return fault.New(fault.FileCountCapExceeded,
			"the paths of the %d files are too long together: their list would take %d bytes, and %d are allowed; "+
				"shorten the paths or publish fewer files", len(files), stored, maxStoredList)
	}
	return nil
}

// answer signs the upload targets of a session. It refuses an answer that is larger than a function can give.
func (s *Service) answer(
	ctx context.Context, session *Session, entries []Entry, size func(Created) int,
) (Created, error) {
	files, err := s.sign(ctx, session, entries)
	made := Created{*session, files}
	if err != nil || size == nil || len(files) <= limits.ViewFiles {
		return made, err
	}
	if bytes := size(made); bytes > maxAnswer {
		return Created{}, fault.New(fault.FileCountCapExceeded,
			"the answer would have %d bytes, because each file that is uploaded has a signed URL, and no function answers "+
				"more than %d; publish %d files first and the others in a further revision",
			bytes, maxAnswer, len(files)*maxAnswer/bytes)
	}
	return made, nil
}

// markStored returns the entries of a session that is answered again. Files that are stored need no upload.
func (s *Service) markStored(ctx context.Context, o Opened) ([]Entry, error) {
	found, err := s.uploaded(ctx, o.Session, o.Entries)
	if err != nil {
		return nil, err
	}
	entries := slices.Clone(o.Entries)
	for n, e := range entries {
		entries[n].Reused = e.Reused || found.has(n, e)
	}
	return entries, nil
}
