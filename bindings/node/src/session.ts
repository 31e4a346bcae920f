// The session that queries, datasets and handles belong to.
import type { CreateIndexOptions, WriteDatasetOptions } from './change_options';
import type { Change, ChangeOwner } from './changes';
import { Dataset, write, type IndexReport } from './dataset';
import { KinjoError, quiet, toError, translated } from './errors';
import { toTable, type Left, type TablePath } from './left';
import { native, type NativeTable } from './native';
import { integer, optionsOf, text } from './option_checks';
import { toNativeOptions, type JoinOptions } from './options';
import { Query } from './query';
import type { Owner, ResultHandle } from './result_handle';
import { tellStorage, type Located } from './storage';

/** The right side of a join: the path of a Lance dataset or of files, or rows in memory. */
export type Right = string | Dataset | TablePath | Left;

export interface OpenOptions extends Located {
  /** A version's number, its tag, or a time (the newest made by then); the latest unless given. */
  version?: number | string;
}

/** What is made by a session ends with it. */
export class Session implements Owner, ChangeOwner {
  #closed = false;
  readonly #changes = new Set<Change>();
  readonly #handles = new Set<WeakRef<ResultHandle>>();
  readonly #places = new WeakMap<ResultHandle, WeakRef<ResultHandle>>();
  readonly #collected = new FinalizationRegistry<WeakRef<ResultHandle>>((place) =>
    this.#handles.delete(place),
  );

  /**
   * Joins each row of `left` to its nearest rows of `right`: a path, a dataset that is open, or
   * rows in memory. Both may be one, which makes it a self-join.
   */
  join(left: Left, right: Right, options: JoinOptions = {}): Query {
    const makeTable = async () => {
      tellStorage(optionsOf(options).storageOptions, left, right);
      return toTable(left);
    };
    if (typeof right === 'string') {
      return new Query(this, makeTable, async (table) =>
        native.makeJoin(table, text('right', right) as string, 'uri', toNativeOptions(options)),
      );
    }
    if (right instanceof Dataset) {
      const dataset = right.held;
      return new Query(this, makeTable, async (table) =>
        native.makeJoin(table, dataset, 'dataset', toNativeOptions(options)),
      );
    }
    let rows: Promise<NativeTable> | undefined;
    return new Query(this, makeTable, async (table) => {
      if (rows === undefined) rows = quiet(toTable(right, 'right'));
      const held = (right as unknown) === left ? table : await rows;
      return native.makeJoin(table, held, 'table', toNativeOptions(options));
    });
  }

  /** Opens a Lance dataset, the latest version unless one is named by its number or tag. */
  open(uri: string, options: OpenOptions = {}): Promise<Dataset> {
    const opened = async () => {
      this.check();
      const { version, storageOptions } = optionsOf(options, ['version', 'storageOptions']);
      text('uri', uri);
      const tag = typeof version === 'string' ? (text('version', version) as string) : undefined;
      const isNumber = version !== undefined && tag === undefined;
      const number = isNumber ? (integer('version', version) as number) : undefined;
      tellStorage(storageOptions, uri);
      return new Dataset(this, uri, await translated(native.openDataset(uri, number, tag)));
    };
    return quiet(opened());
  }

  /**
   * Writes rows as a Lance dataset, in one commit: all of it is there afterwards, or nothing. Gives
   * the dataset as it is then.
   */
  writeDataset(rows: Left, uri: string, options: WriteDatasetOptions = {}): Promise<Dataset> {
    const written = async () => {
      const { storageOptions, ...others } = optionsOf(options);
      tellStorage(storageOptions, uri);
      const { version } = await write(this, rows, uri, others);
      return this.open(uri, { version });
    };
    return quiet(written());
  }

  /** Builds a vector index over a dataset, which may be open, and commits it. */
  createVectorIndex(
    dataset: string | Dataset,
    options: CreateIndexOptions = {},
  ): Promise<IndexReport> {
    if (dataset instanceof Dataset) return dataset.createVectorIndex(options);
    return quiet(this.open(dataset).then((opened) => opened.createVectorIndex(options)));
  }

  /**
   * Closes the handles that are open, and stops changes that are under way, which then reject. From
   * now on every method rejects with `state`.
   */
  close(): Promise<void> {
    const closing = async () => {
      this.#closed = true;
      const open = [...this.#handles].flatMap((place) => place.deref() ?? []);
      for (const change of this.#changes) change.stop();
      const outcomes = await Promise.allSettled([
        ...open.map((handle) => handle.close()),
        ...[...this.#changes].map((change) => change.over),
      ]);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') throw toError(outcome.reason);
      }
    };
    return quiet(closing());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal */
  check(): void {
    if (this.#closed) throw new KinjoError('state', 'the session was closed');
  }

  /** @internal */
  begin(change: Change): void {
    this.#changes.add(change);
  }

  /** @internal */
  end(change: Change): void {
    this.#changes.delete(change);
  }

  /** @internal */
  remember(handle: ResultHandle): void {
    const place = new WeakRef(handle);
    this.#handles.add(place);
    this.#places.set(handle, place);
    this.#collected.register(handle, place, handle);
  }

  /** @internal */
  forget(handle: ResultHandle): void {
    const place = this.#places.get(handle);
    if (place === undefined) return;
    this.#handles.delete(place);
    this.#collected.unregister(handle);
  }
}
