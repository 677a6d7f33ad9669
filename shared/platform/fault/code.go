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

// The closed list of codes; PatchConflict and Internal are documented extensions of it.
const (
	APIKeyNotFound          Code = "api_key_not_found"
	APIKeyRevoked           Code = "api_key_revoked"
	ArtifactNotFound        Code = "artifact_not_found"
	DatabaseUnavailable     Code = "database_unavailable"
	DraftRevisionConflict   Code = "draft_revision_conflict"
	EntrypointNotInRevision Code = "entrypoint_not_in_revision"
	FileCountCapExceeded    Code = "file_count_cap_exceeded"
	FileSizeCapExceeded     Code = "file_size_cap_exceeded"
	Forbidden               Code = "forbidden"
	IdempotencyInFlight     Code = "idempotency_in_flight"
	InvalidAuth             Code = "invalid_auth"
	InvalidContentLength    Code = "invalid_content_length"
	InvalidCursor           Code = "invalid_cursor"
	InvalidIdempotencyKey   Code = "invalid_idempotency_key"
	InvalidRequest          Code = "invalid_request"
	NotAuthenticated        Code = "not_authenticated"
	NotFound                Code = "not_found"
	PinnedArtifactCap       Code = "pinned_artifact_cap_exceeded"
	RateLimitedActor        Code = "rate_limited_actor"
	RateLimitedArtifact     Code = "rate_limited_artifact"
	RateLimitedWorkspace    Code = "rate_limited_workspace"
	ProvisionRateLimited    Code = "ephemeral_provision_rate_limited"
	ProvisionUnavailable    Code = "ephemeral_provision_unavailable"
	PowRequired             Code = "pow_required"
	PowInvalid              Code = "pow_invalid"
	RevisionRetained        Code = "revision_retained"
	RevisionSizeCapExceeded Code = "revision_size_cap_exceeded"
	RevisionUnpublished     Code = "revision_unpublished"
	StorageUnavailable      Code = "storage_unavailable"
	UnexpectedUploadObject  Code = "unexpected_upload_object"
	UploadIncomplete        Code = "upload_incomplete"
	UploadSessionExpired    Code = "upload_session_expired"
	UploadSessionNotFound   Code = "upload_session_not_found"
	UsagePolicyExceeded     Code = "usage_policy_exceeded"
	WriteAllowanceExceeded  Code = "write_allowance_exceeded"
	RevisionCeilingExceeded Code = "revision_ceiling_exceeded"
	PatchConflict           Code = "patch_conflict"
	Internal                Code = "internal_error"
)

var kinds = map[Code]Kind{
	APIKeyNotFound: KindNotFound, APIKeyRevoked: KindConflict, ArtifactNotFound: KindNotFound,
	DatabaseUnavailable: KindUnavailable, DraftRevisionConflict: KindConflict,
	EntrypointNotInRevision: KindUnprocessable, FileCountCapExceeded: KindInvalid,
	FileSizeCapExceeded: KindInvalid, Forbidden: KindForbidden, IdempotencyInFlight: KindConflict,
	InvalidAuth: KindInvalid, InvalidContentLength: KindInvalid, InvalidCursor: KindInvalid,
	InvalidIdempotencyKey: KindInvalid, InvalidRequest: KindInvalid, NotAuthenticated: KindUnauthenticated,
	NotFound: KindNotFound, PinnedArtifactCap: KindConflict, RateLimitedActor: KindLimited,
	RateLimitedArtifact: KindLimited, RateLimitedWorkspace: KindLimited, ProvisionRateLimited: KindLimited,
	ProvisionUnavailable: KindUnavailable, PowRequired: KindUnauthenticated, PowInvalid: KindInvalid,
	RevisionRetained: KindGone, RevisionSizeCapExceeded: KindInvalid, RevisionUnpublished: KindNotFound,
	StorageUnavailable: KindUnavailable, UnexpectedUploadObject: KindConflict, UploadIncomplete: KindConflict,
	UploadSessionExpired: KindConflict, UploadSessionNotFound: KindNotFound, UsagePolicyExceeded: KindLimited,
	WriteAllowanceExceeded: KindLimited, RevisionCeilingExceeded: KindLimited, PatchConflict: KindUnprocessable,
	Internal: KindInternal,
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
