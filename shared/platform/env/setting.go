// Package env names the hosts and their environment variables, for the code that deploys them and
// the code that reads them.
package env

// The settings of a host. All are required unless they say otherwise.
const (
	Environment = "VITRINE_ENVIRONMENT" // production or preview
	APIURL      = "VITRINE_API_URL"     // origins, without trailing slash
	UploadURL   = "VITRINE_UPLOAD_URL"
	ContentURL  = "VITRINE_CONTENT_URL"
	AppURL      = "VITRINE_APP_URL"
	MCPURL      = "VITRINE_MCP_URL" // required by the MCP host alone, because old templates give the others none or the api's
	CoreTable   = "VITRINE_TABLE_CORE"
	EventsTable = "VITRINE_TABLE_EVENTS"
	HotTable    = "VITRINE_TABLE_HOT"
	Bucket      = "VITRINE_BUCKET"

	// The key rings, one variable each; a host has those that it needs. A value is the ARN of a
	// secret in Secrets Manager, or "file:" and the path of the set that scripts/dev makes.
	ContentRing = "VITRINE_RING_CONTENT"
	LinksRing   = "VITRINE_RING_LINKS"
	PepperRing  = "VITRINE_RING_PEPPER"
	SealRing    = "VITRINE_RING_SEAL"
	// AssertionRing signs the assertions of agent registrations. Optional: without it agents cannot register.
	AssertionRing = "VITRINE_RING_ASSERTION"
	// AgentRegistration is "on" on hosts that say that agents can register without holding the ring for it, and
	// "providers" on those that say so of providers too without holding their list. Optional.
	AgentRegistration = "VITRINE_AGENT_REGISTRATION"
	// RingsVersion changes when a ring changes, so that a deployment restarts every function. No
	// code reads it. Optional.
	RingsVersion = "VITRINE_RINGS_VERSION"

	// OIDCIssuer is the OpenID Connect issuer that signs people in. Optional: sign-in is
	// unavailable without it.
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
	// OIDCOperatorClaim is the ID token claim that marks operators of the deployment, and
	// OIDCOperatorValue is the value that it must contain. Optional, default "cognito:groups" and
	// "operators".
	OIDCOperatorClaim = "VITRINE_OIDC_OPERATOR_CLAIM"
	OIDCOperatorValue = "VITRINE_OIDC_OPERATOR_VALUE"

	// Providers locates the list of the identity providers of agents that are trusted: the ARN of a secret in Secrets
	// Manager, or "file:" and a path. Optional: without it, and with a list that is wrong, none is trusted.
	Providers = "VITRINE_PROVIDERS"

	// StripeKey and StripeWebhookSecret locate the API key of the account at Stripe and the secret that signs its
	// webhooks: the ARN of a secret in Secrets Manager, or "file:" and a path. StripePriceMonth and StripePriceYear are
	// the ids of the prices of the larger plan. All are optional: unless the four are set, billing is off.
	StripeKey           = "VITRINE_STRIPE_KEY"
	StripeWebhookSecret = "VITRINE_STRIPE_WEBHOOK_SECRET"
	StripePriceMonth    = "VITRINE_STRIPE_PRICE_MONTH"
	StripePriceYear     = "VITRINE_STRIPE_PRICE_YEAR"
	// StripeURL is the URL of a stand-in for Stripe. For tests on one machine; refused in production. Optional.
	StripeURL = "VITRINE_STRIPE_URL"

	// FetchOrigins are origins, separated by spaces, of which documents of OAuth clients and keys of agents' identity
	// providers are read although they use http, another port than 443 or an address that is not public. For tests on
	// one machine; refused in production. Optional.
	FetchOrigins = "VITRINE_FETCH_ORIGINS"

	// ClientDocuments is "off" where the documents of OAuth clients cannot be fetched, so that the metadata of the
	// authorization server leave them out and programs register instead. Optional, default on.
	ClientDocuments = "VITRINE_CLIENT_DOCUMENTS"

	// PutMode is where clients upload files: edge (the upload host, default) or direct (S3's own
	// host). Optional.
	PutMode = "VITRINE_PUT_MODE"
	// Pow is when a proof of work is required: adaptive (default), always or off. Optional.
	Pow = "VITRINE_POW"
	// HSTS is the scope of Strict-Transport-Security: host (default, the host's own name),
	// subdomains, or preload, which covers subdomains and also allows preloading by browsers.
	// Optional.
	HSTS = "VITRINE_HSTS"
	// Limits is "off" to lift the rate limits, refused in production. Optional.
	Limits = "VITRINE_LIMITS"
	// Bundles is how many seconds pass between two runs of the function that makes bundles, or "off" in a deployment
	// without bundles. Optional, default 60.
	Bundles = "VITRINE_BUNDLES"
	// Cache is how many bytes of files and lists of files content, api and app keep in memory; 0 keeps none. Optional,
	// default 67108864.
	Cache = "VITRINE_CACHE"
	// ResponseMode is "stream" where the gateway streams a function's answers; empty or "buffered" otherwise. Optional.
	ResponseMode = "VITRINE_RESPONSE_MODE"

	// The region and the credentials of a function; Lambda sets them.
	Region          = "AWS_REGION"
	AccessKeyID     = "AWS_ACCESS_KEY_ID"
	SecretAccessKey = "AWS_SECRET_ACCESS_KEY"
	SessionToken    = "AWS_SESSION_TOKEN" // optional
	TaskRoot        = "LAMBDA_TASK_ROOT"  // the folder that the zip file of the function is unpacked into

	// DynamoDBEndpoint and S3Endpoint are the endpoints of engines other than AWS. Optional.
	DynamoDBEndpoint = "AWS_ENDPOINT_URL_DYNAMODB"
	S3Endpoint       = "AWS_ENDPOINT_URL_S3"
	// S3Domain is the host and port under which such an S3 answers for {bucket}.{domain}. Required with S3Endpoint.
	S3Domain = "VITRINE_S3_DOMAIN"
)
