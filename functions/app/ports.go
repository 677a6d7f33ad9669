package app

import (
	"context"
	"net/netip"
	"time"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/release"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/comparison"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/live"
	"vitrine/shared/publishing/sharing"
	"vitrine/shared/publishing/upload"
	"vitrine/shared/publishing/view"
)

// Sessions keeps people signed in.
type Sessions interface {
	// Authenticate finds the member behind a session's secret; not_authenticated for one that opens no session.
	Authenticate(ctx context.Context, secret, requestID string) (session.Authenticated, error)
	// End ends one session; a secret that opens no session has ended.
	End(ctx context.Context, secret, requestID string) error
	// EndAll ends every session, every app and every API key of a member that is older than its commit.
	EndAll(ctx context.Context, by credential.Actor) error
	// List returns the usable sessions of a member, newest first. Sessions that older code began are missing.
	List(ctx context.Context, a session.Authenticated) ([]session.Session, error)
	// EndNamed ends the member's session of a session.Hash.Name; one that is not there has ended.
	EndNamed(ctx context.Context, a session.Authenticated, name string) error
}

// SignIns signs people in at the identity provider. It asks those for whom agents have worked before which of these
// they keep.
type SignIns interface {
	// The way to the identity provider and back.

	// Begin returns where to send the browser, and the cookie that binds the sign-in to it.
	Begin(ctx context.Context, to signin.Destination, from netip.Addr) (signin.Begun, error)
	// Finish takes what the browser brings back. Faults: forbidden, with signin.ErrUnverified or for a closed workspace;
	// database_unavailable; invalid_request for all else, with signin.ErrDeclined if the provider said no.
	Finish(ctx context.Context, c signin.Callback, about session.Client, requestID string) (signin.Finished, error)
	// SignOutURL is where people sign out of the provider; empty: nowhere.
	SignOutURL() string

	// Some of those who sign in are asked which agents they keep that have worked under their address. invalid_request:
	// no question is open in this browser.

	PendingTakeover(ctx context.Context, secret string) (signin.Question, []delegation.Delegation, error)
	FinishTakeover(
		ctx context.Context, secret string, keep []id.Delegation, previous string, about session.Client, requestID string,
	) (signin.Finished, error)
}

// Agents are programs that act for a workspace.
type Agents interface {
	// Letting agents in. Every fault of an attempt or its code is the same invalid_request.

	Preview(ctx context.Context, by credential.Actor, attemptToken string) (agentauth.Request, error)
	Complete(ctx context.Context, by credential.Actor, c contract.CompleteClaim) (contract.CompletedClaim, error)
	Refuse(ctx context.Context, by credential.Actor, attemptToken string) error

	// Agents that were let in.

	// Connections is one page of the connected agents, newest first; invalid_cursor for a cursor that is a day old or of
	// another workspace.
	Connections(
		ctx context.Context, by credential.Actor, p cursor.Page,
	) (_ []agentauth.Registration, next string, _ error)
	// Connection is one of them; not_found if there is none.
	Connection(ctx context.Context, by credential.Actor, r id.Registration) (agentauth.Registration, error)
	// Unlink disconnects an agent; not_found if there is none.
	Unlink(ctx context.Context, by credential.Actor, r id.Registration) error

	// Providers that vouch for persons whose agents they may let in; not_found: there is none.

	// LinkedProviders is one page of them, newest first; invalid_cursor for a cursor that is a day old or of another
	// workspace.
	LinkedProviders(
		ctx context.Context, by credential.Actor, p cursor.Page,
	) (_ []delegation.Delegation, next string, _ error)
	LinkedProvider(ctx context.Context, by credential.Actor, d id.Delegation) (delegation.Delegation, error)
	UnlinkProvider(ctx context.Context, by credential.Actor, d id.Delegation) error
}

// Claims moves ephemeral workspaces into those of members. Every fault of a token is the same not_found.
type Claims interface {
	Preview(ctx context.Context, by credential.Actor, claimToken string) (claim.Preview, error)
	Claim(
		ctx context.Context, by credential.Actor, command idempotency.Command, record *idempotency.Record, claimToken string,
	) (contract.Claimed, error)
}

// Apps are OAuth clients, on this machine, on another one or on a device without a browser.
type Apps interface {
	// Asking members what an app may do.

	// Consent is what a request asks; a fault says that it is over.
	Consent(ctx context.Context, request string) (oauth.Consent, error)
	// Allow and Deny answer where the browser goes, which is the client's redirect with the answer.
	Allow(ctx context.Context, by credential.Actor, request string) (redirectTo string, err error)
	Deny(ctx context.Context, by credential.Actor, request string) (redirectTo string, err error)

	// Telling people of apps that asked in a wrong way.

	// Refused judges once more what the authorization endpoint refused. by is the zero value in a browser that is not
	// signed in. Faults: invalid_request and not_found for what is no such request, rate_limited_actor,
	// database_unavailable.
	Refused(ctx context.Context, by credential.Actor, a oauth.Authorization, from netip.Addr) (oauth.Refused, error)

	// Devices, by a code. Every fault of it is the same not_found; a member who guesses too often gets
	// rate_limited_actor.

	Device(ctx context.Context, by credential.Actor, userCode string) (oauth.Device, error)
	ApproveDevice(ctx context.Context, by credential.Actor, userCode string) error
	DenyDevice(ctx context.Context, by credential.Actor, userCode string) error

	// Apps that were let in.

	// Grants is one page of the connected apps, newest first; invalid_cursor for a cursor that is a day old or
	// of another workspace.
	Grants(ctx context.Context, by credential.Actor, p cursor.Page) (_ []oauth.Grant, next string, _ error)
	// Allowed is one of them; not_found if there is none.
	Allowed(ctx context.Context, by credential.Actor, public id.Public) (oauth.Grant, error)
	// EndGrant disconnects an app; not_found if there is none.
	EndGrant(ctx context.Context, by credential.Actor, public id.Public) error
}

// Artifacts publishes, lists, changes and ends artifacts.
type Artifacts interface {
	// What members published; not_found for artifacts of others.

	// ListAll lists artifacts, ended ones included, newest first; invalid_cursor for a cursor that is a day old or of
	// another workspace.
	ListAll(ctx context.Context, by credential.Actor, p artifact.Page) (_ []artifact.Artifact, next string, _ error)
	// Find reads an artifact in any status.
	Find(ctx context.Context, by credential.Actor, a id.Artifact) (*artifact.Artifact, error)
	// Preview is what a frame shows of an artifact that Find read, nil if there is no preview.
	Preview(ctx context.Context, by credential.Actor, a *artifact.Artifact) (*artifact.Preview, error)
	// Revision reads one revision, nil if there is none.
	Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error)
	// Revisions lists a page of the revisions of an artifact that Find read, newest first; invalid_cursor for a cursor that
	// is a day old or of another list.
	Revisions(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, p cursor.Page,
	) (_ []artifact.Revision, next string, _ error)

	// The artifacts of a workspace as a whole, ended ones included.

	// Newest reads the newest artifacts, up to a number that bounds the cost. more reports that there are older ones.
	Newest(ctx context.Context, by credential.Actor) (list []artifact.Artifact, more bool, err error)
	// Count counts artifacts, up to a number that bounds the cost.
	Count(ctx context.Context, by credential.Actor) (artifact.Counts, error)

	// Changes. All answer artifact_not_found for what has ended.

	// Pin keeps an artifact from expiring, also pinned_artifact_cap_exceeded; Unpin lets it expire again.
	Pin(ctx context.Context, by credential.Actor, t artifact.Target) (artifact.Detail, error)
	Unpin(ctx context.Context, by credential.Actor, t artifact.Target) (artifact.Detail, error)
	// Rename gives an artifact that Find read another title; invalid_request for a bad one.
	Rename(ctx context.Context, by credential.Actor, a *artifact.Artifact, title string) (string, error)
	// PublishNamed publishes a draft. Faults: revision_unpublished, revision_retained, entrypoint_not_in_revision,
	// draft_revision_conflict, revision_ceiling_exceeded, write_allowance_exceeded.
	PublishNamed(
		ctx context.Context, by credential.Actor, c idempotency.Command, a id.Artifact, r id.Revision,
	) (artifact.PublishedRevision, error)
	// Restore publishes an older revision again and answers the one that is the newest then. Faults:
	// revision_unpublished, revision_retained, draft_revision_conflict, revision_ceiling_exceeded.
	Restore(ctx context.Context, by credential.Actor, t artifact.Target, from id.Revision) (id.Revision, error)
	// Delete ends an artifact that Find read.
	Delete(ctx context.Context, by credential.Actor, t artifact.Target) (time.Time, error)
}

// Uploads receives the files of a revision.
type Uploads interface {
	// Unchanged returns the newest revision of an artifact that has just the declared files already, empty if it has not.
	Unchanged(ctx context.Context, by credential.Actor, r contract.CreateSession) (id.Revision, error)
	// Create opens a session and returns the upload targets of its files. size returns how many bytes an answer takes. Its
	// refusals are those of upload.Service.
	Create(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record,
		asked contract.CreateSession, permit func() error, size func(upload.Created) int,
	) (upload.Created, error)
	// Named reads a session, nil if there is none.
	Named(ctx context.Context, u id.Session) (*upload.Session, []upload.Entry, error)
	// Finalize makes a draft of the files of a session; not_found for one of another workspace.
	Finalize(ctx context.Context, by credential.Actor, a upload.Attempt) (upload.Draft, error)
}

// Views shows files, to members and to holders of links.
type Views interface {
	// Access links.

	// Resolve checks the secret of a link and returns what it shows. scripts says that the reader wants the scripts of the
	// artifact to run. Faults: InvalidRequest, NotFound for every link that does not open, RateLimitedArtifact with
	// RetryAfter, DatabaseUnavailable.
	Resolve(ctx context.Context, q contract.ResolveRequest, scripts bool) (view.View, error)

	// LinkURL checks the secret of a link without reading whether the link still opens; not_found for a wrong one.
	LinkURL(public id.Public, blob string) (string, error)

	// Files of artifacts that Artifacts.Find read; not_found for what cannot be seen, revision_retained for revisions
	// without their files, invalid_request for a cursor of other files.

	Latest(ctx context.Context, by credential.Actor, a *artifact.Artifact, p cursor.Page) (view.View, error)
	Pinned(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, r *artifact.Revision, p cursor.Page,
	) (view.View, error)
	// FileURLs returns how to build the signed URLs of files of a published revision. It reads no state.
	FileURLs(by credential.Actor, a *artifact.Artifact, r id.Revision) (func(path string) string, error)
}

// Feedback keeps threads about artifacts that Artifacts.Find read. Faults: artifact_not_found for what has ended or cannot be
// seen, not_found for threads, database_unavailable.
type Feedback interface {
	// List is one page of threads by their last change; invalid_cursor for a cursor that is a day old or of another list.
	List(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, sel feedback.Selection,
	) (_ feedback.Listing, next string, _ error)
	// Inbox is one page of the artifacts with open threads; invalid_cursor.
	Inbox(ctx context.Context, by credential.Actor, p cursor.Page) (_ []feedback.InboxRow, next string, _ error)
	// Thread is a thread with one page of its messages, by their age; invalid_cursor.
	Thread(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, t id.Thread, at string,
	) (_ feedback.Thread, _ []feedback.Message, next string, _ error)
	// Create and Answer write. Faults besides: invalid_request, not_found for a revision or file, feedback_conflict,
	// rate_limited_artifact with RetryAfter.
	Create(
		ctx context.Context, by credential.Actor, who feedback.Author, t feedback.Target, r feedback.Remark,
	) (feedback.Thread, error)
	Answer(
		ctx context.Context, by credential.Actor, who feedback.Author, t feedback.Target, a feedback.Answer,
	) (feedback.Thread, error)
	// DeleteMessage takes the words of a member's own message away; forbidden for those of others.
	DeleteMessage(
		ctx context.Context, by credential.Actor, who feedback.Author, t feedback.Target, m id.Message,
	) (feedback.Thread, error)
	// Set changes who may write, and what becomes of it; forbidden, with the reason, where the workspace cannot have it.
	Set(
		ctx context.Context, by credential.Actor, t feedback.Target, change feedback.SettingsChange,
	) (feedback.Settings, error)

	// What guests wrote and no member has let through, the oldest first.

	Held(ctx context.Context, by credential.Actor, a *artifact.Artifact) ([]feedback.Held, error)
	// LetThrough and Drop end the wait of what was written in a thread up to seen; not_found where nothing waits,
	// feedback_conflict where it cannot be let through.
	LetThrough(
		ctx context.Context, by credential.Actor, who feedback.Author, t feedback.Target, seen int64,
	) (feedback.Thread, error)
	Drop(
		ctx context.Context, by credential.Actor, t feedback.Target, seen int64,
	) (feedback.Thread, error)
}

// Guests lets people write who hold an access link that takes comments. Faults: not_found for every other link,
// invalid_request, invalid_idempotency_key, feedback_conflict, rate_limited_actor, rate_limited_artifact with RetryAfter, a
// *pow.Required, pow_invalid, database_unavailable.
type Guests interface {
	Write(ctx context.Context, l feedback.Letter) (feedback.Sent, error)
	// Read returns what a guest may see; token may be empty.
	Read(
		ctx context.Context, public id.Public, blob, token string, from netip.Addr,
	) (feedback.Correspondence, error)
}

// Comparisons tells what changed between two revisions of an artifact that Artifacts.Find read; not_found for what
// cannot be seen, revision_retained for revisions without their files, invalid_cursor.
type Comparisons interface {
	Review(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, q comparison.Query,
	) (comparison.Review, error)
}

// Live answers the polls of open pages. Faults: not_found closes the page for every reason, rate_limited_artifact with
// RetryAfter, database_unavailable.
type Live interface {
	// Share answers a page that an access link opened.
	Share(ctx context.Context, public id.Public, blob string, shown id.Revision) (live.Answer, error)
	// Member answers a page of a member.
	Member(ctx context.Context, by credential.Actor, a id.Artifact, shown id.Revision) (live.Answer, error)
}

// Links keeps access links. Faults: not_found for links, artifact_not_found for artifacts of others. It leaves it to
// this host which rights a member needs.
type Links interface {
	// Lists; invalid_cursor for a cursor that is a day old or of another workspace.

	// Of answers one page of the links of an artifact, which t has as Artifacts.Find read it.
	Of(ctx context.Context, by credential.Actor, t sharing.Target, p cursor.Page) (_ []link.Link, next string, _ error)
	// Overview answers one page of the links of the workspace with their artifacts.
	Overview(ctx context.Context, by credential.Actor, p cursor.Page) (_ []sharing.Shared, next string, _ error)
	// Find answers one link.
	Find(ctx context.Context, by credential.Actor, l id.Link) (sharing.Shared, error)

	// Making and ending links.

	// Create answers with the share link that there is, if one is asked for and works.
	Create(ctx context.Context, by credential.Actor, t sharing.Target, r sharing.Request) (link.Record, error)
	// Address returns the URL of a link; not_found for a link that does not open.
	Address(ctx context.Context, by credential.Actor, l id.Link) (sharing.Address, error)
	Revoke(ctx context.Context, by credential.Actor, l id.Link) (time.Time, error)

	// Who sees an artifact without an account.

	// SetVisibility makes an artifact unlisted, with a share link, or private, which ends all its links.
	SetVisibility(ctx context.Context, by credential.Actor, t sharing.Target, word string) (sharing.Visibility, error)
	// Lock keeps all links of an artifact from opening it, until Unlock.
	Lock(ctx context.Context, by credential.Actor, t sharing.Target) error
	Unlock(ctx context.Context, by credential.Actor, t sharing.Target) error
}

// Keys keeps API keys, for members with the right admin; forbidden for others.
type Keys interface {
	// Create answers forbidden too where the workspace has limits.LiveKeys.
	Create(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, name string,
		life time.Duration,
	) (credential.Created, error)
	// List answers one page of keys, newest first; invalid_cursor for a cursor that is a day old or of another workspace.
	List(
		ctx context.Context, by credential.Actor, which credential.Which, p cursor.Page,
	) (_ []credential.Key, next string, _ error)
	// Key answers one key; not_found if there is none.
	Key(ctx context.Context, by credential.Actor, k id.Key) (credential.Key, error)
	Revoke(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, k id.Key,
	) (credential.Key, error)
}

// Account tells members about their workspace. All but Workspace and Policy want the right admin; forbidden for others.
type Account interface {
	Workspace(by credential.Actor, m member.Member) contract.WebWorkspace
	// Policy tells the limits of the workspace, with what is left of the day unless that cannot be read.
	Policy(ctx context.Context, by credential.Actor) contract.UsagePolicy
	Settings(by credential.Actor) (contract.Settings, error)
	// UpdateSettings answers invalid_request for a bad name and for a number of days that the workspace cannot have.
	UpdateSettings(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, asked contract.UpdateSettings,
	) (contract.Settings, error)
	// Story answers what was done in the workspace, newest first; invalid_cursor for a cursor that is a day old or of
	// another workspace.
	Story(ctx context.Context, by credential.Actor, p account.Page) (_ []event.Event, next string, _ error)
}

// Billing sells the larger plan at a payment provider. All that asks the provider answers database_unavailable where it
// does not answer.
type Billing interface {
	Account(ctx context.Context, by credential.Actor) (billing.Account, error)
	// Invoices are the latest ones of the workspace.
	Invoices(ctx context.Context, by credential.Actor) ([]billing.Invoice, error)
	// Checkout opens the page where the workspace subscribes; invalid_request where it has a subscription, forbidden
	// without the right admin. Portal opens the one where it manages that; not_found where it never subscribed.
	Checkout(
		ctx context.Context, by credential.Actor, c idempotency.Command, i billing.Interval,
	) (contract.PageURL, error)
	Portal(ctx context.Context, by credential.Actor) (contract.PageURL, error)
	// Return brings the plan up to date after a checkout; one of another workspace has no effect.
	Return(ctx context.Context, by credential.Actor, asked billing.SessionID) (contract.BillingStatus, error)
}

// Reports takes reports of abuse.
type Reports interface {
	// File takes a report, and keeps it if what it names is there. Faults: *abuse.Invalid, *pow.Required, pow_invalid,
	// rate_limited_actor, database_unavailable.
	File(ctx context.Context, r abuse.Request) error
}

// Downloads hands out the files of releases of the CLI.
type Downloads interface {
	// Locate returns a URL that works for some minutes. Faults: not_found, rate_limited_actor, database_unavailable,
	// storage_unavailable.
	Locate(ctx context.Context, f release.File, from netip.Addr) (string, error)
}

// Limiter limits what members see and change.
type Limiter interface {
	// Actor counts a request; rate_limited_actor or rate_limited_workspace if it is one too many.
	Actor(ctx context.Context, w id.Workspace, subject string) error
}
