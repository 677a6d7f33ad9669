package fault

// Kind is what a caller can do about a failure.
type Kind uint8

// The kinds. Unclassified failures are KindInternal.
const (
	KindInternal Kind = iota
	KindInvalid
	KindUnauthenticated
	KindForbidden
	KindNotFound
	KindConflict
	KindGone
	KindUnprocessable
	KindLimited
	KindUnavailable
)

// Code is an error code of the wire contract (error.code of the envelope).
type Code string

// The codes. The wire contract closes their list; FeedbackConflict, PatchConflict and Internal are documented
// extensions of it.
var (
	APIKeyNotFound          = newCode("api_key_not_found", KindNotFound)
	APIKeyRevoked           = newCode("api_key_revoked", KindConflict)
	ArtifactNotFound        = newCode("artifact_not_found", KindNotFound)
	DatabaseUnavailable     = newCode("database_unavailable", KindUnavailable)
	DraftRevisionConflict   = newCode("draft_revision_conflict", KindConflict)
	EntrypointNotInRevision = newCode("entrypoint_not_in_revision", KindUnprocessable)
	FileCountCapExceeded    = newCode("file_count_cap_exceeded", KindInvalid)
	FileSizeCapExceeded     = newCode("file_size_cap_exceeded", KindInvalid)
	Forbidden               = newCode("forbidden", KindForbidden)
	IdempotencyInFlight     = newCode("idempotency_in_flight", KindConflict)
	InvalidAuth             = newCode("invalid_auth", KindInvalid)
	InvalidContentLength    = newCode("invalid_content_length", KindInvalid)
	InvalidCursor           = newCode("invalid_cursor", KindInvalid)
	InvalidIdempotencyKey   = newCode("invalid_idempotency_key", KindInvalid)
	InvalidRequest          = newCode("invalid_request", KindInvalid)
	NotAuthenticated        = newCode("not_authenticated", KindUnauthenticated)
	NotFound                = newCode("not_found", KindNotFound)
	PinnedArtifactCap       = newCode("pinned_artifact_cap_exceeded", KindConflict)
	RateLimitedActor        = newCode("rate_limited_actor", KindLimited)
	RateLimitedArtifact     = newCode("rate_limited_artifact", KindLimited)
	RateLimitedWorkspace    = newCode("rate_limited_workspace", KindLimited)
	ProvisionRateLimited    = newCode("ephemeral_provision_rate_limited", KindLimited)
	ProvisionUnavailable    = newCode("ephemeral_provision_unavailable", KindUnavailable)
	PowRequired             = newCode("pow_required", KindUnauthenticated)
	PowInvalid              = newCode("pow_invalid", KindInvalid)
	RevisionRetained        = newCode("revision_retained", KindGone)
	RevisionSizeCapExceeded = newCode("revision_size_cap_exceeded", KindInvalid)
	RevisionUnpublished     = newCode("revision_unpublished", KindNotFound)
	StorageUnavailable      = newCode("storage_unavailable", KindUnavailable)
	UnexpectedUploadObject  = newCode("unexpected_upload_object", KindConflict)
	UploadIncomplete        = newCode("upload_incomplete", KindConflict)
	UploadSessionExpired    = newCode("upload_session_expired", KindConflict)
	UploadSessionNotFound   = newCode("upload_session_not_found", KindNotFound)
	UsagePolicyExceeded     = newCode("usage_policy_exceeded", KindLimited)
	WriteAllowanceExceeded  = newCode("write_allowance_exceeded", KindLimited)
	RevisionCeilingExceeded = newCode("revision_ceiling_exceeded", KindLimited)
	PatchConflict           = newCode("patch_conflict", KindUnprocessable)
	FeedbackConflict        = newCode("feedback_conflict", KindConflict)
	Internal                = newCode("internal_error", KindInternal)
)

// kinds holds the kind of every code. Only newCode fills it, so that no code lacks a kind.
var kinds = map[Code]Kind{}

func newCode(text Code, k Kind) Code {
	kinds[text] = k
	return text
}

// Kind returns what a caller can do about the code.
func (c Code) Kind() Kind { return kinds[c] }

// Codes lists every code of the contract in no order.
func Codes() []Code {
	all := make([]Code, 0, len(kinds))
	for c := range kinds {
		all = append(all, c)
	}
	return all
}
