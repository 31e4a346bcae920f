package io.kinjo;

import java.lang.ref.Cleaner;

/** A flag that stops one search at its next block. {@link #raise} may be called by any thread. */
public final class Cancel {
  private static final Cleaner CLEANER = Cleaner.create();

  private final long handle = Native.cancelMake();

  public Cancel() {
    long owned = handle;
    CLEANER.register(this, () -> Native.cancelFree(owned));
  }

  /** The search that was given this flag then fails with code "cancelled". For good. */
  public void raise() {
    Native.cancelRaise(handle);
  }

  long handle() {
    return handle;
  }
}
