// What the types promise, for `tsc --noEmit`: never run.
import type { Table } from 'apache-arrow';
import {
  createVectorIndex,
  join,
  open,
  writeDataset,
  type IndexReport,
  type ResultHandle,
  type Row,
  type WriteReport,
} from '../src/index';

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

export async function typesOfChanges(): Promise<void> {
  const dataset = await writeDataset([{ id: 1 }], 'd.lance', {
    mode: 'append',
    maxBytesPerFile: '1GiB',
  });
  const { version }: WriteReport = await dataset.compact({ deletedShareMax: 0.2 });
  const report: IndexReport = await createVectorIndex(dataset, {
    type: 'IVF_PQ',
    numSubVectors: 8,
  });
  const signal = AbortSignal.timeout(1000);
  const rows: number = await dataset.append('more.parquet', {
    signal,
    callback: ({ doneRows }) => console.log(doneRows, version, report.name),
  });
  void rows;
  // @ts-expect-error: not a mode
  await writeDataset('q.parquet', 'd.lance', { mode: 'upsert' });
  // @ts-expect-error: not a type
  await createVectorIndex('d.lance', { type: 'HNSW' });
}
