package invariant

import "strings"

// checkBilling checks that each workspace has the plan of its billing account, and that its customer leads to it.
func (s *snapshot) checkBilling(b *breaches) {
	holder := map[string]string{}
	for _, i := range s.core {
		if customer, ok := strings.CutPrefix(i.text("pk"), "BC#"); ok {
			holder[customer] = i.text("ws")
		}
	}
	for _, i := range s.core {
		if i.text("sk") != "BILL" {
			continue
		}
		w := strings.TrimPrefix(i.text("pk"), "W#")
		plan := "free"
		switch i.text("status") {
		case "active", "trialing", "past_due":
			plan = "pro"
		}
		if i.has("override") {
			plan = i.text("override")
		}
		if meta := s.workspaces[w]; meta == nil || meta.text("plan") != plan {
			b.add("I6: workspace %s has another plan than %s, which its billing account gives", w, plan)
		}
		if customer := i.text("customer"); customer != "" && holder[customer] != w {
			b.add("I6: the customer %s of workspace %s leads to %q", customer, w, holder[customer])
		}
	}
}
