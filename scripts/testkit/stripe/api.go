package stripe

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// repeated is the first answer to an idempotency key.
type repeated struct {
	body   string
	status int
	answer object
}

func (s *Standin) serveAPI() {
	s.serve("POST /v1/customers", s.makeCustomer)
	s.serve("POST /v1/checkout/sessions", s.openSession)
	s.serve("GET /v1/checkout/sessions/{id}", s.readSession)
	s.serve("POST /v1/billing_portal/sessions", s.openPortal)
	s.serve("GET /v1/invoices", s.listInvoices)
	s.serve("GET /v1/subscriptions", s.listSubscriptions)
	s.serve("GET /v1/subscriptions/{id}", s.readSubscription)
	s.serve("DELETE /v1/subscriptions/{id}", s.endSubscription)
	s.mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusNotFound, failure("invalid_request_error", "", "the stand-in has no "+r.Method+" "+r.URL.Path))
	})
}

// serve answers a route of the API: the key, stripe-mock's verdict, and the first answer to an idempotency key come
// before the handler.
func (s *Standin) serve(pattern string, handle func(r *http.Request, form url.Values) (int, object)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		write := func(w http.ResponseWriter, status int, answer object) {
			said := write(w, status, answer)
			s.answers = append(s.answers, Answer{pattern, status, said})
		}
		if r.Header.Get("Authorization") != "Bearer "+Key {
			write(w, http.StatusUnauthorized, failure("invalid_request_error", "", "another API key is expected"))
			return
		}
		if s.broken {
			write(w, http.StatusInternalServerError, failure("api_error", "", "the stand-in is told to fail"))
			return
		}
		if s.mock != nil {
			s.mock.validate(r, raw)
		}
		form := r.URL.Query()
		if r.Method == http.MethodPost {
			form, _ = url.ParseQuery(string(raw))
		}
		key := r.Header.Get("Idempotency-Key")
		if first, known := s.repeated[key]; known && r.Method == http.MethodPost {
			if first.body != string(raw) {
				write(w, http.StatusBadRequest, failure("idempotency_error", "", "the key was used for another request"))
				return
			}
			write(w, first.status, first.answer)
			return
		}
		status, answer := handle(r, form)
		if key != "" && r.Method == http.MethodPost {
			s.repeated[key] = repeated{string(raw), status, answer}
		}
		write(w, status, answer)
	})
}

// write answers and returns what it wrote.
func write(w http.ResponseWriter, status int, answer object) []byte {
	said, _ := json.Marshal(answer) // maps of texts and numbers always marshal
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(said)
	return said
}

func failure(kind, code, message string) object {
	said := object{"type": kind, "message": message}
	if code != "" {
		said["code"] = code
	}
	return object{"error": said}
}

func missing(id string) (int, object) {
	return http.StatusNotFound, failure("invalid_request_error", "resource_missing", "No such object: "+id)
}

func (s *Standin) makeCustomer(_ *http.Request, form url.Values) (int, object) {
	made := newObject("customer", s.name("cus"), s.now, object{
		"metadata": object{"workspace_id": form.Get("metadata[workspace_id]")},
	})
	s.customers = append(s.customers, made["id"].(string))
	return http.StatusOK, made
}

func (s *Standin) openSession(_ *http.Request, form url.Values) (int, object) {
	c := &session{id: s.name("cs_test"), made: s.now, asked: map[string]string{}}
	for name := range form {
		c.asked[name] = form.Get(name)
	}
	if price := c.asked["line_items[0][price]"]; price != Monthly && price != Yearly {
		return missing(price)
	}
	if c.customer = c.asked["customer"]; c.customer != "" && !s.knows(c.customer) {
		return missing(c.customer)
	}
	s.sessions[c.id] = c
	return http.StatusOK, s.sessionObject(c)
}

func (s *Standin) readSession(r *http.Request, _ url.Values) (int, object) {
	c := s.sessions[r.PathValue("id")]
	if c == nil {
		return missing(r.PathValue("id"))
	}
	return http.StatusOK, s.sessionObject(c)
}

func (s *Standin) openPortal(_ *http.Request, form url.Values) (int, object) {
	customer := form.Get("customer")
	if !s.knows(customer) {
		return missing(customer)
	}
	return http.StatusOK, newObject("billing_portal.session", s.name("bps"), s.now, object{
		"customer":   customer,
		"return_url": form.Get("return_url"),
		"url":        s.url + "/portal/" + customer + "?back=" + url.QueryEscape(form.Get("return_url")),
	})
}

func (s *Standin) knows(customer string) bool {
	for _, x := range s.subs {
		if x.customer == customer {
			return true
		}
	}
	return slices.Contains(s.customers, customer)
}

func (s *Standin) listInvoices(r *http.Request, form url.Values) (int, object) {
	var rows []any
	for _, i := range s.invoices {
		if i.customer != form.Get("customer") {
			continue
		}
		rows = append(rows, s.invoiceObject(i))
	}
	return page(r, form, rows)
}

func (s *Standin) listSubscriptions(r *http.Request, form url.Values) (int, object) {
	var found []*subscription
	for _, x := range s.subs {
		ended := x.status == "canceled" || x.status == "incomplete_expired"
		if customer := form.Get("customer"); customer != "" && x.customer != customer || ended && form.Get("status") != "all" {
			continue
		}
		found = append(found, x)
	}
	slices.SortFunc(found, func(x, y *subscription) int { return strings.Compare(y.id, x.id) }) // newest first
	var rows []any
	for _, x := range found {
		if after := form.Get("starting_after"); after == "" || x.id < after {
			rows = append(rows, x.object())
		}
	}
	return page(r, form, rows)
}

// page answers the first rows of a list.
func page(r *http.Request, form url.Values, rows []any) (int, object) {
	limit, err := strconv.Atoi(form.Get("limit"))
	if err != nil {
		limit = 10
	}
	more := len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	return http.StatusOK, list(r.URL.Path, more, rows...)
}

// endSubscription cancels a subscription at once. One that has ended is missing.
func (s *Standin) endSubscription(r *http.Request, form url.Values) (int, object) {
	x := s.subs[r.PathValue("id")]
	if x == nil || x.status == "canceled" {
		return missing(r.PathValue("id"))
	}
	x.status = "canceled"
	s.tell("customer.subscription.deleted", x)
	return s.readSubscription(r, form)
}

func (s *Standin) readSubscription(r *http.Request, _ url.Values) (int, object) {
	x := s.subs[r.PathValue("id")]
	if x == nil {
		return missing(r.PathValue("id"))
	}
	return http.StatusOK, x.object()
}
