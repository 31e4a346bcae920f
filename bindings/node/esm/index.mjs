// The same package for `import`: one copy of it, whichever way it is loaded.
import * as arrow from 'apache-arrow';
import kinjo from '../dist/index.js';

kinjo.internal.useArrow(arrow);

export const {
  Dataset,
  KinjoError,
  Query,
  ResultHandle,
  Session,
  createVectorIndex,
  describeRuntime,
  join,
  open,
  setStorageOptions,
  writeDataset,
} = kinjo;
export default kinjo;
