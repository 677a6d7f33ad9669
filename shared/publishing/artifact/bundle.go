package artifact

import (
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/tree"
)

// BundleStatus is the state of a revision's bundle.
type BundleStatus string

// The states of a bundle. A revision that was published without bundles has none.
const (
	NoBundle      BundleStatus = ""
	BundlePending BundleStatus = "pending" // waits for its function
	BundleReady   BundleStatus = "ready"
	BundleFailed  BundleStatus = "failed" // too large, or could not be made; final
	// BundleDisabled is NoBundle as clients see it. It is never stored.
	BundleDisabled BundleStatus = "disabled"
)

// Bundle is the archive of all files of a published revision.
type Bundle struct {
	Status BundleStatus
	Size   int64       // of the archive in bytes, once it is ready
	SHA256 tree.Digest // likewise
	MadeAt time.Time   // when it became ready
	Leased time.Time   // until when a function has reserved a pending one, even if that function died; zero: none has
}

// Final reports whether the state cannot change while the revision is published.
func (b Bundle) Final() bool { return b.Status != BundlePending }

// leased returns when to ask again for a reserved bundle: after as long as it has been reserved, or at the end of the
// lease if that is sooner, because another function goes on then. A client thus neither waits long for a bundle that is
// made soon, nor asks each second for one whose function died.
func (b Bundle) leased(now time.Time) time.Duration {
	rest := b.Leased.Sub(now)
	return max(0, min(rest, limits.BundleLease-rest))
}

// BundleObject names the stored archive of a revision. Home is the StorageWorkspace of the artifact.
type BundleObject struct {
	Home     id.Workspace
	Artifact id.Artifact
	Revision id.Revision
}

// BundleObject returns the name of the archive of a revision of the artifact.
func (a *Artifact) BundleObject(r id.Revision) BundleObject {
	return BundleObject{Home: a.StorageWorkspace, Artifact: a.ID, Revision: r}
}

// Availability is the bundle of a published revision as clients see it.
type Availability struct {
	Status     BundleStatus
	RetryAfter time.Duration // when to ask again for a pending one, in whole seconds
	URL        string        // only of a ready one, as are Size and MadeAt
	Size       int64
	MadeAt     time.Time
}

// Availability returns the bundle as clients see it, with a URL for claims if it is ready. A pending bundle is expected
// l.Bundles after the publication, when its function runs next. A deployment that turned bundles off reports pending
// ones as disabled, because no function makes them.
// bundleRetry is when a client asks again for a bundle that is late.
const bundleRetry = 5 * time.Second

func (r Revision) Availability(
	urls *address.URLBuilder, l *limits.Limits, claims token.Claims, now time.Time,
) (Availability, error) {
	switch {
	case r.Bundle.Status == NoBundle, r.Bundle.Status == BundlePending && l.Bundles == 0:
		return Availability{Status: BundleDisabled}, nil
	case r.Bundle.Status == BundlePending:
		left := r.PublishedAt.Add(l.Bundles).Sub(now)
		if left <= 0 {
			left = max(min(l.Bundles, bundleRetry), r.Bundle.leased(now))
		}
		wait := max(time.Second, (left + time.Second - 1).Truncate(time.Second)) // rounded up, for Retry-After
		return Availability{Status: BundlePending, RetryAfter: wait}, nil
	case r.Bundle.Status == BundleFailed:
		return Availability{Status: BundleFailed}, nil
	}
	url, err := urls.Bundle(claims)
	return Availability{
		Status: BundleReady,
		URL:    url,
		Size:   r.Bundle.Size,
		MadeAt: r.Bundle.MadeAt,
	}, err
}
