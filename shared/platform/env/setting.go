// Package env names the hosts and their environment variables; what deploys them and what reads them use the same names.
package env

// The settings of a host. All are required unless they say otherwise.
const (
	Environment = "VITRINE_ENVIRONMENT" // production or preview
	APIURL      = "VITRINE_API_URL"     // origins, without trailing slash
	UploadURL   = "VITRINE_UPLOAD_URL"
	ContentURL  = "VITRINE_CONTENT_URL"
	AppURL      = "VITRINE_APP_URL"
	MCPURL      = "VITRINE_MCP_URL" // optional: without it, or with the api's, nothing names an MCP host
	CoreTable   = "VITRINE_TABLE_CORE"
	EventsTable = "VITRINE_TABLE_EVENTS"
	HotTable    = "VITRINE_TABLE_HOT"
	Bucket      = "VITRINE_BUCKET"

	// Rings are where the key rings are, one each; a host names those that it needs. A value is the ARN of a secret in
	// Secrets Manager, or "file:" and a path to the set that scripts/dev makes.
	ContentRing = "VITRINE_RING_CONTENT"
	LinksRing   = "VITRINE_RING_LINKS"
	PepperRing  = "VITRINE_RING_PEPPER"
	SealRing    = "VITRINE_RING_SEAL"
	// AssertionRing signs the assertions of agent registrations. Optional: without it agents cannot register.
	AssertionRing = "VITRINE_RING_ASSERTION"
	// RingsVersion changes when a ring changes, so that a deployment starts every function anew. Nobody reads it. Optional.
	RingsVersion = "VITRINE_RINGS_VERSION"

	// OIDCIssuer is the identity provider of people, an OpenID Connect issuer. Optional: without it nobody can sign in.
	OIDCIssuer = "VITRINE_OIDC_ISSUER"
	// OIDCClientID is this service's client there. Required with OIDCIssuer.
	OIDCClientID = "VITRINE_OIDC_CLIENT_ID"
	// OIDCClientSecret is where the client's secret is: the ARN of a secret in Secrets Manager, or "file:" and a path.
	// Empty: a public client.
	OIDCClientSecret = "VITRINE_OIDC_CLIENT_SECRET"
	// OIDCScopes are the scopes that are asked for, separated by spaces. Optional, default "openid email profile".
	OIDCScopes = "VITRINE_OIDC_SCOPES"
	// OIDCLogout is how the provider signs people out: cognito, rp_initiated or none (default). Optional.
	OIDCLogout = "VITRINE_OIDC_LOGOUT"
	// OIDCOperatorClaim is the claim of ID tokens that names the operators of the deployment, OIDCOperatorValue what it says
	// of them. Optional, default "cognito:groups" and "operators".
	OIDCOperatorClaim = "VITRINE_OIDC_OPERATOR_CLAIM"
	OIDCOperatorValue = "VITRINE_OIDC_OPERATOR_VALUE"

	// PutMode is where clients send files: edge (the upload host, default) or direct (S3's own host). Optional.
	PutMode = "VITRINE_PUT_MODE"
	// Pow is when proof of work is asked: adaptive (default), always or off. Optional.
	Pow = "VITRINE_POW"
	// HSTS is for which names each host tells browsers to use HTTPS only: host (default, its own), subdomains, or preload,
	// which means those too and lets browsers be built with the rule. Optional.
	HSTS = "VITRINE_HSTS"
	// Limits is "off" to lift the rate limits, refused in production. Optional.
	Limits = "VITRINE_LIMITS"
	// ResponseMode is "stream" where the gateway streams a function's answers; empty or "buffered" otherwise. Optional.
	ResponseMode = "VITRINE_RESPONSE_MODE"

	// Where a function runs and as whom; Lambda sets them.
	Region          = "AWS_REGION"
	AccessKeyID     = "AWS_ACCESS_KEY_ID"
	SecretAccessKey = "AWS_SECRET_ACCESS_KEY"
	SessionToken    = "AWS_SESSION_TOKEN" // optional

	// DynamoDBEndpoint and S3Endpoint are engines that are not AWS. Optional.
	DynamoDBEndpoint = "AWS_ENDPOINT_URL_DYNAMODB"
	S3Endpoint       = "AWS_ENDPOINT_URL_S3"
	// S3Domain is the host and port under which such an S3 answers for {bucket}.{domain}. Required with S3Endpoint.
	S3Domain = "VITRINE_S3_DOMAIN"
)
