package invariant

import "strings"

// checkBilling checks that each workspace has the plan of its billing account, and that its customer leads to it.
func (s *snapshot) checkBilling(b *breaches) {
	holder := map[string]string{}
	for _, i := range s.core {
		if customer, ok := strings.CutPrefix(i.Text("pk"), "BC#"); ok {
			holder[customer] = i.Text("ws")
		}
	}
	for _, i := range s.core {
		if i.Text("sk") != "BILL" {
			continue
		}
		w := strings.TrimPrefix(i.Text("pk"), "W#")
		plan := "free"
		switch i.Text("status") {
		case "active", "trialing", "past_due":
			plan = "pro"
		}
		if i.Has("override") {
			plan = i.Text("override")
		}
		if meta := s.workspaces[w]; meta == nil || meta.Text("plan") != plan {
			b.add("I6: workspace %s has another plan than %s, which its billing account gives", w, plan)
		}
		if customer := i.Text("customer"); customer != "" && holder[customer] != w {
			b.add("I6: the customer %s of workspace %s leads to %q", customer, w, holder[customer])
		}
	}
}
