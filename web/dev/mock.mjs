// Generated answers in the shapes of the API, for working on the pages without a server. Never part of the product.
const categories = ['adoption', 'relationship', 'engagement', 'support', 'commercial', 'outcomes', 'funding', 'fit'];
const weights = { health: [22, 14, 12, 10, 16, 12, 8, 6], risk: [20, 16, 12, 10, 18, 10, 10, 4] };
const rules = {
  health: [['H-AD1', 'adoption', '< 0.35', 0.28], ['H-AD2', 'adoption', '< -0.20', -0.31], ['H-RE1', 'relationship', '!= active', 'left'], ['H-EN1', 'engagement', '> 45', 12], ['H-SU1', 'support', '>= 1', 0], ['H-SU2', 'support', '< 3.5', 4.2], ['H-CO1', 'commercial', '> 45', 12], ['H-OU1', 'outcomes', '< 0.4', null], ['H-FI1', 'fit', '< 40', 72]],
  risk: [['R-AD1', 'adoption', '< -0.25', -0.31], ['R-AD2', 'adoption', '< 0.25', 0.28], ['R-RE1', 'relationship', '= left', 'left'], ['R-EN1', 'engagement', '> 60', 12], ['R-SU1', 'support', '>= 1', 1], ['R-CO1', 'commercial', '<= 90', 41], ['R-CO4', 'commercial', '> 60', 12], ['R-OU1', 'outcomes', '< 0.6 and age > 90 d', null], ['R-FU1', 'funding', '< -0.02', null]],
};
let seed = 7;
const rnd = () => ((seed = (seed * 16807) % 2147483647) / 2147483647);
const pick = (list) => list[Math.floor(rnd() * list.length)];
const id = (n) => `0199a000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const places = ['Cedar Falls', 'Lakeview', 'Mountain Ridge', 'Harper Valley', 'Northgate', 'Rio Verde', 'Eastbrook', 'Pine Bluff', 'Santa Elena', 'Fort Mason', 'Willow Creek', 'Granite Bay'];
const kinds = ['Independent School District', 'Unified School District', 'Public Schools', 'Community College', 'State University', 'County Schools'];
const accounts = Array.from({ length: 260 }, (_, i) => {
  const scored = rnd() > 0.08;
  return {
    account_id: id(i), name: `${pick(places)} ${pick(kinds)}`, segment: pick(['Enterprise', 'Mid-Market', 'SMB', null]), territory: pick(['West', 'South Central', 'Northeast', null]), state: pick(['TX', 'CA', 'OH', 'NY', 'WA', 'CO']),
    status: pick(['customer', 'customer', 'prospect']), nces_id: rnd() > 0.4 ? String(4800000 + i) : null, unitid: null, domain: `district${i}.example.org`, arr_cents: rnd() > 0.2 ? Math.round(rnd() * 48_000_000) : null,
    health: scored ? Math.round(rnd() * 1000) / 10 : null, risk: scored ? Math.round(rnd() * 1000) / 10 : null, priority: null, health_status: null, reason: scored ? null : 'insufficient_data',
  };
});
function score(model, value) {
  const results = rules[model].map(([rule_id, category, threshold, v], i) => ({
    rule_id, category, value: v, score: v === null ? null : Math.round(rnd() * 100), threshold, triggered: i < 3, weight: 6, contribution: v === null ? 0 : Math.round(rnd() * 140) / 10, missing: v === null, source: v === null ? null : pick(['crm_a Account.Active_Users__c', 'crm_a Task', 'crm_a Contact.Champion__c']),
  }));
  return {
    model, composite_score: value, coverage: value === null ? 0.22 : 0.74, confidence: value === null ? 'low' : 'medium', status: value === null ? 'insufficient_data' : 'ok',
    category_scores: categories.map((category, i) => ({ category, weight: weights[model][i], score: i === 5 || i === 6 ? null : Math.round(rnd() * 100), coverage: i === 5 || i === 6 ? 0 : 0.5 + rnd() / 2 })),
    rule_results: results, rules_evaluated: 16, rules_triggered: results.filter((r) => r.triggered).map((r) => r.rule_id), computation_time_ms: 0.042, model_version: '1.0.0+8f31c2', computed_at: ago(14),
    levers: [{ rule_id: rules[model][0][0], points: model === 'risk' ? -8.4 : 9.1 }, { rule_id: rules[model][2][0], points: model === 'risk' ? -6.2 : 7.7 }],
  };
}
const run = (n, status, extra = {}) => ({
  id: id(9000 + n), kind: pick(['sync', 'sync', 'score_accounts', 'remap_records']), subject: 'crm_a', status, phase: status === 'running' ? 'pulling contacts' : null, progress: { done: status === 'succeeded' ? 4200 : 1730, total: 4200, unit: 'rows' },
  counts: { read: 4200, created: 310, updated: 1204, unchanged: 2680, deleted: 4, failed: 2 }, warnings: [], error: null, started_by: 'ada@example.org', started_at: ago(n * 47 + 3), finished_at: status === 'running' ? null : ago(n * 47), workflow_id: 'sync/0199a000/crm_a', temporal_url: null, ...extra,
});
const runs = [run(0, 'running', { kind: 'sync', warnings: [{ code: 'bad_record', message: 'Contact without a last name was skipped', count: 2 }] }), run(1, 'succeeded'), run(2, 'failed', { error: { code: 'rate_limited', message: 'The provider’s daily request limit is used up. The sync goes on by itself tomorrow.' } }), run(3, 'cancelled'), ...Array.from({ length: 30 }, (_, i) => run(i + 4, 'succeeded'))];
const tasks = Array.from({ length: 42 }, (_, i) => ({ task_id: id(5000 + i), title: pick(['Call the new superintendent', 'Prepare renewal terms', 'Check usage drop', 'Send the board summary']), status: pick(['OPEN', 'OPEN', 'IN_PROGRESS', 'BLOCKED', 'DONE']), assignee: pick(['ada@example.org', null]), priority: pick(['LOW', 'MEDIUM', 'HIGH', 'URGENT']), due_date: ago(pick([-9000, -4000, 3000])).slice(0, 10), overdue: i % 5 === 0, source_type: pick(['manual', 'signal', 'NBA', 'MQL handoff']), source_id: null, account_id: accounts[i].account_id, account_name: accounts[i].name }));
const connectors = [['crm_a', 'Salesforce', 'crm', 'connected'], ['crm_b', 'HubSpot', 'crm', 'disconnected'], ['crm_c', 'Dynamics 365', 'crm', 'disconnected'], ['workspace_a', 'Google Workspace', 'workspace', 'reauthorization_required'], ['workspace_b', 'Microsoft 365', 'workspace', 'error'], ['district_intel', 'District intelligence', 'district_intel', 'disconnected']].map(([provider, display_name, kind, status], i) => ({
  provider, display_name, kind, status, account_label: status === 'disconnected' ? null : 'Sandbox org', last_sync_at: status === 'disconnected' ? null : ago(34), next_sync_at: status === 'connected' ? ago(-26) : null, error: status === 'error' ? { code: 'provider_down', message: 'The provider answers 503 since an hour ago.' } : null, running_run_id: i === 0 ? runs[0].id : null, available: i < 3,
}));
const field = (name, label, type, custom = false) => ({ name, label, type, custom, nullable: true, picklist_values: type === 'picklist' ? ['A', 'B', 'C'] : [] });
const objects = [{ name: 'Account', label: 'Account', custom: false, supported: true, fields: [field('Name', 'Account Name', 'string'), field('Website', 'Website', 'url'), field('Segment__c', 'Segment', 'picklist', true), field('Active_Users__c', 'Active users', 'double', true), field('Licensed_Seats__c', 'Licensed seats', 'double', true), field('BillingState', 'Billing State', 'string')] }, { name: 'Contact', label: 'Contact', custom: false, supported: true, fields: [field('Email', 'Email', 'email'), field('Title', 'Title', 'string')] }, { name: 'Case', label: 'Case', custom: false, supported: false, fields: [field('Subject', 'Subject', 'string')] }];
const mapping = (object, source_field, target_field, source_type = 'string', required = false) => ({ object, source_field, target_field, transform: null, required, source_type });
const target = (object, target_field, label, type, required = false) => ({ object, target_field, label, type, required, description: `${label}, as scores use it` });
let mappings = [mapping('Account', 'Name', 'name', 'string', true), mapping('Account', 'Website', 'domain', 'url'), mapping('Account', 'Active_Users__c', 'active_28d', 'double'), mapping('Contact', 'Email', 'email', 'email')];
let version = 3;
const targets = [target('Account', 'name', 'Name', 'text', true), target('Account', 'domain', 'Domain', 'text'), target('Account', 'segment', 'Segment', 'text'), target('Account', 'seats', 'Licensed seats', 'number'), target('Account', 'active_28d', 'Active users, 28 days', 'number'), target('Account', 'state', 'State', 'text'), target('Contact', 'email', 'E-mail', 'text'), target('Contact', 'title', 'Title', 'text')];
const suggestions = [mapping('Account', 'Licensed_Seats__c', 'seats', 'double'), mapping('Account', 'Segment__c', 'segment', 'picklist'), mapping('Contact', 'Title', 'title')];
let keys = [{ id: id(1), name: 'Assistant of the west team', prefix: 'rk_7f3a9', scopes: ['read', 'write_safe'], created_by: 'ada@example.org', created_at: ago(90000), last_used_at: ago(4), expires_at: null, revoked_at: null }, { id: id(2), name: 'Old notebook', prefix: 'rk_11b0c', scopes: ['read'], created_by: 'ada@example.org', created_at: ago(190000), last_used_at: null, expires_at: ago(-60000), revoked_at: ago(4000) }];
const me = { user: { id: id(70), email: 'ada@example.org', name: 'Ada Moreno' }, organization: { id: id(80), name: 'Demo Organization' }, role: 'admin', organizations: [{ id: id(80), name: 'Demo Organization' }, { id: id(81), name: 'Second Organization' }] };
const members = [{ user_id: id(70), email: 'ada@example.org', name: 'Ada Moreno', role: 'admin', joined_at: ago(400000) }, { user_id: id(71), email: 'sam@example.org', name: 'Sam Okafor', role: 'rep', joined_at: ago(90000) }];
const settings = { id: id(80), name: 'Demo Organization', time_zone: 'America/Chicago', fiscal_year_start_month: 7, reporting_currency: 'USD', derive_segment: true, renewal_grace_days: 30, work_hours: { start: '09:00', end: '17:00', days: ['mon', 'tue', 'wed', 'thu', 'fri'] } };
const entries = Array.from({ length: 24 }, (_, i) => ({ entry_id: id(600 + i), at: ago(i * 63), actor: pick(['ada@example.org', 'Assistant of the west team']), actor_kind: pick(['user', 'api_key']), key_prefix: i % 3 ? null : 'rk_7f3a9', surface: pick(['mcp', 'rest']), tool: pick(['create_task', 'update_task']), subject_type: 'task', subject_id: id(5000 + i), before: i % 2 ? { status: 'OPEN' } : null, after: { status: 'DONE' }, reason: null, request_id: 'req-1', hash: '9f2c'.repeat(16) }));

let signedIn = true;

function accountDetail(row) {
  return {
    account: { ...row, owner_email: 'sam@example.org', renewal_date: '2027-06-30', currency: 'USD', match: row.nces_id ? { kind: 'district', id: row.nces_id, name: row.name.toUpperCase(), method: 'exact_id' } : null, sources: ['crm_a'] },
    scores: { health: score('health', row.health), risk: score('risk', row.risk), priority: null, expansion: null, reason: 'not_available' },
    contacts: [{ contact_id: id(1), name: 'Maria Lopez', title: 'Superintendent', email: 'maria@district.example.org', phone: '555-0100', champion: true, left_at: null, last_activity_at: ago(9000) }, { contact_id: id(2), name: 'Jon Reed', title: 'CTO', email: null, phone: null, champion: true, left_at: ago(90000), last_activity_at: null }],
    opportunities: [{ opportunity_id: id(1), name: 'Renewal 2027', stage: 'Proposal', amount_cents: 12500050, close_date: '2027-05-01', forecast_category: 'commit', is_closed: false, is_won: false, type: 'renewal' }],
    activities: [{ activity_id: id(1), type: 'meeting', subject: 'Quarterly review', at: ago(20000) }, { activity_id: id(2), type: 'email', subject: 'Onboarding plan', at: ago(30000) }],
    tasks: tasks.slice(0, 2),
  };
}

function listAccounts(q) {
  const text = (q.get('query') ?? '').toLowerCase();
  const sort = q.get('sort') ?? 'risk';
  const rows = accounts.filter((a) => (!text || a.name.toLowerCase().includes(text)) && (!q.get('segment') || a.segment === q.get('segment')) && (!q.get('state') || a.state === q.get('state')));
  rows.sort((a, b) => (sort === 'name' ? a.name.localeCompare(b.name) : (b[sort === 'arr' ? 'arr_cents' : sort] ?? -1) - (a[sort === 'arr' ? 'arr_cents' : sort] ?? -1)));
  const from = Number(q.get('cursor') ?? 0);
  const to = from + Number(q.get('limit') ?? 50);
  return { accounts: rows.slice(from, to), total: rows.length, next_cursor: to < rows.length ? String(to) : null, currency: 'USD' };
}

const dashboard = { as_of: ago(2), currency: 'USD', arr_cents: 4_812_340_000, pipeline_cents: 1_240_500_000, nrr: null, nrr_reason: 'Needs a year of history', at_risk_accounts: 37, active_signal_count: null, forecast_health: null, data_readiness: { level: 'degraded', scoring_ready_accounts: 198, total_accounts: 260, blocking_issues: [{ code: 'no_contacts', count: 41, share: 0.158, severity: 'CRITICAL' }, { code: 'missing_segment', count: 22, share: 0.085, severity: 'WARNING' }] } };

/** Answers requests below /api; everything else goes on to next. */
export async function handle(req, res, next) {
  const url = new URL(req.url, 'http://mock');
  if (!url.pathname.startsWith('/api/')) return next();
  const path = url.pathname.slice(4);
  let text = '';
  for await (const chunk of req) text += chunk;
  const body = text ? JSON.parse(text) : {};
  const send = (value, status = 200, headers = {}) => {
    res.writeHead(status, { 'Content-Type': status >= 400 ? 'application/problem+json' : 'application/json', ...headers });
    res.end(JSON.stringify(value));
  };
  const at = (method, pattern) => (req.method === method ? pattern.exec(path) : null);
  let m;
  if (at('POST', /^\/auth\/login$/)) {
    if (body.password === 'slow') return send({ status: 429, code: 'rate_limited', detail: 'Too many attempts' }, 429, { 'Retry-After': '8' });
    if (body.password === 'wrong') return send({ status: 401, code: 'unauthenticated', detail: 'E-mail or password is wrong' }, 401);
    signedIn = true;
    return send(me);
  }
  if (at('POST', /^\/auth\/logout$/)) { signedIn = false; res.writeHead(204); return res.end(); }
  if (at('GET', /^\/auth\/invitations\//)) return send({ organization_name: 'Demo Organization', email: 'lee@example.org', role: 'rep', expires_at: ago(-4000) });
  if (!signedIn) return send({ status: 401, code: 'unauthenticated', detail: 'Sign in first' }, 401);
  if (at('GET', /^\/auth\/me$/)) return send(me);
  if (at('GET', /^\/accounts$/)) return send(listAccounts(url.searchParams));
  if ((m = at('GET', /^\/accounts\/(.+)$/))) { const a = accounts.find((x) => x.account_id === m[1]); return a ? send(accountDetail(a)) : send({ status: 404, code: 'not_found', detail: 'There is no such account' }, 404); }
  if (at('GET', /^\/connectors\/status$/)) return send({ connectors });
  if ((m = at('GET', /^\/connectors\/(\w+)\/discover$/))) return send({ provider: m[1], discovered_at: ago(1), objects });
  if ((m = at('GET', /^\/connectors\/(\w+)\/mappings$/))) return send({ provider: m[1], version, mappings, targets, suggestions }, 200, { ETag: `"${version}"` });
  if ((m = at('PUT', /^\/connectors\/(\w+)\/mappings$/))) {
    const bad = body.mappings.findIndex((x) => x.source_field === 'BillingState');
    if (bad >= 0) return send({ status: 422, code: 'invalid', detail: 'Some mappings are not valid', errors: [{ location: `body.mappings[${bad}].source_field`, message: 'BillingState holds a name; a postal code is needed' }] }, 422);
    mappings = body.mappings; version += 1;
    return send({ provider: m[1], version, mappings, targets, suggestions, run: runs[1] }, 200, { ETag: `"${version}"` });
  }
  if (at('POST', /^\/connectors\/\w+\/sync$/)) return send({ run: runs[0] }, 202);
  if (at('POST', /^\/connectors\//)) return send({});
  if (at('GET', /^\/runs$/)) { const s = url.searchParams.get('status'); return send({ runs: runs.filter((r) => !s || r.status === s), next_cursor: null }); }
  if ((m = at('GET', /^\/runs\/([^/]+)\/events$/))) {
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const r = runs.find((x) => x.id === m[1]);
    const tick = () => {
      if (r.status === 'running') r.progress.done = r.progress.done >= r.progress.total ? 400 : r.progress.done + 37;
      res.write(`event: run\ndata: ${JSON.stringify(r)}\n\n`);
    };
    tick();
    const timer = setInterval(tick, 500);
    return req.socket.on('close', () => clearInterval(timer));
  }
  if ((m = at('GET', /^\/runs\/([^/]+)$/))) { const r = runs.find((x) => x.id === m[1]); return r ? send(r) : send({ status: 404, code: 'not_found', detail: 'There is no such run' }, 404); }
  if ((m = at('POST', /^\/runs\/([^/]+)\/cancel$/))) { const r = runs.find((x) => x.id === m[1]); r.status = 'cancelled'; return send(r, 202); }
  if (at('GET', /^\/settings\/api-keys$/)) return send({ api_keys: keys });
  if (at('POST', /^\/settings\/api-keys$/)) { const k = { ...keys[0], id: id(100 + keys.length), name: body.name, scopes: body.scopes, prefix: 'rk_Zz81q', last_used_at: null, expires_at: body.expires_at ?? null, created_at: ago(0) }; keys = [k, ...keys]; return send({ api_key: k, secret: 'rk_Zz81qExampleSecretThatIsShownOnlyOnce00000' }, 201); }
  if ((m = at('DELETE', /^\/settings\/api-keys\/(.+)$/))) { keys = keys.map((k) => (k.id === m[1] ? { ...k, revoked_at: ago(0) } : k)); res.writeHead(204); return res.end(); }
  if (at('GET', /^\/settings\/members$/)) return send({ members, invitations: [{ id: id(1), email: 'lee@example.org', role: 'rep', expires_at: ago(-9000), created_at: ago(300) }] });
  if (at('POST', /^\/settings\/members\/invitations$/)) return send({ invitation: { id: id(2), email: body.email, role: body.role, expires_at: ago(-9000), created_at: ago(0) }, link: 'http://127.0.0.1/invite/abc' }, 201);
  if (at('GET', /^\/settings\/organization$/)) return send(settings, 200, { ETag: '"1"' });
  if (at('PUT', /^\/settings\/organization$/)) { Object.assign(settings, body); return send(settings, 200, { ETag: '"2"' }); }
  if (at('GET', /^\/tasks$/)) { const s = url.searchParams.get('status'); return send({ tasks: tasks.filter((t) => !s || t.status === s), summary: { open: 21, in_progress: 8, done: 9, overdue: 8 }, next_cursor: null }); }
  if (at('POST', /^\/tasks$/)) { const t = { ...tasks[0], ...body, task_id: id(6000 + tasks.length), status: 'OPEN' }; tasks.unshift(t); return send({ task: t }, 201); }
  if ((m = at('PATCH', /^\/tasks\/(.+)$/))) { const t = tasks.find((x) => x.task_id === m[1]); Object.assign(t, body); return send({ task: t }); }
  if (at('GET', /^\/dashboard$/)) return send(dashboard);
  if (at('GET', /^\/governance-log$/)) return send({ entries, chain_ok: true, next_cursor: null });
  return send({ status: 404, code: 'not_found', detail: `The mock has no ${req.method} ${path}` }, 404);
}
