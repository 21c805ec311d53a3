import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Run, RunFailure, RunFailurePage } from '../api/types';
import { count, words } from '../lib/format';
import { useCursorList } from '../lib/list';
import { Loading, Problem, Tag, When, Wide } from './basics';

/** The records that a run recorded and skipped, with what was wrong with each. */
export default function RunFailures({ run }: { run: Run }) {
  const [wanted, want] = useState(false);
  const failed = run.counts.failed ?? 0;
  return (
    <section aria-labelledby="run-failures" className="stack tight">
      <h2 id="run-failures">Records left out ({count(failed)})</h2>
      <span className="dim">Everything else was stored. Correct these in the source; the next sync reads them again.</span>
      {wanted ? <FailureTable id={run.id} /> : <div><Button variant="default" onClick={() => want(true)}>Show the records</Button></div>}
    </section>
  );
}

function FailureTable({ id }: { id: string }) {
  const list = useCursorList<RunFailurePage, RunFailure>(`run-failures-${id}`, `/api/runs/${encodeURIComponent(id)}/failures`, {}, (page) => page.failures);
  if (list.pending) return <Loading />;
  if (list.error) return <Problem what="The records could not be loaded" error={list.error} retry={list.retry} />;
  if (!list.rows.length) return <span className="dim">These records are no longer kept.</span>;
  return (
    <>
      <Wide label="Records left out">
        <table className="table" aria-label="Records left out">
          <thead><tr><th scope="col">Record</th><th scope="col">Problem</th><th scope="col" className="hide-phone">When</th></tr></thead>
          <tbody>
            {list.rows.map((f) => (
              <tr key={`${f.object} ${f.external_id} ${f.at}`}>
                <td>{f.object} <span className="mono">{f.external_id}</span></td>
                <td><Tag tone="warn">{words(f.code)}</Tag> {f.message}</td>
                <td className="hide-phone"><When at={f.at} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {list.hasMore && <div><Button variant="default" size="compact-sm" loading={list.loadingMore} onClick={list.loadMore}>Load more</Button></div>}
    </>
  );
}
