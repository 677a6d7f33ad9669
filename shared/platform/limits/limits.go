// Package limits is the one place of all numbers: caps, rates and lifetimes.
package limits

import "time"

// Sizes of requests and names.
const (
	MiB = 1 << 20

	JSONBody      = 1 * MiB  // largest JSON request body
	FormBody      = 64 << 10 // largest form, and whatever else is as short
	SchemaFile    = 25 * MiB // largest file that any session may declare
	PathBytes     = 1024     // UTF-8 bytes of a file path
	PathParts     = 64       // segments of a file path
	TitleRunes    = 160
	FilesPerTree  = 100 // files of a session and of a view
	PageDefault   = 50
	PageMax       = 100
	CursorLength  = 500
	ListedEntries = 100
	InlineAnswer  = 5 * MiB // largest encoded answer that carries a file's text
)

// What a function may answer. See FunctionBody for what a body becomes there.
const (
	FunctionAnswer = 6*MiB + 100 // bytes of JSON that Lambda takes as a whole answer
	FunctionFrame  = 4 << 10     // of those, what an answer with a file's text has beside its body: status and headers
)

// Lifetimes.
const (
	Day = 24 * time.Hour

	SessionLife       = Day              // upload session
	PutURLLife        = 15 * time.Minute // presigned PUT
	EphemeralArtifact = Day              // unclaimed artifact, counted from each publish
	EphemeralKey      = 7 * Day          // key of an ephemeral workspace
	ClaimTokenLife    = 7 * Day
	LinkURLLife       = Day      // one minted access-link URL
	TokenLife         = 7 * Day  // longest content or agent-view token
	PinnedTokenLife   = 3 * Day  // tokens of a pinned artifact past its stored expiry
	ReplayLife        = 30 * Day // finished idempotency records
	FinalizeLease     = 90 * time.Second
	DraftLife         = Day                        // a draft that nobody publishes
	UnpinnedLife      = Day                        // what an unpinned artifact lives at least
	CleanupSlack      = time.Hour                  // an upload that began in time may end so much later
	CollectAfter      = SessionLife + CleanupSlack // bytes outlive their last use: sessions that were told of them still have them
	RetryFirst        = time.Minute                // what fell due and failed is tried again after that, twice as long each time
	RetryMost         = time.Hour                  // and at most after that
	PurgeRound        = 10 * time.Second           // a round of purges begins nothing new then
	TouchEvery        = 10 * time.Minute           // how stale a key's last use may be
	CursorLife        = Day
	CounterLife       = time.Hour // counters outlive their window by this
	AllowanceLife     = 3 * Day   // daily counters outlive their day by this
)

// Lifetimes and counts of identity.
const (
	AgentTokenLife     = time.Hour               // access token of an agent registration
	AgentTokens        = 10                      // live access tokens of one registration; the oldest ends first
	RegistrationLife   = ClaimTokenLife          // of an anonymous registration and its assertion
	AttemptLife        = 10 * time.Minute        // a claim attempt and its code
	AttemptTries       = 5                       // wrong codes that end an attempt
	RegistrationTries  = 15                      // wrong codes over all attempts that lock a registration
	ClaimStarts        = 20                      // attempts of one registration
	ClaimRedemptions   = 3                       // times that a completed claim hands out its token
	ClaimRedeemLife    = 10 * time.Minute        // after completion
	PollInterval       = 5 * time.Second         // claim and device polls
	PollBurst          = 5                       // polls that may come at once
	AssertionLeeway    = time.Minute             // clocks of others
	ProviderTimeout    = 3 * time.Second         // anything that is asked of the identity provider
	IdentityAnswer     = 2800 * time.Millisecond // an identity route gives up and says so, whatever hangs behind it
	ProviderTokenLife  = 10 * time.Minute        // age of an ID token that is exchanged
	ProviderAnswer     = 256 << 10               // bytes of anything that the provider answers
	SignInLife         = 10 * time.Minute        // from the start of a sign-in to its callback
	SessionIdle        = Day                     // browser session
	SessionMost        = 7 * Day
	SessionSeenEvery   = 5 * time.Minute // how stale a session's last use may be
	AccessTokenLife    = time.Hour       // of an OAuth client
	AccessTokens       = 2               // live access tokens of one grant; the oldest ends first
	RefreshIdle        = 30 * Day
	RefreshMost        = 90 * Day
	RefreshGrace       = 10 * time.Second // a lost answer may be asked for again
	CodeLife           = time.Minute      // authorization code
	ConsentLife        = 10 * time.Minute // a consent page that is open
	DeviceLife         = 15 * time.Minute
	NewClientLife      = 7 * Day // an OAuth client that nobody has let in yet
	UnusedClientLife   = 90 * Day
	CLIKeyLife         = 90 * Day
	LoginKeys          = 20 // API keys that one login of the CLI makes
	KeyNameRunes       = 120
	LiveKeys           = 1000     // API keys of members that may live in a workspace at once
	EndedKeyLife       = 90 * Day // a key that was revoked, or has expired, is listed for so long
	LinksListed        = 1000     // access links of an artifact that a list without pages shows
	WorkspaceNameRunes = 120
	ReasonRunes        = 120              // why an operator locked something
	ClientNameRunes    = 80               // of an OAuth client
	DeviceNameRunes    = 64               // of a device, as it says
	BrowserRunes       = 200              // of a browser, as it says
	OperatorFresh      = 15 * time.Minute // how long after signing in an operator may act as one
	ClaimListed        = 100              // artifacts that the answer to a claim names
	ClaimTitles        = 10               // and that a person sees by title before it
	EventLife          = 90 * Day
	MovedLife          = 90 * Day // what is left of a workspace that was claimed
)

// ProvisionGate is how many ephemeral workspaces a new deployment makes in a calendar minute; the setting in the table rules.
const ProvisionGate = 17

// A body above StreamsAbove bytes holds a stream while it is sent. A stream that is not given back ends after
// StreamLife, which is also the time limit of content's function.
const (
	StreamsAbove = 1 * MiB
	StreamLife   = 240 * time.Second
	StreamWait   = 10 * time.Second // Retry-After of a reader who finds all streams in use
)

// AllowanceShards is into how many counters each daily allowance is split, so that parallel requests do not meet.
const AllowanceShards = 4

// uploadsPerArtifact is how often a workspace may upload, in a day, what its new artifacts of a day may hold at most.
const uploadsPerArtifact = 4

// DueParts is into how many parts the list of what falls due is split, so that its writers do not meet.
const DueParts = 4

// JobWorkers is how much of what is due the jobs work off at once.
const JobWorkers = 16

// Tier is what kind of workspace the numbers belong to.
type Tier string

// The tiers. An unclaimed workspace is Ephemeral whatever its plan.
const (
	Ephemeral Tier = "ephemeral"
	Free      Tier = "free"
	Pro       Tier = "pro"
)

// Policy is what one tier may do. Sizes are bytes.
type Policy struct {
	FileSize           int64
	ArtifactSize       int64 // sum of a revision's files
	BundleSize         int64
	FileCount          int
	DefaultLife        time.Duration // of an artifact
	MinLife            time.Duration
	MaxLife            time.Duration
	LiveArtifacts      int  // caps pins
	NewArtifactsPerDay int  // per UTC day; a multiple of AllowanceShards
	Revisions          int  // published ones over an artifact's life
	NoIndex            bool // search engines are told to stay away
	Scripts            bool // HTML may run scripts in the viewer frame
}

// UploadBytes is how many bytes a workspace may declare for upload in a UTC day.
func (p Policy) UploadBytes() int64 {
	return uploadsPerArtifact * int64(p.NewArtifactsPerDay) * p.ArtifactSize
}

// Rate is how often something may happen in a window.
type Rate struct {
	Limit  int
	Window time.Duration
}

// Pace is how fast a reader has to take an answer: First bytes within Patience, and from then on Rate bytes a second on
// average, where a reader who was faster is never more than Slack ahead.
type Pace struct {
	Patience time.Duration
	First    int64
	Rate     int64
	Slack    time.Duration
}

// Limits are the numbers that a deployment or a test may set.
type Limits struct {
	Tiers map[Tier]Policy

	Actor     Rate // requests of one credential, per host
	Workspace Rate // requests of one workspace, per host
	Artifact  Rate // reads of one artifact by signed URL, over all hosts
	Refused   Rate // reads of one kind by one link or token that an artifact refuses while others may read it

	ProvisionAddress Rate // ephemeral workspaces from one client address
	ProvisionGlobal  Rate // ephemeral workspaces asked for, whoever asks
	Pow              Pow  // when a provision has to prove work

	ClaimStart   Rate // attempts of one registration
	Exchange     Rate // tokens of one registration
	Guest        Rate // requests at the token and claim endpoints from one address
	TokenFailure Rate // refused requests there from one address
	Revocation   Rate // from one address
	WrongCode    Rate // codes that one member types wrong, agents' and devices' each
	SignIn       Rate // sign-ins begun from one address
	Registration Rate // OAuth clients registered from one address
	Unserved     Rate // requests from one address for what is not set up
	Clients      Rate // OAuth clients registered by anybody
	Device       Rate // device authorizations begun from one address

	Pace            Pace // of readers of the content host
	AddressStreams  int  // large bodies that are sent to one address at once
	ArtifactStreams int  // large bodies of one artifact that are sent at once

	// Off lifts rate counters, stream caps, the provision gate and the daily allowances, never sizes, counts or the pace of
	// readers; for load tests.
	Off bool
}

// Pow is when proof of work is asked.
type Pow string

// The choices of Pow.
const (
	PowAdaptive Pow = "adaptive" // when the gate is half used, or one address asks often
	PowAlways   Pow = "always"
	PowOff      Pow = "off"
)

// How hard proof of work is, in leading zero bits.
const (
	PowBits     = 18
	PowBitsBusy = 20 // above four fifths of the gate
	PowFree     = 3  // provisions of one address in a window without work
)

// What is not built yet, and nobody is promised.
const (
	BundlesEnabled     = false // zips of revisions
	LiveUpdatesEnabled = false // pages that follow the newest revision while they are open
)

// Default returns the published numbers.
func Default() Limits {
	free := Policy{
		FileSize:           10 * MiB,
		ArtifactSize:       25 * MiB,
		BundleSize:         25 * MiB,
		FileCount:          FilesPerTree,
		DefaultLife:        3 * Day,
		MinLife:            Day,
		MaxLife:            7 * Day,
		LiveArtifacts:      50,
		NewArtifactsPerDay: 100,
		Revisions:          100,
		Scripts:            true,
	}
	ephemeral := free
	ephemeral.DefaultLife, ephemeral.MaxLife = EphemeralArtifact, EphemeralArtifact
	ephemeral.NewArtifactsPerDay = 20
	ephemeral.NoIndex = true
	ephemeral.Scripts = false
	pro := free
	pro.FileSize = 25 * MiB
	pro.ArtifactSize = 100 * MiB
	pro.BundleSize = 100 * MiB
	pro.DefaultLife, pro.MaxLife = 30*Day, 90*Day
	pro.LiveArtifacts, pro.NewArtifactsPerDay = 1000, 2000
	return Limits{
		Tiers:            map[Tier]Policy{Ephemeral: ephemeral, Free: free, Pro: pro},
		Actor:            Rate{120, time.Minute},
		Workspace:        Rate{600, time.Minute},
		Artifact:         Rate{600, time.Minute},
		Refused:          Rate{60, time.Minute},
		ProvisionAddress: Rate{10, time.Minute},
		ProvisionGlobal:  Rate{300, time.Minute},
		Pow:              PowAdaptive,

		ClaimStart:   Rate{5, 10 * time.Minute},
		Exchange:     Rate{30, time.Hour},
		Guest:        Rate{600, time.Minute},
		TokenFailure: Rate{60, time.Minute},
		Revocation:   Rate{60, time.Minute},
		WrongCode:    Rate{10, 10 * time.Minute},
		SignIn:       Rate{60, time.Minute},
		Registration: Rate{10, time.Hour},
		Unserved:     Rate{30, time.Minute},
		Clients:      Rate{600, time.Hour},
		Device:       Rate{30, time.Minute},

		Pace: Pace{
			Patience: 5 * time.Second,
			First:    64 << 10,
			Rate:     128 << 10,
			Slack:    10 * time.Second,
		},
		AddressStreams:  8,
		ArtifactStreams: 64,
	}
}
