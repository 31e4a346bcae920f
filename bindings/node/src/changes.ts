// A change of a dataset while it goes on: watched by a callback, stopped by a signal or by the end
// of its session. Whatever stops it, it is over when its promise settles, and the dataset is at its
// new version or as it was.
import { aborted, KinjoError, translated } from './errors';
import { native, type NativeWatch, type Progress } from './native';
import { callbackOf, optionsOf, signalOf } from './option_checks';
import { telling } from './progress';

export interface ChangeOptions {
  /** Stops the work when aborted, unless it was committed by then. */
  signal?: AbortSignal;
  /** Told how far the work is. What it throws stops the work, and the promise rejects with it. */
  callback?: (progress: Progress) => unknown;
}

/** @internal A change that is under way. */
export interface Change {
  stop(): void;
  readonly over: Promise<unknown>;
}

/** @internal What a change needs of its session. */
export interface ChangeOwner {
  check(): void;
  begin(change: Change): void;
  end(change: Change): void;
}

/** The options of the work itself, and those of its watching. */
export function parted<O extends ChangeOptions>(
  options: O,
): [Omit<O, keyof ChangeOptions>, ChangeOptions] {
  const { signal, callback, ...others } = optionsOf(options) as O;
  return [others, { signal, callback }];
}

/** The callback, whose first error stops the work and is kept. */
function guarded(callback: (progress: Progress) => unknown, stop: () => void) {
  const thrown: unknown[] = [];
  const tell = (progress: Progress) => {
    if (thrown.length > 0) return;
    try {
      callback(progress);
    } catch (error) {
      thrown.push(error);
      stop();
    }
  };
  return { tell, thrown };
}

/** Runs what `start` starts until it is over. */
export async function watched<T>(
  owner: ChangeOwner,
  watching: ChangeOptions,
  start: (watch: NativeWatch) => Promise<T>,
): Promise<T> {
  owner.check();
  const signal = signalOf(watching.signal);
  const callback = callbackOf(watching.callback);
  if (signal?.aborted) throw aborted(signal);
  const watch = native.makeWatch();
  const stop = () => native.raiseWatch(watch);
  const { tell, thrown } = guarded(callback ?? (() => undefined), stop);
  const done = translated(() => start(watch));
  const change = { stop, over: done.catch(() => undefined) };
  owner.begin(change);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const read = () => native.watchProgress(watch);
    const outcome = await (callback === undefined ? done : telling(done, read, tell, true));
    if (thrown.length > 0) throw thrown[0];
    return outcome;
  } catch (error) {
    if (thrown.length > 0) throw thrown[0];
    if (error instanceof KinjoError && error.code === 'cancelled') {
      if (signal?.aborted) throw aborted(signal);
      owner.check();
    }
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    owner.end(change);
  }
}
