package feedback

import (
	"bytes"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// TestAViewTellsHowMuchIsWrittenToWhoAsks asks for the newest revision and for one.
func TestAViewTellsHowMuchIsWrittenToWhoAsks(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	about := d.write(t, contract.CreateThread{Body: "Which unit?"})
	d.write(t, contract.CreateThread{Body: "Which month?"})
	harness.Answer(t, d.agent, d.ArtifactID, about.ID, contract.AnswerThread{
		Addressed: &contract.Addressed{RevisionID: d.RevisionID},
	})
	artifact := "/v1/artifacts/" + string(d.ArtifactID)
	for _, path := range []string{artifact + "/agent-view", artifact + "/revisions/" + string(d.RevisionID) + "/agent-view"} {
		v := harness.Call[contract.AgentView](t, d.agent, 200, "GET", path+"?feedback=1", nil)
		if v.Feedback == nil || v.Feedback.Open != 1 || v.Feedback.Seq != 3 || v.RevisionID != d.RevisionID {
			t.Fatalf("%s: %+v", path, v)
		}
		list := harness.Do(t, d.agent, "GET", v.Feedback.URL, nil)
		var threads contract.ThreadList
		if harness.Decode(t, list, &threads); len(threads.Threads) != 2 || threads.Seq != v.Feedback.Seq {
			t.Errorf("%s has %d %s", v.Feedback.URL, list.Status, list.Body)
		}
		for _, query := range []string{"", "?feedback=0"} {
			silent := harness.Do(t, d.agent, "GET", d.agent.At.APIURL+path+query, nil)
			if silent.Status != 200 || bytes.Contains(silent.Body, []byte("feedback")) {
				t.Errorf("an answer to who did not ask: %d %s", silent.Status, silent.Body)
			}
		}
	}
	public := harness.Do(t, d.Anyone, "GET", d.AgentViewURL+"?feedback=1", nil)
	if public.Status != 200 || bytes.Contains(public.Body, []byte("feedback")) {
		t.Errorf("the public view: %d %s", public.Status, public.Body)
	}
	foreign := harness.Do(t, d.NewAgent(t), "GET", d.agent.At.APIURL+artifact+"/agent-view?feedback=1", nil)
	harness.WantRefused(t, foreign, 404, fault.NotFound)
	fresh := harness.PublishPage(t, d.agent, "new").ArtifactID
	path := "/v1/artifacts/" + string(fresh) + "/agent-view?feedback=1"
	if v := harness.Call[contract.AgentView](t, d.agent, 200, "GET", path, nil); v.Feedback == nil || v.Feedback.Seq != 0 {
		t.Errorf("before anybody wrote: %+v", v.Feedback)
	}
}
