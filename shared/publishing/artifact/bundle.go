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
	BundlePending BundleStatus = "pending" // a function is to make it
	BundleReady   BundleStatus = "ready"
	BundleFailed  BundleStatus = "failed" // it is too large, or could not be made; final
	// BundleDisabled is what clients are told of NoBundle. It is never stored.
	BundleDisabled BundleStatus = "disabled"
)

// Bundle is the archive of all files of a published revision.
type Bundle struct {
	Status BundleStatus
	Size   int64       // bytes of the archive; of one that is ready
	SHA256 tree.Digest // the same
	MadeAt time.Time   // when it became ready
	Leased time.Time   // until when a function has one that is pending, whether it still works on it or died; zero: none has
}

// Final reports whether the state cannot change while the revision is published.
func (b Bundle) Final() bool { return b.Status != BundlePending }

// leased returns when to ask again for a bundle that a function has: after as long as it has had it, but at the end of
// its lease, when another one goes on. So a client waits neither long for one that is made soon, nor asks each second
// for one whose function died.
func (b Bundle) leased(now time.Time) time.Duration {
	rest := b.Leased.Sub(now)
	return max(0, min(rest, limits.BundleLease-rest))
}

// BundleObject names the stored archive of a revision. Home is where the bytes of the artifact lie.
type BundleObject struct {
	Home     id.Workspace
	Artifact id.Artifact
	Revision id.Revision
}

// BundleObject names the archive of a revision of the artifact.
func (a *Artifact) BundleObject(r id.Revision) BundleObject {
	return BundleObject{Home: a.StorageWorkspace, Artifact: a.ID, Revision: r}
}

// Availability is what clients are told of the bundle of a published revision.
type Availability struct {
	Status     BundleStatus
	RetryAfter time.Duration // when to ask again for a pending one, in whole seconds
	URL        string        // of one that is ready, as are Size and MadeAt
	Size       int64
	MadeAt     time.Time
}

// bundleRetry is when a client asks again for a bundle that is late.
const bundleRetry = 5 * time.Second

// Availability tells of the bundle, with a URL that claims sign if it is ready. A pending one is made when its function
// runs next after the publication; should that fail, when it runs again. A deployment that turned bundles off makes no
// pending ones.
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
		wait := max(time.Second, (left + time.Second - 1).Truncate(time.Second))
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
