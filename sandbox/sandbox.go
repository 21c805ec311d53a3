// Package sandbox serves the providers' real dialects with generated data, so that everything that talks to a provider
// can be run, shown and broken on one machine. What belongs here: the server, its configuration and its administration.
// A dialect is a package of its own; data makes the records, oauth and chaos are shared by the dialects, control is the
// client of the administration.
//
// Each provider is mounted under its code: crm_a (Salesforce) under /crm_a, so that its token endpoint is
// /crm_a/services/oauth2/token and its instance_url http://host/crm_a.
//
// The administration, for loopback callers only (JSON in and out):
//
//	GET    /_sandbox/status                                     every provider: counts, API use, grants, failures
//	PUT    /_sandbox/roster                                     {"entries": [...]}: rename the institutions
//	GET    /_sandbox/{provider}/records/{object}                ids of the live records
//	POST   /_sandbox/{provider}/records/{object}                create; any field may be set
//	GET    /_sandbox/{provider}/records/{object}/{id}           one record with all its fields
//	PATCH  /_sandbox/{provider}/records/{object}/{id}           update
//	DELETE /_sandbox/{provider}/records/{object}/{id}?hard=true delete; hard: without the recycle bin
//	POST   /_sandbox/{provider}/records/{object}/{id}/undelete
//	POST   /_sandbox/{provider}/records/{object}/{id}/merge     {"losers": [ids]}
//	POST   /_sandbox/{provider}/burst                           {"count": n, "seed": n}: random changes
//	POST   /_sandbox/{provider}/failures                        a control.Failure
//	GET    /_sandbox/{provider}/failures
//	DELETE /_sandbox/{provider}/failures[/{id}]
//	POST   /_sandbox/{provider}/sessions/expire                 every access token ends
//	POST   /_sandbox/{provider}/grants/revoke                   every grant ends
package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"revarch/sandbox/data"
	"revarch/sandbox/journal"
	"revarch/sandbox/oauth"
	"revarch/sandbox/salesforce"
)

// Server is the sandbox with all its providers.
type Server struct {
	cfg     Config
	journal *journal.Journal
	crmA    *salesforce.Server
	handler http.Handler
}

// head says what data the journal's changes are changes of.
type head struct {
	Seed          uint64             `json:"seed"`
	Accounts      int                `json:"accounts"`
	Contacts      float64            `json:"contacts"`
	Opportunities float64            `json:"opportunities"`
	Tasks         float64            `json:"tasks"`
	Anchor        time.Time          `json:"anchor"`
	Roster        []data.RosterEntry `json:"roster"`
}

const headKey = "head"

// New checks cfg, generates the data and replays what the state directory holds.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	j, entries, err := journal.Open(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, journal: j}
	if err := s.open(entries); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the sandbox: %w", err), j.Close())
	}
	return s, nil
}

func (s *Server) open(entries []journal.Entry) error {
	h, err := s.head(entries)
	if err != nil {
		return err
	}
	gen, err := data.New(data.Config{
		Seed: h.Seed, Accounts: h.Accounts, ContactsPerAccount: h.Contacts,
		OpportunitiesPerAccount: h.Opportunities, TasksPerAccount: h.Tasks, Anchor: h.Anchor, Roster: h.Roster,
	})
	if err != nil {
		return err
	}
	clients, public := s.cfg.Clients, ""
	if len(clients) == 0 {
		clients = []oauth.Client{DefaultClient(salesforce.Provider)}
	}
	if s.cfg.PublicURL != "" {
		public = s.cfg.PublicURL + "/" + salesforce.Provider
	}
	s.crmA, err = salesforce.New(salesforce.Config{
		Generator: gen, Clients: clients, AutoConsent: s.cfg.AutoConsent,
		AccessTTL: s.cfg.AccessTTL, RefreshTime: s.cfg.RefreshTime, DailyLimit: s.cfg.DailyLimit, PublicURL: public,
		Clock: s.cfg.Clock, Journal: s.journal, Entries: entries,
	})
	if err != nil {
		return err
	}
	if len(s.cfg.Roster) > 0 && !slices.Equal(s.cfg.Roster, s.crmA.Roster()) {
		if _, err := s.crmA.SetRoster(s.cfg.Roster); err != nil { // the official files came after the first start
			return err
		}
	}
	s.handler = s.routes()
	return nil
}

// head returns what the journal was begun with, or begins it.
func (s *Server) head(entries []journal.Entry) (head, error) {
	c := s.cfg
	want := head{
		Seed: c.Seed, Accounts: c.Accounts, Contacts: c.ContactsPerAccount, Opportunities: c.OpportunitiesPerAccount,
		Tasks: c.TasksPerAccount, Anchor: c.Anchor, Roster: c.Roster,
	}
	i := slices.IndexFunc(entries, func(e journal.Entry) bool { return e.Key == headKey })
	if i < 0 {
		if want.Anchor.IsZero() {
			want.Anchor = c.Clock()
		}
		want.Anchor = want.Anchor.UTC().Truncate(24 * time.Hour)
		return want, s.journal.Put(headKey, want)
	}
	var had head
	if err := json.Unmarshal(entries[i].Value, &had); err != nil {
		return had, fmt.Errorf("the journal's head: %w", err)
	}
	same := had.Seed == want.Seed && had.Accounts == want.Accounts && had.Contacts == want.Contacts &&
		had.Opportunities == want.Opportunities && had.Tasks == want.Tasks &&
		(want.Anchor.IsZero() || had.Anchor.Equal(want.Anchor.UTC().Truncate(24*time.Hour)))
	if !same {
		return had, fmt.Errorf("%s holds the changes of other data (seed %d, %d accounts, anchor %s): give the same values or another state directory",
			c.StateDir, had.Seed, had.Accounts, had.Anchor.Format(time.DateOnly))
	}
	return had, nil
}

// Handler serves everything.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends the journal; the handler must not be used any more.
func (s *Server) Close() error { return s.journal.Close() }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // the client has gone away
	})
	mux.Handle("/"+salesforce.Provider+"/", http.StripPrefix("/"+salesforce.Provider, s.crmA.Handler()))
	mux.Handle("/_sandbox/", s.admin())
	return http.NewCrossOriginProtection().Handler(mux)
}

// Run serves on addr until ctx ends, then lets requests in flight finish for five seconds.
func (s *Server) Run(ctx context.Context, addr string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return s.Serve(ctx, l)
}

// Serve is Run on an open listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Serve(l) }()
	select {
	case err := <-stopped:
		return errors.Join(fmt.Errorf("sandbox: %w", err), s.Close())
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		_ = srv.Close() // a hanging answer is no reason to fail
	}
	return s.Close()
}
