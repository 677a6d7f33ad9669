package contract

import "vitrine/shared/platform/id"

// Grant types of the token endpoint.
const (
	GrantJWTBearer    = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	GrantClaim        = "urn:vitrine:agent-auth:grant-type:claim"
	GrantClaimAlias   = "urn:workos:agent-auth:grant-type:claim" // of the public protocol
	GrantCode         = "authorization_code"
	GrantRefresh      = "refresh_token"
	GrantDevice       = "urn:ietf:params:oauth:grant-type:device_code"
	GrantExchange     = "urn:ietf:params:oauth:grant-type:token-exchange"
	TypeIDToken       = "urn:ietf:params:oauth:token-type:id_token"
	TypeAccessToken   = "urn:ietf:params:oauth:token-type:access_token"
	AssertionType     = "oauth-id-jag+jwt" // header typ of identity assertions
	EventType         = "secevent+jwt"     // header typ of security event tokens (RFC 8417)
	EventRevoked      = "urn:vitrine:agent-auth:event-type:assertion-revoked"
	AnonymousType     = "anonymous"
	AssertionIdentity = "identity_assertion"
	TypeIDJAG         = "urn:ietf:params:oauth:token-type:id-jag" // the only type of assertion of a provider
)

// Aliases of EventRevoked: its name in the public protocol, and the earlier name there.
const (
	EventRevokedAlias    = "https://schemas.workos.com/events/agent/auth/identity/assertion/revoked"
	EventRevokedOldAlias = "https://schemas.workos.com/events/agent/identity/assertion/revoked"
)

// OAuthError is the body of every refusal of /agent/* and /oauth2/* (RFC 6749, section 5.2).
type OAuthError struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// ResourceMetadata describes the api or the MCP host as a protected resource (RFC 9728).
type ResourceMetadata struct {
	Resource              string   `json:"resource" format:"uri"`
	ResourceName          string   `json:"resource_name"`
	AuthorizationServers  []string `json:"authorization_servers"`
	ScopesSupported       []string `json:"scopes_supported"`
	BearerMethods         []string `json:"bearer_methods_supported"`
	ResourceDocumentation string   `json:"resource_documentation,omitempty" format:"uri"`
	ResourcePolicy        string   `json:"resource_policy_uri,omitempty" format:"uri"`
	ResourceTerms         string   `json:"resource_tos_uri,omitempty" format:"uri"`
}

// ServerMetadata describes the authorization server (RFC 8414) and repeats the members of
// ResourceMetadata. ResourceMetadataURL and ProtectedResources are those of the MCP host.
type ServerMetadata struct {
	ResourceMetadata
	ResourceMetadataURL         string    `json:"resource_metadata,omitempty" format:"uri"`
	ProtectedResources          []string  `json:"protected_resources,omitempty"`
	Issuer                      string    `json:"issuer" format:"uri"`
	TokenEndpoint               string    `json:"token_endpoint" format:"uri"`
	RevocationEndpoint          string    `json:"revocation_endpoint" format:"uri"`
	AuthorizationEndpoint       string    `json:"authorization_endpoint,omitempty" format:"uri"`
	DeviceAuthorizationEndpoint string    `json:"device_authorization_endpoint,omitempty" format:"uri"`
	RegistrationEndpoint        string    `json:"registration_endpoint,omitempty" format:"uri"`
	JWKSURI                     string    `json:"jwks_uri" format:"uri"`
	GrantTypes                  []string  `json:"grant_types_supported"`
	ResponseTypes               []string  `json:"response_types_supported"`
	ResponseModes               []string  `json:"response_modes_supported"`
	CodeChallengeMethods        []string  `json:"code_challenge_methods_supported"`
	TokenAuthMethods            []string  `json:"token_endpoint_auth_methods_supported"`
	RevocationAuthMethods       []string  `json:"revocation_endpoint_auth_methods_supported"`
	IssParameter                bool      `json:"authorization_response_iss_parameter_supported"`
	ClientDocuments             bool      `json:"client_id_metadata_document_supported,omitempty"`
	Policy                      string    `json:"op_policy_uri,omitempty" format:"uri"`
	Terms                       string    `json:"op_tos_uri,omitempty" format:"uri"`
	AgentAuth                   AgentAuth `json:"agent_auth"`
}

// AgentAuth describes how agents register.
type AgentAuth struct {
	Skill         string          `json:"skill" format:"uri"`
	Identity      string          `json:"identity_endpoint" format:"uri"`
	Claim         string          `json:"claim_endpoint" format:"uri"`
	IdentityTypes []string        `json:"identity_types_supported"`
	Assertion     *AssertionTypes `json:"identity_assertion,omitempty"`
	Events        string          `json:"events_endpoint,omitempty" format:"uri"`
	EventTypes    []string        `json:"events_supported,omitempty"`
}

// AssertionTypes are the accepted types of providers' assertions.
type AssertionTypes struct {
	Types []string `json:"assertion_types_supported"`
}

// RegisterAgent asks for a registration. Assertion and AssertionType are set with type identity_assertion only.
type RegisterAgent struct {
	Type          string `json:"type"`
	AssertionType string `json:"assertion_type,omitempty"`
	Assertion     string `json:"assertion,omitempty"`
}

// RegisteredAgent answers a registration. IdentityAssertion and ClaimToken are shown only here. A registration by a
// provider omits the fields of the claim.
type RegisteredAgent struct {
	RegistrationID    id.Registration `json:"registration_id"`
	RegistrationType  string          `json:"registration_type" enum:"anonymous,identity_assertion"`
	IdentityAssertion string          `json:"identity_assertion"`
	AssertionExpires  Time            `json:"assertion_expires" format:"date-time"`
	Scopes            []string        `json:"scopes"`
	PreClaimScopes    []string        `json:"pre_claim_scopes,omitempty"`
	PostClaimScopes   []string        `json:"post_claim_scopes,omitempty"`
	ClaimURL          string          `json:"claim_url,omitempty" format:"uri" doc:"the endpoint that starts a claim; not for browsers"`
	ClaimToken        string          `json:"claim_token,omitempty"`
	ClaimTokenExpires *Time           `json:"claim_token_expires,omitempty" format:"date-time"`
}

// InteractionRequired answers an assertion whose person has to agree first. No URL in it contains the code.
type InteractionRequired struct {
	Error             string          `json:"error" enum:"interaction_required"`
	Description       string          `json:"error_description"`
	RegistrationID    id.Registration `json:"registration_id"`
	RegistrationType  string          `json:"registration_type" enum:"identity_assertion"`
	ClaimURL          string          `json:"claim_url" format:"uri" doc:"the endpoint that shows the address again; not for browsers"`
	ClaimToken        string          `json:"claim_token"`
	ClaimTokenExpires Time            `json:"claim_token_expires" format:"date-time"`
	PostClaimScopes   []string        `json:"post_claim_scopes"`
	Claim             ClaimPrompt     `json:"claim"`
}

// LoginRequired answers an assertion whose person signed in at the provider too long ago. MaxAge is seconds.
type LoginRequired struct {
	Error       string `json:"error" enum:"login_required"`
	Description string `json:"error_description"`
	MaxAge      int    `json:"max_age"`
}

// EventError answers a security event that is refused (RFC 8935, section 2.3).
type EventError struct {
	Err         string `json:"err"`
	Description string `json:"description"`
}

// StartClaim asks for a user code that a person types.
type StartClaim struct {
	ClaimToken string `json:"claim_token"`
}

// StartedClaim answers StartClaim. The code is in UserCode and in Claim, and AttemptToken is part of the verification
// URI. For a registration by a provider the fields AttemptToken to UserCode are empty and Claim has no code, because
// its agent has them already.
type StartedClaim struct {
	ClaimToken        string          `json:"claim_token"`
	ClaimTokenExpires Time            `json:"claim_token_expires" format:"date-time"`
	AttemptToken      string          `json:"claim_attempt_token,omitempty"`
	RegistrationID    id.Registration `json:"registration_id,omitempty"`
	RegistrationType  string          `json:"registration_type,omitempty" enum:"anonymous"`
	UserCode          string          `json:"user_code,omitempty" pattern:"^[0-9]{6}$"`
	Claim             ClaimPrompt     `json:"claim"`
}

// ClaimPrompt is what an agent shows to the person. ExpiresIn and Interval are seconds.
type ClaimPrompt struct {
	UserCode        string `json:"user_code,omitempty" pattern:"^[0-9]{6}$"`
	ExpiresIn       int    `json:"expires_in"`
	VerificationURI string `json:"verification_uri" format:"uri"`
	Interval        int    `json:"interval"`
}

// Token answers the token endpoint (RFC 6749, section 5.1). ExpiresIn is seconds.
type Token struct {
	AccessToken     string `json:"access_token"`
	TokenType       string `json:"token_type" enum:"Bearer"`
	ExpiresIn       int    `json:"expires_in"`
	Scope           string `json:"scope"`
	RefreshToken    string `json:"refresh_token,omitempty"`
	IssuedTokenType string `json:"issued_token_type,omitempty" doc:"of a token exchange"`
	// IdentityAssertion is the new assertion of a registration whose claim is complete.
	IdentityAssertion string `json:"identity_assertion,omitempty"`
	AssertionExpires  *Time  `json:"assertion_expires,omitempty" format:"date-time"`
}

// DeviceAuthorization answers the device authorization endpoint (RFC 8628, section 3.2). Times are seconds.
type DeviceAuthorization struct {
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code" doc:"8 letters of BCDFGHJKLMNPQRSTVWXZ in two groups; dashes and letter case do not count"`
	VerificationURI         string `json:"verification_uri" format:"uri"`
	VerificationURIComplete string `json:"verification_uri_complete" format:"uri"`
	ExpiresIn               int    `json:"expires_in"`
	Interval                int    `json:"interval"`
}

// RegisterClient asks for an OAuth client (RFC 7591, section 2).
type RegisterClient struct {
	RedirectURIs  []string `json:"redirect_uris"`
	ClientName    string   `json:"client_name,omitempty"`
	GrantTypes    []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
	AuthMethod    string   `json:"token_endpoint_auth_method,omitempty"`
	Scope         string   `json:"scope,omitempty"`
}

// RegisteredClient answers RegisterClient (RFC 7591, section 3.2.1). IssuedAt is Unix seconds.
type RegisteredClient struct {
	ClientID id.Client `json:"client_id"`
	IssuedAt int64     `json:"client_id_issued_at"`
	RegisterClient
}

// ClaimRequest asks to take over an ephemeral workspace (strict).
type ClaimRequest struct {
	_          struct{} `json:"-" additionalProperties:"false"`
	ClaimToken string   `json:"claim_token" minLength:"1"`
}

// Claimed answers ephemeral.claim (strict). ArtifactIDs names the first 100.
type Claimed struct {
	_                      struct{}      `json:"-" additionalProperties:"false"`
	DestinationWorkspaceID id.Workspace  `json:"destination_workspace_id" format:"uuid"`
	SourceWorkspaceID      id.Workspace  `json:"source_workspace_id" format:"uuid"`
	ArtifactIDs            []id.Artifact `json:"artifact_ids" maxItems:"100"`
	ClaimTokenID           id.ClaimToken `json:"claim_token_id"`
}

// CompleteClaim completes an agent's claim for the calling member. AttemptToken takes precedence over ClaimToken.
type CompleteClaim struct {
	ClaimToken   string `json:"claim_token,omitempty"`
	AttemptToken string `json:"claim_attempt_token,omitempty"`
	UserCode     string `json:"user_code" pattern:"^[0-9]{6}$"`
}

// CompletedClaim answers CompleteClaim.
type CompletedClaim struct {
	OK             bool            `json:"ok"`
	RegistrationID id.Registration `json:"registration_id"`
}
