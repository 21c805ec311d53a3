import { Button, CloseButton, Drawer, Switch } from '@mantine/core';
import { useHotkeys, useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, type ReactNode } from 'react';
import { Link } from 'react-router';
import { api } from '../../api/client';
import { paths, type AffinityPage, type Scope } from '../../api/expansion';
import { Empty, Loading, Panel, Problem } from '../../components/basics';
import { AffinityTable } from '../../components/expansion/AffinityTable';
import { CellPanel } from '../../components/expansion/CellPanel';
import { ComputedAt, ExpansionPage, RunLine, StartButton } from '../../components/expansion/ExpansionPage';
import { HeatKey, HeatMap } from '../../components/expansion/HeatMap';
import { Choice } from '../../components/expansion/Choice';
import { affinityReason, buildGrid, measures, type Grid, type Measure } from '../../lib/expansionAffinity';
import type { At } from '../../lib/expansionGrid';
import { expansionKey, useLatestRun, useStartRun } from '../../lib/expansionRuns';
import { plural } from '../../lib/format';
import { segments } from '../../lib/states';
import { useUrlState } from '../../lib/url';

const scopes = [{ value: 'all', label: 'All' }, ...segments.map((s) => ({ value: s, label: s }))];

export default function Affinity() {
  const { get, set } = useUrlState();
  const segment = (scopes.find((s) => s.value === get('segment'))?.value ?? 'all') as Scope;
  const measure: Measure = measures.find((m) => m.value === get('measure'))?.value ?? 'lift';
  const only = get('significant') === 'true';
  const asTable = get('view') === 'table';
  const query = useQuery({
    queryKey: [...expansionKey, 'affinity', segment],
    queryFn: ({ signal }) => api.get<AffinityPage>(paths.affinity, { segment }, signal),
    staleTime: 60_000,
  });
  const grid = useMemo(() => buildGrid(query.data?.matrix ?? []), [query.data]);
  const run = useLatestRun('recompute_affinity');
  const start = useStartRun('recompute_affinity', paths.affinity, { started: 'The matrix is being computed anew.', already: 'The matrix is already being computed.', failed: 'The computation did not start' });
  const startButton = (variant?: string) => <StartButton label={query.data?.computed_at ? 'Recompute' : 'Compute affinity'} run={run} start={() => start.mutate()} pending={start.isPending} variant={variant} />;
  const selected = positionOf(grid, get('cell'));
  const select = (at: At) => set({ cell: `${grid.products[at.row]?.id}~${grid.products[at.column]?.id}` }, { push: !selected });
  const switches = (
    <>
      <Choice label="Segment" choices={scopes} value={segment} onChange={(v) => set({ segment: v === 'all' ? null : v })} />
      {!asTable && <Choice label="Measure" choices={measures} value={measure} onChange={(v) => set({ measure: v === 'lift' ? null : v })} />}
      <Switch label="Only significant" checked={only} onChange={(e) => set({ significant: e.currentTarget.checked ? 'true' : null })} />
      {!asTable && <span className="grow" />}
      <Button variant="default" onClick={() => set({ view: asTable ? null : 'table' })}>{asTable ? 'Show as heat map' : 'Show as table'}</Button>
    </>
  );
  return (
    <ExpansionPage
      title="Affinity"
      about={<>Which products are owned together. {query.data && <ComputedAt at={query.data.computed_at} run={run} never="Not computed yet." />}</>}
      actions={startButton('default')}
    >
      <RunLine run={run} />
      <div className="with-beside" data-open={selected ? true : undefined}>
      {asTable ? (
        <AffinityTable segment={segment} onlySignificant={only} filters={switches} empty={<Why reason={query.data?.reason} action={startButton()} />} onOpen={(e) => set({ cell: `${e.product_a.id}~${e.product_b.id}` }, { push: true })} />
      ) : (
        <Panel flush>
          <div className="toolbar" role="group" aria-label="What the map shows">{switches}</div>
          {query.isPending ? <div className="body"><Loading lines={10} label="Loading the matrix" /></div>
            : query.isError ? <div className="body"><Problem what="The matrix could not be loaded" error={query.error} retry={() => void query.refetch()} /></div>
              : grid.products.length === 0 ? <Why reason={query.data.reason} action={startButton()} />
                : (
                  <>
                    <p className="heat-about">{measures.find((m) => m.value === measure)?.about} {plural(grid.products.length, 'product')}, {plural(grid.accounts, 'owning account')}.</p>
                    <HeatMap grid={grid} measure={measure} onlySignificant={only} selected={selected} onSelect={select} />
                    <HeatKey measure={measure} />
                  </>
                )}
        </Panel>
      )}
      {selected && <Beside title={`${grid.products[selected.row]?.name} and ${grid.products[selected.column]?.name}`} close={() => set({ cell: null })}><Pair grid={grid} at={selected} segment={segment} /></Beside>}
      </div>
    </ExpansionPage>
  );
}

/** The cell that a link names, where its products are in the matrix. */
function positionOf(grid: Grid, cell: string): At | null {
  const [a, b] = cell.split('~');
  const row = grid.products.findIndex((p) => p.id === a);
  const column = grid.products.findIndex((p) => p.id === b);
  return row < 0 || column < 0 ? null : { row, column };
}

function Pair({ grid, at, segment }: { grid: Grid; at: At; segment: Scope }) {
  const a = grid.products[at.row];
  const b = grid.products[at.column];
  return a && b ? <CellPanel a={a} b={b} segment={segment} forth={grid.cell(at.row, at.column)} back={grid.cell(at.column, at.row)} /> : null;
}

/** Beside the map, which stays usable, so that one cell after the other can be read; from below on a phone. */
function Beside({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  const phone = useMediaQuery('(max-width: 62em)', false, { getInitialValueInEffect: false });
  useHotkeys([['Escape', close]]);
  // Closed from within, it would take the focus along: the cell it was about gets it back.
  useEffect(() => () => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('.heat [tabindex="0"]')?.focus();
  }, []);
  if (phone) return <Drawer opened onClose={close} title={title} position="bottom" size="80%" closeButtonProps={{ 'aria-label': 'Close numbers' }}>{children}</Drawer>;
  return (
    <section className="panel beside" aria-label={title}>
      <div className="head"><h2>{title}</h2><CloseButton aria-label="Close numbers" onClick={close} /></div>
      <div className="body">{children}</div>
    </section>
  );
}

function Why({ reason, action }: { reason: string | null | undefined; action: ReactNode }) {
  switch (reason) {
    case 'not_computed': return <Empty title="Affinity was not computed yet" action={action}>It compares which accounts own which products, in one pass over all of them.</Empty>;
    case 'fewer_than_two_products': return <Empty title="Fewer than two active products" action={<Link to="/settings/imports?resource=products">Import products</Link>}>Products come from the CRM, or from a CSV file.</Empty>;
    case 'no_owning_accounts': return <Empty title="No account owns a product" action={<Link to="/settings/imports?resource=account_products">Import what accounts own</Link>}>What accounts own comes from the CRM, or from a CSV file.</Empty>;
    default: return <Empty title="No pair in this segment">{reason ? `Reason: ${affinityReason(reason)}.` : 'No account of it owns two products.'}</Empty>;
  }
}
