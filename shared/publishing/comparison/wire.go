package comparison

import (
	"strings"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// wire returns the wire form of the review.
func (r Review) wire(a id.Artifact) contract.Comparison {
	out := contract.Comparison{
		ArtifactID:     a,
		FromRevisionID: r.From.ID,
		ToRevisionID:   r.To.ID,
		Counts:         r.Counts(),
		Files:          make([]contract.ComparedFile, len(r.Files)),
		PageInfo:       contract.Page(r.Next),
	}
	for n, f := range r.Files {
		out.Files[n] = f.wire()
	}
	return out
}

// Counts counts the changes by kind.
func (r Review) Counts() (out contract.ComparisonCounts) {
	for _, c := range r.Changes {
		out.Add(c.Kind)
	}
	return out
}

func (f File) wire() contract.ComparedFile {
	out := contract.ComparedFile{
		Path:          f.Path(),
		Change:        f.Kind,
		From:          version(f.From),
		To:            version(f.To),
		Diff:          f.diff(),
		DiffContinues: f.Continues,
		DiffOmitted:   f.Omitted.String(),
	}
	if f.Kind == tree.Renamed {
		out.PreviousPath = f.From.Path
	}
	return out
}

// diff returns the hunks as a unified diff, empty if there are none.
func (f File) diff() string {
	if len(f.Hunks) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString(header(f.Change))
	for _, h := range f.Hunks {
		out.WriteString(h.String())
	}
	return out.String()
}

func version(f *tree.File) *contract.FileVersion {
	if f == nil {
		return nil
	}
	return &contract.FileVersion{SizeBytes: f.Size, SHA256: f.SHA256.String()}
}
