// The same package for `import`: one copy of it, whichever way it is loaded.
import kinjo from '../dist/index.js';

export const { Dataset, KinjoError, Query, ResultHandle, Session, describeRuntime, join, open } =
  kinjo;
export default kinjo;
