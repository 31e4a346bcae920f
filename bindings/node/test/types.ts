// What the types promise, for `tsc --noEmit`: never run.
import type { Table } from 'apache-arrow';
import { join, open, type ResultHandle, type Row } from '../src/index';

export async function typesOfChunks(handle: ResultHandle): Promise<void> {
  const rows: Row[] = await handle.fetchChunk({ maxRows: 5 });
  const table: Table = await handle.fetchChunk({ as: 'arrow' });
  const all: Row[] = await handle.fetchAll();
  for await (const row of handle) rows.push(row);
  void table;
  void all;
}

export async function typesOfQueries(): Promise<void> {
  const dataset = await open('items.lance', { version: 'stable' });
  await dataset.search([0.1, 0.2], { k: 5, metric: 'cosine' }).execute();
  join('q.parquet', 'items.lance', { distanceRange: [null, 0.5], excludeSelf: true });
  // @ts-expect-error: not a metric
  join('q.parquet', 'items.lance', { metric: 'nearest' });
}
