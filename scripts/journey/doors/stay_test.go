package doors

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/journey/harness"
)

// TestAMemberWhoIsTakenOutFindsEverythingAgain takes a member from the list and puts the member back.
func TestAMemberWhoIsTakenOutFindsEverythingAgain(t *testing.T) {
	d := newDeployment(t)
	c := d.join(t, "bob@corp.example", false)
	page := harness.PublishPage(t, d.WithBearer(c.key), "kept")
	device := d.StartDevice(t, "vitrine on test")
	approved := d.browser(c).Post(t, "/device/approve", url.Values{"code": {device.UserCode}})
	harness.WantPage(t, "the device", approved, http.StatusOK, "The device is in")
	waiting := map[string]url.Values{
		"a device": harness.DeviceGrant("cli", device.DeviceCode),
		"an app":   d.code(t, d.browser(c)),
		"an agent": d.claimedAgent(t, d.browser(c)),
	}
	leaving, _ := d.signIn(t, c)
	cookies := leaving.Cookies

	d.restart(t, signIn{domains: []string{"other.example"}})
	d.knock(t, c, false, nobody())
	for name, grant := range waiting {
		if got := d.OAuthError(t, grant); got != "invalid_grant" {
			t.Errorf("%s that was approved before: %s", name, got)
		}
	}
	if a := d.Get(t, page.RevisionContentURL); a.Status != http.StatusOK {
		t.Errorf("what was published answers %d", a.Status)
	}
	leaving = d.browser(&caller{cookies: cookies})
	if a := leaving.Post(t, "/api/auth/sign-out", nil); a.Header.Get("Location") != "/signed-out" {
		t.Errorf("signing out answers %d %s", a.Status, a.Body)
	}
	if leaving.Cookies[harness.SessionCookie] != "" {
		t.Error("a refused person stays signed in")
	}

	d.restart(t, signIn{addresses: []string{"BOB@corp.example"}})
	d.knock(t, c, true, nil)
	for _, grant := range waiting {
		d.Token(t, grant)
	}
	shown := d.browser(c).Get(t, "/artifacts/"+string(page.ArtifactID))
	harness.WantPage(t, "the artifact", shown, http.StatusOK, "kept")
}

// TestTheLastSignInOfAnOperatorCounts signs an operator in whom the identity provider does not list any more.
func TestTheLastSignInOfAnOperatorCounts(t *testing.T) {
	d := newDeployment(t)
	c := d.join(t, "hedy@ops.example", true)
	d.restart(t, signIn{word: "operators"})
	d.knock(t, c, true, nil)
	c.operator = false
	_, a := d.signIn(t, c)
	pages(http.StatusForbidden)(t, a)
	d.knock(t, c, false, nobody())
	c.operator = true
	if _, a := d.signIn(t, c); a.Status != http.StatusSeeOther {
		t.Errorf("signing in as an operator again answers %d %s", a.Status, a.Body)
	}
	d.knock(t, c, true, nil)
}

// TestAWorkspaceOfAnOlderVersionWaitsForASignIn removes what an older version of the service did not write.
func TestAWorkspaceOfAnOlderVersionWaitsForASignIn(t *testing.T) {
	d := newDeployment(t)
	c := d.join(t, "bob@corp.example", false)
	d.restart(t, signIn{domains: []string{"corp.example"}})
	where := harness.TokenOf(t, d.WithBearer(c.key)).Workspace
	_, err := d.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &d.Tables.Core,
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "W#" + string(where)},
			"sk": &types.AttributeValueMemberS{Value: "SIGNIN"},
		},
	})
	harness.NoError(t, err)
	for _, path := range []string{"/v1/whoami", "/v1/artifacts"} {
		if got := d.StatusFor(t, c.key, path); got != http.StatusUnauthorized {
			t.Errorf("before a sign-in %s answers %d", path, got)
		}
	}
	pages(http.StatusUnauthorized)(t, d.browser(c).Get(t, "/dashboard"))
	d.signIn(t, c)
	d.knock(t, c, true, nil)
}
