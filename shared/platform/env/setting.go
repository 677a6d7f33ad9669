// Package env names the hosts and their environment variables for the code that deploys them and the code that reads
// them.
package env

// The settings of a host. A setting is required unless its comment says otherwise.
const (
	Environment = "VITRINE_ENVIRONMENT" // production or preview
	APIURL      = "VITRINE_API_URL"     // origins, without trailing slash
	UploadURL   = "VITRINE_UPLOAD_URL"
	ContentURL  = "VITRINE_CONTENT_URL"
	AppURL      = "VITRINE_APP_URL"
	MCPURL      = "VITRINE_MCP_URL" // required by the MCP host only; old templates give other hosts none or the api's

	// ContentOrigins is "wildcard" where each artifact has an origin of its own, which is {label}.{ContentDomain}, or
	// "shared" (default). Optional.
	ContentOrigins = "VITRINE_CONTENT_ORIGINS"
	// ContentDomain is the domain of the origins of artifacts, without a port. Optional, default the host name of
	// ContentURL.
	ContentDomain = "VITRINE_CONTENT_DOMAIN"

	CoreTable   = "VITRINE_TABLE_CORE"
	EventsTable = "VITRINE_TABLE_EVENTS"
	HotTable    = "VITRINE_TABLE_HOT"
	Bucket      = "VITRINE_BUCKET"

	// The key rings. A host has the variables of the rings that it needs. A value is the ARN of a secret in Secrets
	// Manager, or "file:" and the path of the set that scripts/dev makes.
	ContentRing = "VITRINE_RING_CONTENT"
	LinksRing   = "VITRINE_RING_LINKS"
	PepperRing  = "VITRINE_RING_PEPPER"
	SealRing    = "VITRINE_RING_SEAL"
	// AssertionRing signs the assertions of agent registrations. Optional: without it agents cannot register.
	AssertionRing = "VITRINE_RING_ASSERTION"
	// AgentRegistration lets a host announce that agents can register although it holds neither the ring nor the list of
	// providers. It is "on", or "providers" where providers are announced too. Optional.
	AgentRegistration = "VITRINE_AGENT_REGISTRATION"
	// RingsVersion changes when a ring changes, so that a deployment restarts every function. No code reads it. Optional.
	RingsVersion = "VITRINE_RINGS_VERSION"

	// OIDCIssuer is the OpenID Connect issuer that signs people in. Optional: without it sign-in is unavailable.
	OIDCIssuer = "VITRINE_OIDC_ISSUER"
	// OIDCClientID is the client id of this service at the issuer. Required with OIDCIssuer.
	OIDCClientID = "VITRINE_OIDC_CLIENT_ID"
	// OIDCClientSecret locates the client's secret: the ARN of a secret in Secrets Manager, or
	// "file:" and a path. Empty for a public client.
	OIDCClientSecret = "VITRINE_OIDC_CLIENT_SECRET"
	// OIDCScopes are the scopes to request, separated by spaces. Optional, default "openid email
	// profile".
	OIDCScopes = "VITRINE_OIDC_SCOPES"
	// OIDCLogout is how the provider signs people out: cognito, rp_initiated or none (default).
	// Optional.
	OIDCLogout = "VITRINE_OIDC_LOGOUT"
	// OIDCEmailVerified is how the addresses of people are verified: "claim", by the claim email_verified (default), or
	// "issuer", by an issuer that omits the claim and has people of one organization only. Optional.
	OIDCEmailVerified = "VITRINE_OIDC_EMAIL_VERIFIED"
	// OIDCOperatorClaim is the ID token claim that marks operators of the deployment. OIDCOperatorValue is the value that
	// the claim must contain. Optional, default "cognito:groups" and "operators".
	OIDCOperatorClaim = "VITRINE_OIDC_OPERATOR_CLAIM"
	OIDCOperatorValue = "VITRINE_OIDC_OPERATOR_VALUE"

	// Providers locates the list of trusted identity providers of agents: the ARN of a secret in Secrets Manager, or
	// "file:" and a path. Optional: without a list, or with a wrong one, no provider is trusted.
	Providers = "VITRINE_PROVIDERS"

	// StripeKey and StripeWebhookSecret locate the API key of the account at Stripe and the secret that signs its
	// webhooks: the ARN of a secret in Secrets Manager, or "file:" and a path. StripePriceMonth and StripePriceYear are
	// the ids of the prices of the larger plan. Optional: billing is off unless all four are set.
	StripeKey           = "VITRINE_STRIPE_KEY"
	StripeWebhookSecret = "VITRINE_STRIPE_WEBHOOK_SECRET"
	StripePriceMonth    = "VITRINE_STRIPE_PRICE_MONTH"
	StripePriceYear     = "VITRINE_STRIPE_PRICE_YEAR"
	// StripeURL is the URL of a stand-in for Stripe. For tests on one machine; refused in production. Optional.
	StripeURL = "VITRINE_STRIPE_URL"

	// FetchOrigins are origins, separated by spaces, from which documents of OAuth clients and keys of agents' identity
	// providers are read although they use http, a port other than 443 or an address that is not public. For tests on
	// one machine; refused in production. Optional.
	FetchOrigins = "VITRINE_FETCH_ORIGINS"

	// ClientDocuments is "off" where documents of OAuth clients cannot be fetched. The metadata of the authorization
	// server then omits them, so that programs register instead. Optional, default on.
	ClientDocuments = "VITRINE_CLIENT_DOCUMENTS"

	// PolicyFile is the path of the deployment's policy, with its logo inside. A function has it beside its binary.
	// Optional: without it the defaults hold.
	PolicyFile = "VITRINE_POLICY"
	// SellsPlans is "on" in a deployment with billing, for the hosts that do not hold the settings of Stripe. It decides
	// which limits are the defaults. Optional.
	SellsPlans = "VITRINE_BILLING"

	// PutMode is where clients upload files: edge (the upload host, default) or direct (S3's own
	// host). Optional.
	PutMode = "VITRINE_PUT_MODE"
	// Pow is when a proof of work is required: adaptive (default), always or off. Optional.
	Pow = "VITRINE_POW"
	// HSTS is the scope of Strict-Transport-Security: host (default, the host's own name), subdomains, or preload, which
	// covers subdomains and lets browsers preload it. Optional.
	HSTS = "VITRINE_HSTS"
	// Limits is "off" to lift the rate limits, which is refused in production. Optional.
	Limits = "VITRINE_LIMITS"
	// Bundles is the interval in seconds at which the function that makes bundles runs, or "off" in a deployment without
	// bundles. Optional, default 60.
	Bundles = "VITRINE_BUNDLES"
	// Cache is how many bytes of files and lists of files content, api and app keep in memory; 0: none. Optional, default
	// 67108864.
	Cache = "VITRINE_CACHE"
	// ResponseMode is "stream" where the gateway streams a function's answers; empty or "buffered" otherwise. Optional.
	ResponseMode = "VITRINE_RESPONSE_MODE"

	// The region and the credentials of a function; Lambda sets them.
	Region          = "AWS_REGION"
	AccessKeyID     = "AWS_ACCESS_KEY_ID"
	SecretAccessKey = "AWS_SECRET_ACCESS_KEY"
	SessionToken    = "AWS_SESSION_TOKEN" // optional
	TaskRoot        = "LAMBDA_TASK_ROOT"  // the folder into which Lambda unpacks the zip file of the function

	// DynamoDBEndpoint and S3Endpoint are the endpoints of engines other than AWS. Optional.
	DynamoDBEndpoint = "AWS_ENDPOINT_URL_DYNAMODB"
	S3Endpoint       = "AWS_ENDPOINT_URL_S3"
	// S3Domain is the host and port at which such an S3 answers for {bucket}.{domain}. Required with S3Endpoint.
	S3Domain = "VITRINE_S3_DOMAIN"
)

// OnOff returns the value of a setting that is "on" or "off".
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
