// Lists the operations of openapi.json, grouped by tag, with parameters, bodies and answers.
(async () => {
  const root = document.getElementById('operations');
  const filter = document.getElementById('filter');
  const el = (tag, text, cls) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (cls) e.className = cls;
    return e;
  };
  const res = await fetch('/openapi.json');
  if (!res.ok) {
    root.textContent = 'The document could not be loaded.';
    return;
  }
  const doc = await res.json();
  const deref = (s) => (s && s.$ref ? doc.components.schemas[s.$ref.split('/').pop()] : s);
  const outline = (schema, depth = 0) => {
    const s = deref(schema);
    if (!s) return 'any';
    if (s.type === 'array') return [outline(s.items, depth)];
    if (s.properties && depth < 5) {
      return Object.fromEntries(Object.entries(s.properties).map(([k, v]) => [k, outline(v, depth + 1)]));
    }
    return [s.type].flat().join(' | ') + (s.format ? ` (${s.format})` : '') + (s.enum ? `: ${s.enum.join(', ')}` : '');
  };
  const groups = new Map();
  for (const [path, methods] of Object.entries(doc.paths)) {
    for (const [method, op] of Object.entries(methods)) {
      const tag = (op.tags || ['Other'])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push({ path, method, op });
    }
  }
  const show = () => {
    root.replaceChildren();
    const want = filter.value.toLowerCase();
    for (const [tag, ops] of [...groups].sort()) {
      const hits = ops.filter(({ path, method, op }) => `${method} ${path} ${op.summary}`.toLowerCase().includes(want));
      if (!hits.length) continue;
      root.append(el('h2', tag));
      for (const { path, method, op } of hits) {
        const d = el('details');
        const s = el('summary');
        s.append(el('code', method.toUpperCase(), 'method'), el('code', path), el('span', op.summary || ''));
        d.append(s, el('p', op.description || ''));
        if (op.parameters) {
          const ul = el('ul');
          for (const p of op.parameters) ul.append(el('li', `${p.name} (${p.in}${p.required ? ', required' : ''}): ${p.description || ''}`));
          d.append(el('h3', 'Parameters'), ul);
        }
        const body = op.requestBody?.content?.['application/json']?.schema;
        if (body) d.append(el('h3', 'Body'), el('pre', JSON.stringify(outline(body), null, 2)));
        for (const [code, r] of Object.entries(op.responses || {})) {
          const schema = Object.values(r.content || {})[0]?.schema;
          d.append(el('h3', `${code} ${r.description || ''}`));
          if (schema && code < '400') d.append(el('pre', JSON.stringify(outline(schema), null, 2)));
        }
        root.append(d);
      }
    }
  };
  filter.addEventListener('input', show);
  show();
})();
