package gateway

import (
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// restEvent is an event of a REST API, payload format 1.0. What was not sent is null.
type restEvent struct {
	Resource                        string              `json:"resource"`
	Path                            string              `json:"path"` // as it was sent
	HTTPMethod                      string              `json:"httpMethod"`
	Headers                         map[string]string   `json:"headers"`
	MultiValueHeaders               http.Header         `json:"multiValueHeaders"`
	QueryStringParameters           map[string]string   `json:"queryStringParameters"`
	MultiValueQueryStringParameters map[string][]string `json:"multiValueQueryStringParameters"`
	PathParameters                  map[string]string   `json:"pathParameters"`
	StageVariables                  map[string]string   `json:"stageVariables"`
	RequestContext                  restContext         `json:"requestContext"`
	Body                            *string             `json:"body"`
	IsBase64Encoded                 bool                `json:"isBase64Encoded"`
}

type restContext struct {
	ResourceID        string       `json:"resourceId"`
	ResourcePath      string       `json:"resourcePath"`
	HTTPMethod        string       `json:"httpMethod"`
	ExtendedRequestID string       `json:"extendedRequestId"`
	RequestTime       string       `json:"requestTime"`
	Path              string       `json:"path"`
	AccountID         string       `json:"accountId"`
	Protocol          string       `json:"protocol"`
	Stage             string       `json:"stage"`
	DomainPrefix      string       `json:"domainPrefix"`
	RequestTimeEpoch  int64        `json:"requestTimeEpoch"`
	RequestID         string       `json:"requestId"`
	Identity          restIdentity `json:"identity"`
	DomainName        string       `json:"domainName"`
	APIID             string       `json:"apiId"`
}

// restIdentity is that of a request without authorizer: everything is null but the source.
type restIdentity struct {
	CognitoIdentityPoolID         *string `json:"cognitoIdentityPoolId"`
	AccountID                     *string `json:"accountId"`
	CognitoIdentityID             *string `json:"cognitoIdentityId"`
	Caller                        *string `json:"caller"`
	SourceIP                      string  `json:"sourceIp"`
	PrincipalOrgID                *string `json:"principalOrgId"`
	AccessKey                     *string `json:"accessKey"`
	CognitoAuthenticationType     *string `json:"cognitoAuthenticationType"`
	CognitoAuthenticationProvider *string `json:"cognitoAuthenticationProvider"`
	UserARN                       *string `json:"userArn"`
	UserAgent                     string  `json:"userAgent"`
	User                          *string `json:"user"`
}

func (x *exchange) restEvent(body []byte, parameters map[string]string) restEvent {
	r, name := x.r, domainName(x.r)
	e := restEvent{
		Resource:          x.route.Key,
		Path:              r.URL.EscapedPath(),
		HTTPMethod:        r.Method,
		MultiValueHeaders: x.headers(len(body)),
		RequestContext: restContext{
			ResourceID:        "local",
			ResourcePath:      x.route.Key,
			HTTPMethod:        r.Method,
			ExtendedRequestID: x.id,
			RequestID:         x.id,
			RequestTime:       x.began.UTC().Format(timeFormat),
			RequestTimeEpoch:  x.began.UnixMilli(),
			Path:              r.URL.EscapedPath(),
			AccountID:         accountID,
			APIID:             x.API.ID,
			Protocol:          r.Proto,
			Stage:             x.API.Stage,
			DomainName:        name,
			DomainPrefix:      prefixOf(name),
			Identity:          restIdentity{SourceIP: sourceIP(r), UserAgent: r.UserAgent()},
		},
	}
	e.Headers = lastOf(e.MultiValueHeaders)
	if query := r.URL.Query(); len(query) > 0 {
		e.QueryStringParameters, e.MultiValueQueryStringParameters = lastOf(query), query
	}
	if len(parameters) > 0 {
		e.PathParameters = parameters
	}
	if len(body) > 0 {
		text := string(body)
		if e.IsBase64Encoded = x.isBinary(r.Header.Get("Content-Type")); e.IsBase64Encoded {
			text = base64.StdEncoding.EncodeToString(body)
		}
		e.Body = &text
	}
	return e
}

// isBinary reports whether the API takes a media type as bytes.
func (x *exchange) isBinary(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return slices.Contains(x.API.BinaryTypes, "*/*") || err == nil && slices.Contains(x.API.BinaryTypes, t)
}

// acceptsBytes reports whether an answer in base64 is decoded: REST APIs check the first media type
// that the client accepts.
func (x *exchange) acceptsBytes() bool {
	first, _, _ := strings.Cut(x.r.Header.Get("Accept"), ",")
	return x.isBinary(first)
}

// lastOf keeps the last value of each name.
func lastOf[M http.Header | url.Values](all M) map[string]string {
	last := map[string]string{}
	for name, values := range all {
		last[name] = values[len(values)-1]
	}
	return last
}
