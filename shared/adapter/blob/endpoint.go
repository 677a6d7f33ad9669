package blob

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyauth "github.com/aws/smithy-go/auth"
	transport "github.com/aws/smithy-go/endpoints"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// ruledSigV4 is the name that the endpoint rules of the SDK have for smithyauth.SchemeIDSigV4.
const ruledSigV4 = "sigv4"

// settle fixes where requests for one bucket go and how they are signed. The SDK would evaluate its endpoint rules
// twice for each call, always with the same result. If the rules fail, or require another signature than SigV4, the
// client stays unchanged and each of its calls returns the error.
func settle(o *s3.Options, bucket string) {
	if o.EndpointResolverV2 == nil {
		return
	}
	at, err := o.EndpointResolverV2.ResolveEndpoint(context.Background(), s3.EndpointParameters{
		Bucket:                         &bucket,
		Region:                         &o.Region,
		UseFIPS:                        aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
		UseDualStack:                   aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		Endpoint:                       o.BaseEndpoint,
		ForcePathStyle:                 aws.Bool(o.UsePathStyle),
		Accelerate:                     aws.Bool(o.UseAccelerate),
		DisableMultiRegionAccessPoints: aws.Bool(o.DisableMultiRegionAccessPoints),
		UseArnRegion:                   aws.Bool(o.UseARNRegion),
		DisableS3ExpressSessionAuth:    o.DisableS3ExpressSessionAuth,
	})
	if err != nil {
		return
	}
	ruled, _ := smithyauth.GetAuthOptions(&at.Properties)
	if len(ruled) == 0 || ruled[0].SchemeID != ruledSigV4 {
		return
	}
	signing := &smithyauth.Option{SchemeID: smithyauth.SchemeIDSigV4}
	smithyhttp.SetSigV4SigningName(&signing.SignerProperties, "s3")
	smithyhttp.SetSigV4SigningRegion(&signing.SignerProperties, o.Region)
	signing.SignerProperties.SetAll(&ruled[0].SignerProperties)
	smithyauth.SetAuthOptions(&at.Properties, nil) // otherwise each call would write them into the shared properties
	o.EndpointResolverV2 = &place{at, bucket}
	o.AuthSchemeResolver = scheme{signing}
}

// place is the endpoint of all calls for one bucket.
type place struct {
	at     transport.Endpoint
	bucket string
}

// ResolveEndpoint implements s3.EndpointResolverV2.
func (p *place) ResolveEndpoint(_ context.Context, asked s3.EndpointParameters) (transport.Endpoint, error) {
	if b := aws.ToString(asked.Bucket); b != p.bucket {
		return transport.Endpoint{}, fmt.Errorf("the client is for the bucket %q, not for %q", p.bucket, b)
	}
	return p.at, nil
}

// scheme answers the SDK's question of how to sign a call, the same for all calls.
type scheme []*smithyauth.Option

// ResolveAuthSchemes implements s3.AuthSchemeResolver.
func (s scheme) ResolveAuthSchemes(context.Context, *s3.AuthResolverParameters) ([]*smithyauth.Option, error) {
	return s, nil
}
