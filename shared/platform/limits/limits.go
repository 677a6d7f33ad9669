// Package limits defines the numbers that operators set, that tiers differ in, and that several packages or their tests
// share: caps, rates and lifetimes. A number that one package alone uses stands in that package.
package limits

import "time"

// Sizes of requests and names.
const (
	MiB = 1 << 20

	JSONBody        = 1 * MiB   // largest JSON request body
	FormBody        = 64 << 10  // largest form, and any other short body
	SchemaFile      = 180 * MiB // largest file that a session of any tier may declare; a function streams 200 MB
	Text            = 4 * MiB   // largest text that a caller sends inline or edits in place
	PathBytes       = 1024      // UTF-8 bytes of a file path
	PathParts       = 64        // segments of a file path
	TitleRunes      = 160
	FilesPerTree    = 2000      // files of a session and of a revision
	ViewFiles       = 100       // files of the first page of a view
	PatchedFile     = 8 * MiB   // base, diff and result of a file that is uploaded as a diff, each
	PatchedTogether = 64 * MiB  // all of them in a session
	HashedTogether  = 256 * MiB // files of a session without a digest, which finalizing hashes
	DefaultPage     = 50
	MaxPage         = 100
	CursorLength    = 500
	InlineAnswer    = 5 * MiB   // largest encoded answer that carries a file's text
	MCPBody         = 5_500_000 // largest request of the MCP host; its gateway passes it on in one piece
	MCPText         = 4 * MiB   // characters of a text that a tool takes
)

// The largest numbers that the policy of a deployment may give to a tier.
const (
	MaxFileSize     = SchemaFile
	MaxArtifactSize = 1 << 30
	MaxPins         = 10_000
	MaxRevisions    = 1000
)

// ForeverDays is the life in days of what does not expire, where the wire has a number.
const ForeverDays = 24_000

// Forever is the life of what does not expire.
const Forever = ForeverDays * Day

// Never is when what does not expire ends. It is stored and sent where an instant is required.
var Never = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// End returns when something ends that begins now and has a life.
func End(now time.Time, life time.Duration) time.Time {
	if life >= Forever {
		return Never
	}
	return now.Add(life)
}

// Ends reports whether what is said to end at an instant ends at all.
func Ends(at time.Time) bool { return !at.Equal(Never) }

// ExpiringSoon is how long before its end an artifact counts as one that expires soon.
const ExpiringSoon = Day

// How much of a draft is read to warn about its pages.
const (
	LintedFiles     = 8         // files that are read, the entrypoint included
	LintedScripts   = 4         // scripts of the entrypoint that are read besides
	LintedFile      = 256 << 10 // largest of these files
	LintWarnings    = 20        // of a revision; they are stored with it, as far as they fit
	LargeEntrypoint = 5 * MiB   // above which a page takes long to open
)

// The largest answer of a function. FunctionBody computes the size of a body in it.
const (
	FunctionAnswer = 6*MiB + 100 // bytes of JSON that Lambda takes as a whole answer
	FunctionFrame  = 4 << 10     // the part of it that is reserved for the status and headers around a body
)

// Lifetimes.
const (
	Day = 24 * time.Hour

	SessionLife       = Day              // upload session
	PutURLLife        = 15 * time.Minute // presigned PUT
	DownloadURLLife   = 5 * time.Minute  // presigned GET of an archive of the CLI
	EphemeralArtifact = Day              // unclaimed artifact by default, counted from each publish
	EphemeralKey      = 7 * Day          // key of an ephemeral workspace
	ClaimTokenLife    = 7 * Day
	TokenLife         = 7 * Day  // longest content or agent-view token
	PinnedTokenLife   = 3 * Day  // tokens of a pinned artifact past its stored expiry
	ReplayLife        = 30 * Day // finished idempotency records
	FinalizeLease     = 90 * time.Second
	DraftLife         = Day              // a draft that is never published
	UnpinnedLife      = Day              // the least remaining life of an unpinned artifact
	UploadPatience    = 15 * time.Second // age below which the jobs leave an upload session alone
	CleanupSlack      = time.Hour        // how long after its session an upload that began in time may end
	// CollectAfter is how long bytes outlive their last use, because a session that may reuse them is open for as long.
	CollectAfter = SessionLife + CleanupSlack
	MinRetry     = time.Minute      // delay before failed work is tried again, doubled each time
	MaxRetry     = time.Hour        // the upper bound of that delay
	TouchEvery   = 10 * time.Minute // how stale a key's last use may be
	CursorLife   = Day
	CopyAge      = 26 * time.Hour // age of the newest copy of the data above which operators are told
)

// Lifetimes and counts of identity.
const (
	AgentTokens        = 10                      // live access tokens of one registration; the oldest is revoked first
	RegistrationLife   = ClaimTokenLife          // of an anonymous registration and its assertion
	ProviderAgentLife  = time.Hour               // registration and assertion of an agent that a provider vouched for
	AttemptLife        = 10 * time.Minute        // a claim attempt and its code
	AttemptTries       = 5                       // wrong codes that end an attempt
	RegistrationTries  = 15                      // wrong codes in all attempts together that lock a registration
	ClaimStarts        = 20                      // attempts of one registration
	ClaimRedemptions   = 3                       // times that a completed claim hands out its token
	ClaimRedeemLife    = 10 * time.Minute        // after completion
	PollInterval       = 5 * time.Second         // claim and device polls
	PollBurst          = 5                       // polls that may come at once
	AssertionLeeway    = time.Minute             // clock skew of other issuers
	ProviderTimeout    = 3 * time.Second         // any request to the identity provider
	IdentityAnswer     = 2800 * time.Millisecond // time limit of an identity route, even if a dependency hangs
	ProviderTokenLife  = 10 * time.Minute        // greatest age of an ID token that is exchanged
	ProviderAnswer     = 256 << 10               // largest answer of the provider, in bytes
	MinKeySetLife      = 10 * time.Minute        // the least time until the keys of such a provider are read again
	MaxKeySetLife      = Day                     // the longest, and how much longer old keys serve while reading fails
	KeySearchEvery     = time.Minute             // least time between readings of a provider's keys for an unknown one
	KeySetRetry        = 30 * time.Second        // wait after a failed reading while no keys are known
	SignInLife         = 10 * time.Minute        // from the start of a sign-in to its callback
	TakeoverLife       = 10 * time.Minute        // the question of which agents a person keeps
	SessionIdle        = Day                     // browser session
	MaxSessionLife     = 7 * Day
	SessionSeenEvery   = 5 * time.Minute // how stale a session's last use may be
	AccessTokenLife    = time.Hour       // of an OAuth client
	AccessTokens       = 2               // live access tokens of one grant; the oldest is revoked first
	RefreshIdle        = 30 * Day
	MaxRefreshLife     = 90 * Day
	RefreshGrace       = 10 * time.Second // how long a lost answer may be requested again
	CodeLife           = time.Minute      // authorization code
	ConsentLife        = 10 * time.Minute // an open consent page
	DeviceLife         = 15 * time.Minute
	NewClientLife      = 7 * Day // an OAuth client that has no grant yet
	UnusedClientLife   = 90 * Day
	DocumentBytes      = 10 << 10        // of a metadata document
	DocumentRetry      = time.Minute     // wait after one could not be read or described no client
	MinDocumentLife    = 5 * time.Minute // the least time until one is read again
	MaxDocumentLife    = Day             // the longest, and how long an old one serves while reading fails
	CLIKeyLife         = 90 * Day
	MaxKeyLifeDays     = 365 // longest life that a member may choose for a key
	LoginKeys          = 20  // API keys that one login of the CLI may make
	KeyNameRunes       = 120
	LiveKeys           = 1000     // live API keys of members in a workspace
	EndedKeyLife       = 90 * Day // how long a revoked or expired key is listed
	LinksListed        = 1000     // access links of an artifact in a list without pages
	WorkspaceNameRunes = 120
	ReasonRunes        = 120              // the reason of an operator lockdown
	ClientNameRunes    = 80               // the name of an OAuth client
	OperatorFresh      = 15 * time.Minute // how long after signing in an operator may act as one
	FreshSignIn        = 15 * time.Minute // how long after signing in a member may export or delete everything
	ClaimListed        = 100              // artifacts that the answer to a claim names
	ClaimTitles        = 10               // artifacts that the claim page lists by title
	EventLife          = 90 * Day
	ReportLife         = EventLife // a report of abuse
	ReportRunes        = 2000      // what its sender writes
	MovedLife          = 90 * Day  // the remains of a claimed workspace
	// RecoverableLife is the longest time in which the operator can reach what was deleted without a copy of their own.
	// It covers old versions of files and the point-in-time recovery of tables.
	RecoverableLife = 35 * Day
)

// ProvisionQuota is how many ephemeral workspaces a new deployment makes in a calendar minute; the
// setting in the table takes precedence.
const ProvisionQuota = 17

// MaxProvisionQuota is the largest such number.
const MaxProvisionQuota = 100

// The limits of streams. A body above StreamsAbove bytes holds a stream while it is sent. There are fewer streams for
// bodies above LargeStreamsAbove.
const (
	StreamsAbove      = 1 * MiB
	LargeStreamsAbove = 8 * MiB
)

// ReadWindow is the window in which the reads of an artifact are counted.
const ReadWindow = time.Minute

// AllowanceShards is how many counters each daily allowance is split into, so that parallel
// requests do not conflict.
const AllowanceShards = 4

// uploadsPerArtifact is how many times the size of all new artifacts of a day a workspace may upload on that day.
const uploadsPerArtifact = 4

// QueueShards is how many parts the queue of due work is split into, so that its writers do not conflict.
const QueueShards = 4

// JobWorkers is how many queue items the jobs process at once.
const JobWorkers = 16

// Tier is the class of a workspace that selects its policy.
type Tier string

// The tiers. An unclaimed workspace is Ephemeral on every plan.
const (
	Ephemeral Tier = "ephemeral"
	Free      Tier = "free"
	Pro       Tier = "pro"
)

// Policy is the limits of one tier. Sizes are bytes.
type Policy struct {
	FileSize           int64
	ArtifactSize       int64 // sum of a revision's files
	FileCount          int
	DefaultLife        time.Duration // of an artifact
	MinLife            time.Duration
	MaxLife            time.Duration
	LiveArtifacts      int  // also caps pins
	NewArtifactsPerDay int  // per UTC day
	Revisions          int  // published ones over an artifact's life
	Reads              int  // of one artifact by signed URL in a ReadWindow, over all hosts; ReadsOf has the limit
	NoIndex            bool // search engines are asked not to index
	Scripts            Scripts
}

// Scripts says whether the scripts of HTML run in the viewer frame.
type Scripts string

// The policies for scripts.
const (
	ScriptsOn  Scripts = "on"
	ScriptsAsk Scripts = "ask" // they run for a reader who wants it
	ScriptsOff Scripts = "off"
)

// Run reports whether scripts run for a reader who asked for them, or did not.
func (s Scripts) Run(asked bool) bool { return s == ScriptsOn || s == ScriptsAsk && asked }

// ReadsPerFile is how many reads in a ReadWindow an artifact may have for each of its files, because whoever opens a page
// of many pictures reads all of them.
const ReadsPerFile = 20

// ReadsOf returns the limit of reads of an artifact in a ReadWindow by the number of files of the revision that is read.
func (p Policy) ReadsOf(files int) int { return max(p.Reads, ReadsPerFile*files) }

// UploadBytes returns how many bytes a workspace may declare for upload in a UTC day.
func (p Policy) UploadBytes() int64 {
	return uploadsPerArtifact * int64(p.NewArtifactsPerDay) * p.ArtifactSize
}

// Pace is the slowest speed at which a reader may take an answer: Rate bytes a second on average. The reader may fall
// behind that by Patience.
type Pace struct {
	Patience time.Duration
	Rate     int64
}

// Limits are the numbers that a deployment or a test may set.
type Limits struct {
	Tiers map[Tier]Policy

	Actor     Rate // requests of one credential, per host
	Workspace Rate // requests of one workspace, per host
	Live      Rate // polls of the open pages of one artifact, over all hosts
	Refused   Rate // refused reads of one kind by one link or token of an artifact that others may read

	ProvisionAddress Rate // ephemeral workspaces from one client address
	ProvisionGlobal  Rate // ephemeral workspaces requested, over all callers
	Pow              Pow  // when a provision or a report of abuse has to prove work

	ClaimStart   Rate // attempts of one registration
	Exchange     Rate // tokens of one registration
	Assertion    Rate // assertions of providers from one address
	Assertions   Rate // verified assertions over all callers
	Vouched      Rate // verified assertions of one provider
	Event        Rate // verified security events of one provider
	EventFailure Rate // refused security events from one address
	Guest        Rate // requests at the token and claim endpoints from one address
	TokenFailure Rate // refused requests at these endpoints from one address
	Revocation   Rate // revocation requests from one address
	WrongCode    Rate // wrong codes of agents that one member types
	WrongDevice  Rate // wrong codes of devices that one member types
	SignIn       Rate // sign-ins begun from one address
	Authorize    Rate // authorization requests from one address
	Registration Rate // OAuth clients registered from one address
	Unserved     Rate // requests from one address for features that are not configured
	Clients      Rate // OAuth clients registered, over all callers
	Document     Rate // metadata documents of clients read for one address
	Documents    Rate // metadata documents read for all callers
	Device       Rate // device authorizations begun from one address
	Devices      Rate // device authorizations begun over all callers
	Report       Rate // reports of abuse sent from one address
	Reports      Rate // reports over all callers; beyond a fifth of it each needs a proof of work
	Download     Rate // archives of the CLI asked for from one address

	Feedback Rate // changes of the threads of one artifact
	Letter   Rate // messages of a guest: from one address by one link
	Letters  Rate // messages of all guests about one artifact; beyond a fifth of it each needs a proof of work
	// Correspondence is how often guests look at what was written: from one address by one link.
	Correspondence Rate
	Exports        Rate         // exports of one workspace; a request that joins a pending export does not count
	ExportVolume   ExportVolume // what one archive of an export holds

	// Bundles is the interval at which the function that makes bundles runs; 0: the deployment has no bundles.
	Bundles time.Duration

	// Cache is how many bytes of files and lists of files a host keeps in memory; 0: none.
	Cache int64

	Pace            Pace // of readers of the content host
	AddressStreams  int  // bodies above LargeStreamsAbove sent to one address at once
	ArtifactStreams int  // such bodies of one artifact sent at once

	MediumAddressStreams  int // bodies above StreamsAbove, but no larger than that
	MediumArtifactStreams int

	// Off lifts rate counters, stream caps, the provision quota and the daily allowances. It never lifts sizes, counts
	// or the pace of readers. It is for load tests.
	Off bool
}

// Pow is when a proof of work is required.
type Pow string

// The choices of Pow.
const (
	PowAdaptive Pow = "adaptive" // when much of the quota is used or one address asks often
	PowAlways   Pow = "always"
	PowOff      Pow = "off"
)

// The difficulty of the proof of work, in leading zero bits.
const (
	PowBits     = 18
	PowBitsBusy = 20 // above four fifths of the quota
	PowFree     = 3  // provisions or reports of abuse that one address may send in a window without work
)

// Default returns the published numbers.
func Default() Limits {
	free := Policy{
		FileSize:           10 * MiB,
		ArtifactSize:       25 * MiB,
		FileCount:          100,
		DefaultLife:        3 * Day,
		MinLife:            Day,
		MaxLife:            7 * Day,
		LiveArtifacts:      50,
		NewArtifactsPerDay: 100,
		Revisions:          100,
		Reads:              6000,
		Scripts:            ScriptsOn,
	}
	ephemeral := free
	ephemeral.DefaultLife, ephemeral.MaxLife = EphemeralArtifact, EphemeralArtifact
	ephemeral.NewArtifactsPerDay = 20
	ephemeral.Reads = 1200
	ephemeral.NoIndex = true
	ephemeral.Scripts = ScriptsAsk
	pro := free
	pro.FileSize = 25 * MiB
	pro.ArtifactSize = 100 * MiB
	pro.DefaultLife, pro.MaxLife = 30*Day, 90*Day
	pro.LiveArtifacts, pro.NewArtifactsPerDay = 1000, 2000
	l := Limits{
		Tiers: map[Tier]Policy{Ephemeral: ephemeral, Free: free, Pro: pro},
		Pow:   PowAdaptive,

		ExportVolume: ExportVolume{Bytes: 128 * MiB, Entries: 20_000, Artifacts: 200},

		Bundles: time.Minute,

		Cache: 64 * MiB,

		Pace: Pace{
			Patience: 30 * time.Second,
			Rate:     16 << 10,
		},
		AddressStreams:        8,
		ArtifactStreams:       64,
		MediumAddressStreams:  64,
		MediumArtifactStreams: 256,
	}
	l.setRates()
	return l
}
