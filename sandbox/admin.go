package sandbox

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"revarch/sandbox/control"
	"revarch/sandbox/data"
	"revarch/sandbox/salesforce"
)

// maxAdminBody leaves room for a national roster.
const maxAdminBody = 64 << 20

// admin serves /_sandbox to callers on this machine only.
func (s *Server) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sandbox/status", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, []control.ProviderStatus{s.crmA.Status()})
	})
	mux.HandleFunc("PUT /_sandbox/roster", func(w http.ResponseWriter, r *http.Request) {
		var in control.RosterRequest
		if !decode(w, r, &in) {
			return
		}
		if i := slices.IndexFunc(in.Entries, func(e data.RosterEntry) bool { return e.Kind != data.K12 && e.Kind != data.Higher }); i >= 0 {
			refuse(w, http.StatusUnprocessableEntity, fmt.Sprintf("entries[%d]: kind must be %s or %s", i, data.K12, data.Higher))
			return
		}
		n, err := s.crmA.SetRoster(in.Entries)
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		reply(w, http.StatusOK, control.RosterResult{Changed: n})
	})
	prefix := "/_sandbox/" + salesforce.Provider
	s.crmA.Admin(mux, prefix)
	in := s.crmA.Chaos()
	mux.HandleFunc("POST "+prefix+"/failures", func(w http.ResponseWriter, r *http.Request) {
		var f control.Failure
		if !decode(w, r, &f) {
			return
		}
		f, err := in.Add(f)
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		reply(w, http.StatusCreated, f)
	})
	mux.HandleFunc("GET "+prefix+"/failures", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, in.List()) })
	lift := func(w http.ResponseWriter, r *http.Request) {
		if id := r.PathValue("id"); !in.Clear(id) && id != "" {
			refuse(w, http.StatusNotFound, "no such failure")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	mux.HandleFunc("DELETE "+prefix+"/failures", lift)
	mux.HandleFunc("DELETE "+prefix+"/failures/{id}", lift)
	mux.HandleFunc("POST "+prefix+"/sessions/expire", func(w http.ResponseWriter, _ *http.Request) { done(w, s.crmA.OAuth().ExpireSessions()) })
	mux.HandleFunc("POST "+prefix+"/grants/revoke", func(w http.ResponseWriter, _ *http.Request) { done(w, s.crmA.OAuth().RevokeAll()) })
	return local(mux)
}

// local refuses callers of other machines, and browsers that were led here by a foreign name.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _, err := net.SplitHostPort(r.RemoteAddr)
		host, _, hostErr := net.SplitHostPort(r.Host)
		if hostErr != nil {
			host = strings.Trim(r.Host, "[]")
		}
		if err != nil || !net.ParseIP(from).IsLoopback() || host != "localhost" && !net.ParseIP(host).IsLoopback() {
			refuse(w, http.StatusForbidden, "the administration answers on loopback only")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, "the body cannot be read: "+err.Error())
		return false
	}
	return true
}

func done(w http.ResponseWriter, err error) {
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func refuse(w http.ResponseWriter, status int, text string) {
	reply(w, status, map[string]string{"error": text})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone away
}
