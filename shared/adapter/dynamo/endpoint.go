package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyauth "github.com/aws/smithy-go/auth"
	transport "github.com/aws/smithy-go/endpoints"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// settled returns a client that knows where its requests go and how they are signed. The SDK would evaluate its rules
// for each call, with the same result: a client has one region and one endpoint, and tables are called by name and not
// by ARN. The endpoint of a region serves every account, so that none of an account is looked for unless the client
// requires it. Where the rules have no answer, the client stays as it is and each of its calls says why.
func settled(client *dynamodb.Client) *dynamodb.Client {
	o := client.Options()
	if o.AccountIDEndpointMode == aws.AccountIDEndpointModeRequired || o.EndpointResolverV2 == nil {
		return client
	}
	at, err := o.EndpointResolverV2.ResolveEndpoint(context.Background(), dynamodb.EndpointParameters{
		Region:       &o.Region,
		UseDualStack: aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		UseFIPS:      aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
		Endpoint:     o.BaseEndpoint,
	})
	if err != nil {
		return client
	}
	signing := &smithyauth.Option{SchemeID: smithyauth.SchemeIDSigV4}
	smithyhttp.SetSigV4SigningName(&signing.SignerProperties, "dynamodb")
	smithyhttp.SetSigV4SigningRegion(&signing.SignerProperties, o.Region)
	ruled, _ := smithyauth.GetAuthOptions(&at.Properties)
	for _, r := range ruled {
		signing.SignerProperties.SetAll(&r.SignerProperties)
	}
	smithyauth.SetAuthOptions(&at.Properties, nil) // calls would write them into what they share
	return dynamodb.New(o, func(o *dynamodb.Options) {
		o.EndpointResolverV2 = (*place)(&at)
		o.AuthSchemeResolver = scheme{signing}
	})
}

// place is the endpoint of all calls.
type place transport.Endpoint

// ResolveEndpoint implements dynamodb.EndpointResolverV2.
func (p *place) ResolveEndpoint(context.Context, dynamodb.EndpointParameters) (transport.Endpoint, error) {
	return transport.Endpoint(*p), nil
}

// scheme is how all calls are signed.
type scheme []*smithyauth.Option

// ResolveAuthSchemes implements dynamodb.AuthSchemeResolver.
func (s scheme) ResolveAuthSchemes(
	context.Context, *dynamodb.AuthResolverParameters,
) ([]*smithyauth.Option, error) {
	return s, nil
}
