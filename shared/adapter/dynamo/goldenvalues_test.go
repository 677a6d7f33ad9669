package dynamo

import (
	"crypto/sha256"
	"time"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// What the items in testdata hold.

const (
	goldenHome      = id.Workspace("34220b83-11b4-4627-9faf-0318b6bcea69")
	goldenSource    = id.Workspace("8a40e9fc-9272-48fb-977c-f7738bba9dfd")
	goldenArtifactA = id.Artifact("art_3RG16881XBNST9RRXSMJF1WS6S")
	goldenCurrent   = id.Revision("rev_3PGE414NJDJ0A3FRJJRE52K8XX")
	goldenDraft     = id.Revision("rev_3PRDR8HP3MSP7DRD2YZS3SQ0HK")
	goldenUploadA   = id.Session("upl_03FJNJPY4GCSFCW9GQ1WVF3VF4")
	goldenPublic    = id.Public("MTYXVS1262WCM0RC")
	goldenOther     = id.Public("0SFC09D794QS58WT")
	goldenMemberA   = id.Member("mem_45XE90PNNVV9JCHB15PZSQH3FQ")
	goldenClientA   = id.Client("oc_1H3HVRS9JZB5RS9ECNAF0XZW0T")
	goldenLock      = id.Lockdown("lkd_1KJJWHJFRP1FE2HR50E5W1HW1A")
	goldenIssuer    = "https://id.example"
	goldenSubject   = "subject-1"
)

// goldenAt is some minutes after the items were written.
func goldenAt(minutes int) time.Time {
	return time.Date(2026, 1, 2, 3, 4+minutes, 5, 678e6, time.UTC)
}

func goldenHash(text string) credential.Hash {
	mac := sha256.Sum256([]byte(text))
	return credential.Hash{Pepper: 7, MAC: mac[:]}
}

var goldenScopes = []credential.Scope{credential.Publish, credential.Read}

var goldenWorkspace = workspace.Workspace{
	ID:            goldenHome,
	Name:          "Ada's workspace",
	Plan:          workspace.ProPlan,
	CreatedAt:     goldenAt(0),
	ClaimedAt:     goldenAt(1),
	ClaimedInto:   goldenSource,
	MinExpiry:     goldenAt(2),
	Lock:          goldenLock,
	LockedAt:      goldenAt(3),
	Epoch:         4,
	LoginsEndedAt: goldenAt(5),
	AutoDays:      6,
}

var goldenArtifact = artifact.Artifact{
	ID:                 goldenArtifactA,
	Owner:              goldenHome,
	StorageWorkspace:   goldenSource,
	Status:             artifact.Live,
	ExpiresAt:          goldenAt(1),
	PinnedAt:           goldenAt(2),
	Lock:               goldenLock,
	LockedAt:           goldenAt(3),
	LinksLockedAt:      goldenAt(4),
	Current:            goldenCurrent,
	Number:             5,
	Draft:              goldenDraft,
	DraftAt:            goldenAt(6),
	ShareLink:          goldenPublic,
	ShareLinkUntil:     goldenAt(7),
	NewestLinkAt:       goldenAt(8),
	LinksRevokedBefore: goldenAt(9),
	Title:              "A title",
	Entrypoint:         "index.html",
	FileCount:          10,
	Size:               11,
	CreatedAt:          goldenAt(12),
	UpdatedAt:          goldenAt(13),
	PublishedAt:        goldenAt(14),
	DeletedAt:          goldenAt(15),
}

var goldenRevision = artifact.Revision{
	ID:               goldenCurrent,
	Artifact:         goldenArtifactA,
	Status:           artifact.Published,
	Number:           5,
	Source:           goldenDraft,
	Title:            "A title",
	Entrypoint:       "index.html",
	EntrypointExists: true,
	Mode:             media.HTML,
	FileCount:        2,
	Size:             3,
	CreatedAt:        goldenAt(1),
	PublishedAt:      goldenAt(2),
}

var goldenDigest = tree.Digest(sha256.Sum256([]byte("abc")))

var goldenTree = tree.Tree{
	{
		Path:   "index.html",
		Size:   3,
		SHA256: goldenDigest,
		Object: tree.Object{Session: goldenUploadA, Entry: 0},
	},
	{
		Path:     "lib/app.js",
		Size:     3,
		SHA256:   goldenDigest,
		Object:   tree.Object{Session: goldenUploadA, Entry: 1},
		Borrowed: true,
	},
}

var goldenUpload = upload.Session{
	ID:         goldenUploadA,
	Workspace:  goldenHome,
	Home:       goldenSource,
	Artifact:   goldenArtifactA,
	Revision:   goldenDraft,
	New:        true,
	Status:     upload.Pending,
	ExpiresAt:  goldenAt(60),
	Base:       goldenCurrent,
	Reuses:     goldenCurrent,
	Title:      "A title",
	Entrypoint: "index.html",
	Mode:       media.HTML,
	Diffs:      true,
	FileCount:  2,
	Size:       6,
	Life:       24 * time.Hour,
	CreatedAt:  goldenAt(0),
}

// What is in one item since short lists of files are in their neighbour's.
var togetherRevision, togetherUpload = func() (artifact.Revision, upload.Session) {
	r, u := goldenRevision, goldenUpload
	r.Artifact, r.ID = "art_6A9J2QK0Q3S8M5T1V7W4X9Y2Z6", "rev_1B2C3D4E5F6G7H8J9K0M1N2P3Q"
	u.ID, u.Diffs = "upl_5F6G7H8J9K0M1N2P3Q4R5S6T7V", false
	return r, u
}()

var goldenEntries = []upload.Entry{
	{
		Path:   "index.html",
		Size:   3,
		SHA256: &goldenDigest,
		Object: tree.Object{Session: goldenUploadA, Entry: 0},
		Patch:  &upload.Patch{Base: goldenDigest, Result: goldenDigest},
	},
	{
		Path:     "lib/app.js",
		Size:     3,
		SHA256:   &goldenDigest,
		Object:   tree.Object{Session: goldenUploadA, Entry: 1},
		Reused:   true,
		Borrowed: true,
	},
	{Path: "old.js", Deleted: true},
}

var goldenKey = credential.Key{
	ID:           "key_56QQEY88HGQ350637XS3B9Z6PK",
	Public:       goldenPublic,
	Workspace:    goldenHome,
	Hash:         goldenHash("key"),
	Name:         "A key",
	Scopes:       goldenScopes,
	Epoch:        1,
	FromAgent:    true,
	Registration: id.RegistrationOf(goldenPublic),
	Member:       goldenMemberA,
	CLIGrant:     credential.CLIGrant{Grant: goldenOther, At: goldenAt(1)},
	CreatedAt:    goldenAt(2),
	ExpiresAt:    goldenAt(3),
	RevokedAt:    goldenAt(4),
	LastUsedAt:   goldenAt(5),
}

var goldenClaimToken = claim.Token{
	ID:           "ct_76WH4QDADP79N5509RJ2WBM3J6",
	Public:       goldenPublic,
	Workspace:    goldenSource,
	Registration: id.RegistrationOf(goldenPublic),
	Hash:         goldenHash("claim"),
	ClaimCode:    "BCDF-GHJK",
	CreatedAt:    goldenAt(0),
	ExpiresAt:    goldenAt(60),
	RedeemedAt:   goldenAt(1),
}

var goldenLink = link.Link{
	ID:        "al_0FVBZX2XKNN3F8RDJXWK1MR534",
	Public:    goldenPublic,
	Workspace: goldenHome,
	Artifact:  goldenArtifactA,
	Revision:  goldenCurrent,
	Kind:      link.Revision,
	CreatedAt: goldenAt(0),
	ExpiresAt: goldenAt(60),
	RevokedAt: goldenAt(1),
}

var goldenMember = member.Member{
	ID:          goldenMemberA,
	Workspace:   goldenHome,
	Issuer:      goldenIssuer,
	Subject:     goldenSubject,
	Email:       "ada@example.org",
	Scopes:      goldenScopes,
	CreatedAt:   goldenAt(0),
	SeenAt:      goldenAt(1),
	SignedOutAt: goldenAt(2),
}

var goldenGrant = oauth.Grant{
	Public:     goldenPublic,
	Client:     goldenClientA,
	Name:       "A client",
	Member:     goldenMemberA,
	Workspace:  goldenHome,
	Audience:   "https://api.example.com",
	Scopes:     goldenScopes,
	Epoch:      1,
	Operator:   goldenAt(2),
	ChainKeyID: 3,
	CreatedAt:  goldenAt(4),
	ExpiresAt:  goldenAt(5),
	RevokedAt:  goldenAt(6),
	Access: []oauth.AccessToken{
		{Hash: goldenHash("first"), ExpiresAt: goldenAt(7)},
		{Hash: goldenHash("second"), ExpiresAt: goldenAt(8)},
	},
	Refresh:    goldenHash("refresh"),
	Previous:   goldenHash("previous"),
	Generation: 9,
	RotatedAt:  goldenAt(10),
	IdleAt:     goldenAt(11),
}

var goldenClient = oauth.Client{
	ID:        goldenClientA,
	Name:      "A client",
	Redirects: []string{"https://client.example/back", "http://127.0.0.1/back"},
	CreatedAt: goldenAt(0),
	UsedAt:    goldenAt(1),
}

var goldenDescribed = oauth.Client{
	ID:         "https://client.example/oauth/client.json",
	Name:       "A client",
	Redirects:  []string{"https://client.example/back", "http://127.0.0.1/back"},
	CreatedAt:  goldenAt(0),
	FreshUntil: goldenAt(5),
	Unusable:   "cannot be read",
}

var goldenRequest = oauth.Request{
	Secret:    "request-secret",
	Client:    oauth.Client{ID: goldenClientA, Name: "A client", FirstParty: true},
	Redirect:  "https://client.example/back",
	State:     "state",
	Challenge: "challenge",
	Scopes:    goldenScopes,
	Audience:  "https://api.example.com",
	Loopback:  true,
	CreatedAt: goldenAt(0),
	ExpiresAt: goldenAt(10),
}

var goldenCode = oauth.Code{
	Public:    goldenPublic,
	Hash:      goldenHash("code"),
	Client:    goldenClientA,
	Name:      "A client",
	Redirect:  "https://client.example/back",
	Challenge: "challenge",
	Scopes:    goldenScopes,
	Audience:  "https://api.example.com",
	Member:    goldenMemberA,
	Workspace: goldenHome,
	Epoch:     1,
	Operator:  goldenAt(2),
	CreatedAt: goldenAt(3),
	ExpiresAt: goldenAt(4),
}

var goldenFlow = oauth.Flow{
	Public:     goldenPublic,
	Hash:       goldenHash("device"),
	Client:     goldenClientA,
	Device:     "laptop",
	Network:    "192.0.2.0/24",
	Scopes:     goldenScopes,
	Answer:     oauth.Approved,
	CreatedAt:  goldenAt(0),
	ExpiresAt:  goldenAt(10),
	Member:     goldenMemberA,
	Workspace:  goldenHome,
	Epoch:      1,
	SettledAt:  goldenAt(2),
	PollTokens: 3,
	PolledAt:   goldenAt(1),
}

var goldenSession = session.Session{
	Hash:      session.Hash(sha256.Sum256([]byte("session"))),
	Member:    goldenMemberA,
	Workspace: goldenHome,
	Epoch:     1,
	Operator:  goldenAt(2),
	CreatedAt: goldenAt(3),
	SeenAt:    goldenAt(4),
	Browser:   "Firefox on Linux",
	Network:   "192.0.2.0/24",
}

var goldenRegistration = agentauth.Registration{
	ID:         id.RegistrationOf(goldenPublic),
	Kind:       agentauth.Anonymous,
	State:      agentauth.Verified,
	Generation: 1,
	Workspace:  goldenHome,
	Member:     goldenMemberA,
	Claim:      goldenPublic,
	CreatedAt:  goldenAt(2),
	ExpiresAt:  goldenAt(3),
	Network:    "192.0.2.0/24",
	Version:    4,
	Attempt: agentauth.Attempt{
		Number:    5,
		Token:     goldenHash("attempt"),
		Code:      goldenHash("user code"),
		Failures:  6,
		ExpiresAt: goldenAt(7),
	},
	Starts:      8,
	Started:     agentauth.Window{Since: goldenAt(9), Count: 10},
	Wrong:       11,
	Locked:      true,
	Refused:     true,
	CompletedAt: goldenAt(12),
	Redeemed:    13,
	RedeemedKey: goldenOther,
	PollTokens:  14,
	PolledAt:    goldenAt(15),
	Exchanged:   agentauth.Window{Since: goldenAt(16), Count: 17},
	Keys:        []id.Public{goldenPublic, goldenOther},
}

var goldenLockdown = lockdown.Lockdown{
	ID:     goldenLock,
	Scope:  lockdown.Artifact,
	Target: string(goldenArtifactA),
	Reason: "abuse",
	SetAt:  goldenAt(1),
	SetBy:  goldenMemberA,
}

// goldenLifted is the lockdown once it is lifted.
func goldenLifted() lockdown.Lockdown {
	l := goldenLockdown
	l.LiftedAt, l.LiftedBy = goldenAt(2), goldenMemberA
	return l
}

var goldenEvent = event.Event{
	ID:        "evt_1SEC27ZQWGDH6FNA9STQQMXRAM",
	Workspace: goldenHome,
	At:        goldenAt(1),
	Action:    event.ArtifactPublished,
	Actor:     event.Actor{Type: "member", ID: string(goldenMemberA)},
	Target:    event.Target{Type: "artifact", ID: string(goldenArtifactA)},
	Detail:    "A title",
	RequestID: "request-1",
}

// goldenCommand is the command of an operation.
func goldenCommand(o idempotency.Operation) idempotency.Command {
	return idempotency.Command{
		Key: idempotency.Key{
			Actor:     string(goldenMemberA),
			Operation: o,
			Target:    string(goldenArtifactA),
			Client:    "client-key-1",
		},
		Fingerprint: sha256.Sum256([]byte(o)),
	}
}

// goldenResults are the results of finished commands, as the records keep them.
var goldenResults = map[idempotency.Operation]string{
	idempotency.CreateSession:   `{"s":"upl_03FJNJPY4GCSFCW9GQ1WVF3VF4"}`,
	idempotency.FinalizeSession: `{"n":2,"b":6}`,
	idempotency.PublishRevision: `{"a":"art_3RG16881XBNST9RRXSMJF1WS6S",` +
		`"r":"rev_3PGE414NJDJ0A3FRJJRE52K8XX","t":"A title",` +
		`"e":"index.html","x":"2026-01-03T03:04:05.678Z","s":"MTYXVS1262WCM0RC","p":true}`,
	idempotency.RestoreRevision: `{"r":"rev_3PGE414NJDJ0A3FRJJRE52K8XX"}`,
	idempotency.DeleteArtifact:  `{"at":"2026-01-02T03:04:05.678Z"}`,
	idempotency.ClaimWorkspace: `{"destination_workspace_id":"34220b83-11b4-4627-9faf-0318b6bcea69",` +
		`"source_workspace_id":"8a40e9fc-9272-48fb-977c-f7738bba9dfd",` +
		`"artifact_ids":["art_3RG16881XBNST9RRXSMJF1WS6S"],` +
		`"claim_token_id":"ct_76WH4QDADP79N5509RJ2WBM3J6"}`,
	idempotency.UpdateSettings: `{"workspace_name":"Ada's workspace","auto_deletion_days":6,` +
		`"auto_deletion_bounds":{"min_days":1,"max_days":30},"usage_policy":{"artifacts_per_day":0,` +
		`"bytes_per_day":5}}`,
	idempotency.CreateKey: `{"key":{"id":"key_56QQEY88HGQ350637XS3B9Z6PK",` +
		`"workspace_id":"34220b83-11b4-4627-9faf-0318b6bcea69","name":"A key",` +
		`"public_id":"MTYXVS1262WCM0RC","scopes":["publish","read"],` +
		`"revoked_at":"2026-01-02T03:08:05.678Z","expires_at":"2026-01-02T03:07:05.678Z",` +
		`"created_at":"2026-01-02T03:06:05.678Z","last_used_at":"2026-01-02T03:09:05.678Z"},` +
		`"sealed":"c2VhbGVk"}`,
	idempotency.RevokeKey: `{"api_key":{"id":"key_56QQEY88HGQ350637XS3B9Z6PK",` +
		`"workspace_id":"34220b83-11b4-4627-9faf-0318b6bcea69","name":"A key",` +
		`"public_id":"MTYXVS1262WCM0RC","scopes":["publish","read"],` +
		`"revoked_at":"2026-01-02T03:08:05.678Z","expires_at":"2026-01-02T03:07:05.678Z",` +
		`"created_at":"2026-01-02T03:06:05.678Z","last_used_at":"2026-01-02T03:09:05.678Z"},` +
		`"revoked_at":"2026-01-02T03:08:05.678Z"}`,
	idempotency.CreateLink: `{"id":"al_0FVBZX2XKNN3F8RDJXWK1MR534","type":"revision",` +
		`"artifact_id":"art_3RG16881XBNST9RRXSMJF1WS6S",` +
		`"revision_id":"rev_3PGE414NJDJ0A3FRJJRE52K8XX","created_at":"2026-01-02T03:04:05.678Z"}`,
	idempotency.LockLinks:   `{}`,
	idempotency.UnlockLinks: `{}`,
	idempotency.PinArtifact: `{"id":"art_3RG16881XBNST9RRXSMJF1WS6S","title":"A title","status":"live",` +
		`"latest_revision_id":null,"pinned":true,"lockdown":false,"last_published_at":null,` +
		`"auto_delete_at":null,"entrypoint":"index.html","file_count":10,"size_bytes":11,` +
		`"viewer":null}`,
	idempotency.UnpinArtifact: `{"id":"art_3RG16881XBNST9RRXSMJF1WS6S","title":"A title","status":"live",` +
		`"latest_revision_id":null,"pinned":false,"lockdown":false,"last_published_at":null,` +
		`"auto_delete_at":null,"entrypoint":"index.html","file_count":10,"size_bytes":11,` +
		`"viewer":null}`,
	idempotency.SetLockdown: `{"scope":"artifact","target_id":"art_3RG16881XBNST9RRXSMJF1WS6S","reason_code":"abuse",` +
		`"set_at":"2026-01-02T03:05:05.678Z","set_by":"mem_45XE90PNNVV9JCHB15PZSQH3FQ",` +
		`"lifted_at":null,"lifted_by":null}`,
	idempotency.LiftLockdown: `{"scope":"artifact","target_id":"art_3RG16881XBNST9RRXSMJF1WS6S","reason_code":"abuse",` +
		`"set_at":"2026-01-02T03:05:05.678Z","set_by":"mem_45XE90PNNVV9JCHB15PZSQH3FQ",` +
		`"lifted_at":"2026-01-02T03:06:05.678Z","lifted_by":"mem_45XE90PNNVV9JCHB15PZSQH3FQ"}`,
}
