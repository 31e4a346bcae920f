// Progress as it is told to a callback: looked at a few times a second, for work goes on elsewhere.
import type { Progress } from './native';

const INTERVAL_MS = 100;

/**
 * The outcome of `done`, with what `read` gives told to the callback meanwhile (if asked) and at
 * the end. What the callback throws is the outcome.
 */
export function telling<T>(
  done: Promise<T>,
  read: () => Progress | null,
  callback: (progress: Progress) => unknown,
  meanwhile: boolean,
): Promise<T> {
  let told: Progress | undefined;
  const tell = () => {
    const now = read();
    if (now === null || now.elapsedSeconds === told?.elapsedSeconds) return;
    told = now;
    callback(now);
  };
  return new Promise<T>((resolve, reject) => {
    const settle = (outcome: () => void) => {
      clearInterval(timer);
      outcome();
    };
    const attempt = () => {
      try {
        tell();
        return true;
      } catch (thrown) {
        settle(() => reject(thrown as Error));
        return false;
      }
    };
    const timer = meanwhile ? setInterval(attempt, INTERVAL_MS) : undefined;
    done.then(
      (value) => settle(() => attempt() && resolve(value)),
      (thrown: unknown) => settle(() => reject(thrown as Error)),
    );
  });
}
