package feedback

// AnchorKind is what kind of thing a thread is about.
type AnchorKind string

// The kinds of anchors.
const (
	OnArtifact AnchorKind = "artifact"
	OnFile     AnchorKind = "file"
	OnLines    AnchorKind = "lines"
	OnText     AnchorKind = "text"
)

// Anchor is what a thread is about. The path of its file stands beside it.
type Anchor struct {
	Kind AnchorKind
	// From and To are the first and the last line, counted from 1.
	From, To int
	// Exact is a quote. Prefix and Suffix stand before and after it and tell it from the same words elsewhere.
	Exact, Prefix, Suffix string
	// Verified tells that the file has what the anchor names. It is false for a quote that a script may show.
	Verified bool
}

// Source is a file of a revision.
type Source struct {
	Path string
	Size int64
	Body []byte // not needed where Anchors.Reads is false
}

// Anchors holds anchors against files. Package anchor implements it, with parsers that not every host links.
type Anchors interface {
	// Reads reports whether Check needs the bytes of a file of this size.
	Reads(a Anchor, size int64) bool
	// Check returns an anchor as it is stored. It fails with invalid_request if the anchor is malformed, or if the file does
	// not have what it names.
	Check(a Anchor, s Source) (Anchor, error)
}
